//! Samples of several series: which of a series' values goes with which of another's.

use foretell_simd::Key;

use crate::residuals::Residuals;

/// The rank of each sample among those of its series.
///
/// Each series has one sample in each of as many strata of the same probability as there are samples (a Latin hypercube), so that a
/// single series is sampled evenly. The order depends on the seed and on the number of the series alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Draws {
    samples: usize,
    /// `[series, samples]`.
    ranks: Vec<u32>,
}

impl Draws {
    /// Samples of series whose errors are independent of each other.
    ///
    /// # Panics
    /// If there are no samples.
    #[track_caller]
    pub fn independent(series: usize, samples: usize, seed: u64) -> Self {
        Self::ordered(series, samples, seed, |_, _| 0.0)
    }

    /// Samples whose ranks are those of past errors (Clark, Gangopadhyay, Hay, Rajagopalan and Wilby, The Schaake shuffle, 2004): sample
    /// `s` stands for one of the times, and is high where the error was. What are more samples than times are drawn between them.
    ///
    /// # Panics
    /// If there are no samples.
    #[track_caller]
    pub fn like(residuals: &Residuals, samples: usize, seed: u64) -> Self {
        let times = residuals.times();
        let error = |series: usize, sample: usize| residuals.of_series(series)[sample * times / samples];
        Self::ordered(residuals.n_series(), samples, seed, error)
    }

    /// Ranks by `height`, those of the same height in a drawn order.
    fn ordered(series: usize, samples: usize, seed: u64, height: impl Fn(usize, usize) -> f64) -> Self {
        assert!(samples > 0, "samples of series");
        let mut ranks = vec![0; series * samples];
        let mut order: Vec<u32> = (0..samples as u32).collect();
        for (number, ranks) in ranks.chunks_exact_mut(samples).enumerate() {
            let key = Key::new(seed).fold(number as u64);
            let drawn: Vec<u64> = (0..samples as u64).map(|sample| key.bits(sample)).collect();
            order.sort_unstable_by(|&a, &b| {
                let (a, b) = (a as usize, b as usize);
                height(number, a).total_cmp(&height(number, b)).then(drawn[a].cmp(&drawn[b])).then(a.cmp(&b))
            });
            (0..).zip(&order).for_each(|(rank, sample)| ranks[*sample as usize] = rank);
        }
        Self { samples, ranks }
    }

    /// Number of samples of each series.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Number of series.
    pub fn n_series(&self) -> usize {
        self.ranks.len() / self.samples
    }

    /// The ranks of the samples of each series, from 0.
    pub(crate) fn of_each_series(&self) -> impl Iterator<Item = &[u32]> {
        self.ranks.chunks_exact(self.samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn correlation(a: &[u32], b: &[u32]) -> f64 {
        let middle = (a.len() - 1) as f64 / 2.0;
        let centred =
            |ranks: &[u32]| ranks.iter().map(|rank| f64::from(*rank) - middle).collect::<Vec<f64>>();
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (a, b) = (centred(a), centred(b));
        product(&a, &b) / product(&a, &a)
    }

    #[test]
    fn each_series_has_each_rank_once() {
        let draws = Draws::independent(3, 500, 1);
        let all: Vec<&[u32]> = draws.of_each_series().collect();
        for ranks in &all {
            let mut sorted = ranks.to_vec();
            sorted.sort_unstable();
            assert!(sorted.iter().enumerate().all(|(i, rank)| i == *rank as usize));
        }
        // Of 500 independent pairs, within four standard errors.
        assert!(correlation(all[0], all[1]).abs() < 4.0 / 500.0_f64.sqrt());
        assert_eq!((draws.n_series(), draws.samples()), (3, 500));
        assert_ne!(draws, Draws::independent(3, 500, 2));
    }

    #[test]
    fn errors_that_go_together_make_samples_that_do() {
        let errors = [0.5, -1.0, 2.0, 0.1, 1.0, -2.0, 4.0, 0.2, -0.5, 1.0, -2.0, -0.1];
        let draws = Draws::like(&Residuals::new(3, &errors).unwrap(), 400, 1);
        let all: Vec<&[u32]> = draws.of_each_series().collect();
        assert!(correlation(all[0], all[1]) > 0.9);
        assert!(correlation(all[0], all[2]) < -0.9);
        // The third time is that of the highest error.
        assert!(all[0][200..300].iter().all(|rank| *rank >= 300));
    }
}
