//! The columns of a forecast that is a distribution.

use super::special::normal_quantile;

/// A quantile that is asked for: its probability, and that of the standard normal distribution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    pub(super) q: f64,
    pub(super) normal: f64,
}

/// The columns of a forecast: the figures to compute of a distribution.
#[derive(Clone, Debug)]
pub struct DistributionColumns {
    pub(super) mean: bool,
    pub(super) levels: Vec<Level>,
    parameters: usize,
}

impl DistributionColumns {
    pub(super) fn new(mean: bool, quantiles: &[f32], parameters: usize) -> Self {
        let level = |&q: &f32| Level { q: q.into(), normal: normal_quantile(q.into()) };
        Self { mean, levels: quantiles.iter().map(level).collect(), parameters }
    }

    /// The forecast of a single number, and quantiles.
    pub fn of_quantiles(quantiles: &[f32]) -> Self {
        Self::new(true, quantiles, 0)
    }

    /// The mean alone.
    pub fn mean() -> Self {
        Self::new(true, &[], 0)
    }

    /// Writes the columns of a step from its mean and its samples, which are sorted in place.
    ///
    /// # Panics
    /// If there are no samples, or there are columns of parameters.
    #[track_caller]
    pub fn of_samples(&self, mean: f32, samples: &mut [f32], into: &mut [f32]) {
        assert_eq!(self.parameters, 0, "samples have no parameters");
        samples.sort_unstable_by(f32::total_cmp);
        let (first, quantiles) = into.split_at_mut(usize::from(self.mean));
        first.fill(mean);
        quantiles.iter_mut().zip(&self.levels).for_each(|(out, at)| *out = quantile_of_sorted(samples, at.q));
    }

    /// The probabilities of the quantiles.
    pub fn quantiles(&self) -> impl Iterator<Item = f32> + '_ {
        self.levels.iter().map(|level| level.q as f32)
    }

    /// The number of columns.
    pub fn count(&self) -> usize {
        usize::from(self.mean) + self.levels.len() + self.parameters
    }
}

/// A quantile of sorted samples, linear between neighbours as `torch.quantile` has it.
pub(super) fn quantile_of_sorted(samples: &[f32], q: f64) -> f32 {
    let place = q * (samples.len() - 1) as f64;
    let (low, share) = (samples[place as usize], place.fract() as f32);
    low + share * (samples[place.ceil() as usize] - low)
}
