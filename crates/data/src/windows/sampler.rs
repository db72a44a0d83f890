//! Which series each training step draws its windows from.

use foretell_simd::{Key, Stream};

/// Batches of series: all of them, shuffled anew each epoch, `batch_size` at a time.
///
/// The batch of a step is a function of the key and the step alone, so that training can resume
/// anywhere.
#[derive(Clone, Debug)]
pub struct SeriesSampler {
    order: Vec<u32>,
    series: Vec<u32>,
    batch_size: usize,
    batches: u64,
    key: Key,
    epoch: Option<u64>,
}

impl SeriesSampler {
    /// Batches of `batch_size` of these series; see
    /// [`Cutter::series_with_windows`](crate::Cutter::series_with_windows). With `drop_last` an
    /// incomplete last batch of an epoch is left out, unless it is the only one.
    ///
    /// # Panics
    /// If there is no series, or `batch_size` is 0.
    #[track_caller]
    pub fn new(series: Vec<u32>, batch_size: usize, drop_last: bool, key: Key) -> Self {
        assert!(!series.is_empty() && batch_size > 0, "{} series by {batch_size}", series.len());
        let whole = series.len() / batch_size;
        let batches = if drop_last { whole.max(1) } else { series.len().div_ceil(batch_size) };
        Self { order: series.clone(), series, batch_size, batches: batches as u64, key, epoch: None }
    }

    /// The series of a training step, counted from 0 over all epochs.
    pub fn batch(&mut self, step: u64) -> &[u32] {
        let (epoch, batch) = (step / self.batches, (step % self.batches) as usize);
        if self.epoch != Some(epoch) {
            self.epoch = Some(epoch);
            self.order.copy_from_slice(&self.series);
            let mut stream = Stream::new(self.key.fold(epoch));
            for i in (1..self.order.len()).rev() {
                self.order.swap(i, stream.below(i as u64 + 1) as usize);
            }
        }
        let from = batch * self.batch_size;
        &self.order[from..self.order.len().min(from + self.batch_size)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampler(n: u32, batch_size: usize, drop_last: bool) -> SeriesSampler {
        SeriesSampler::new((0..n).collect(), batch_size, drop_last, Key::new(7))
    }

    #[test]
    fn an_epoch_has_every_series_once_in_an_order_of_its_own() {
        let mut sampler = sampler(23, 5, false);
        assert_eq!(sampler.batches, 5);
        let mut epochs = Vec::new();
        for epoch in 0..3 {
            let steps = epoch * 5..epoch * 5 + 5;
            let order: Vec<u32> = steps.flat_map(|step| sampler.batch(step).to_vec()).collect();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..23).collect::<Vec<_>>());
            epochs.push(order);
        }
        assert!(epochs[0] != epochs[1] && epochs[1] != epochs[2]);
        assert_eq!(sampler.batch(4).len(), 3);
        assert_eq!(sampler.batch(6), &epochs[1][5..10], "steps may come in any order");
    }

    #[test]
    fn an_incomplete_batch_is_dropped_on_request() {
        assert_eq!(sampler(23, 5, true).batches, 4);
        let mut few = sampler(3, 5, true);
        assert_eq!(few.batches, 1);
        assert_eq!(few.batch(9).len(), 3);
    }
}
