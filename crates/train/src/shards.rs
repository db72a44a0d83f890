//! One step of training: the batch in shards, their gradients in arenas, one pass of the optimiser.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Mutex;

use foretell_nn::{Forward, Key, Loss, Model, Params};
use foretell_optim::{Adam, AdamConfig};
use foretell_pool::Buffer;

use crate::batch::Batch;
use crate::workers::{Workers, lock};

/// A shard has at least this many windows. With fewer, products of matrices fall off their best rate and
/// the arenas' traffic grows against the work.
const SHARD_WINDOWS: usize = 64;

/// More arenas than this cost more memory traffic than more threads would win back.
const MAX_SHARDS: usize = 8;

/// Parameters times windows from which waking the other threads takes less time than it saves.
const WORTH_SPREADING: usize = 1 << 21;

/// A model in training.
pub struct Engine<'a> {
    model: &'a dyn Model,
    loss: &'a Loss,
    workers: &'a Workers,
    params: Params,
    adam: Adam,
    key: Key,
    step: u64,
    shards: Vec<Mutex<Shard>>,
}

/// What belongs to one shard: its share of the gradient, and of the loss of the last step.
struct Shard {
    /// From the last step it ran; a step replaces them.
    gradients: Buffer<f32>,
    /// The offsets of the parameters that got a gradient.
    written: HashSet<usize>,
    loss: f64,
}

/// A shard whose loss is not a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotANumber {
    /// The shard's place among the shards of the batch.
    pub shard: usize,
    /// The windows of the batch that it held.
    pub windows: Range<usize>,
}

impl<'a> Engine<'a> {
    /// A model with fresh optimiser state. `key` decides dropout.
    pub fn new(model: &'a dyn Model, params: Params, loss: &'a Loss, key: Key, workers: &'a Workers) -> Self {
        let adam = Adam::new(params.table().arena_len(), AdamConfig::default());
        Self { model, loss, workers, params, adam, key, step: 0, shards: Vec::new() }
    }

    /// The parameters as they are now.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The parameters, training done.
    pub fn into_params(self) -> Params {
        self.params
    }

    /// Takes one step on a batch of `windows` windows and returns its loss. `total` is the sum of the
    /// weights of all their steps; `cut` makes the windows of a range and may run on any thread.
    ///
    /// # Errors
    /// If the loss is not a number; everything is then as before the step.
    pub fn step(
        &mut self,
        windows: usize,
        total: f64,
        rate: f64,
        cut: impl Fn(Range<usize>) -> Batch + Sync,
    ) -> Result<f64, NotANumber> {
        let count = shard_count(windows);
        let len = self.params.table().arena_len();
        while self.shards.len() < count {
            self.shards.push(Mutex::new(Shard {
                gradients: Buffer::zeroed(len),
                written: HashSet::new(),
                loss: 0.0,
            }));
        }
        let Self { model, loss, workers, ref params, key, step, .. } = *self;
        let spread = params.table().numel().saturating_mul(windows) >= WORTH_SPREADING;
        workers.each(&self.shards[..count], spread, |i, shard| {
            let batch = cut(shard_range(windows, count, i));
            let cx = Forward::training(params, key.fold(step).fold(i as u64));
            let output = model.forward(&cx, &batch.windows);
            let mean = loss.mean(&output, &batch.target, &batch.weights, total);
            drop(output);
            shard.loss = f64::from(mean.value().item());
            shard.written.clear();
            mean.backward_fresh(&mut shard.gradients, &mut shard.written);
            for entry in params.table().trained() {
                if !shard.written.contains(&entry.offset) {
                    shard.gradients[entry.offset..entry.offset + entry.shape.numel()].fill(0.0);
                }
            }
        });
        let mut sum = 0.0;
        for (i, shard) in self.shards[..count].iter().enumerate() {
            sum += lock(shard).loss;
            if sum.is_nan() {
                return Err(NotANumber { shard: i, windows: shard_range(windows, count, i) });
            }
        }
        let shards: Vec<_> = self.shards[..count].iter().map(lock).collect();
        let gradients: Vec<&[f32]> = shards.iter().map(|shard| &shard.gradients[..]).collect();
        self.adam.step(self.params.arena_mut(), &gradients, rate, self.workers.threads());
        drop(shards);
        self.step += 1;
        Ok(sum)
    }
}

/// How many shards a batch is cut into: a function of the batch alone.
fn shard_count(windows: usize) -> usize {
    (windows / SHARD_WINDOWS).clamp(1, MAX_SHARDS)
}

/// The windows of shard `i` of `count`.
fn shard_range(windows: usize, count: usize, i: usize) -> Range<usize> {
    windows * i / count..windows * (i + 1) / count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_cover_the_batch() {
        for windows in [1, 63, 64, 127, 128, 130, 1000, 5000] {
            let count = shard_count(windows);
            let mut next = 0;
            for i in 0..count {
                let range = shard_range(windows, count, i);
                assert_eq!(range.start, next);
                assert!(range.len() >= SHARD_WINDOWS.min(windows));
                next = range.end;
            }
            assert_eq!(next, windows);
        }
    }
}
