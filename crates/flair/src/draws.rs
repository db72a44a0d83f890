//! Draws for the paths of a series, spread evenly.

use std::f64::consts::{FRAC_PI_2, PI};

use foretell_data::{Key, Stream};
use statrs::distribution::{ContinuousCDF as _, Normal};

/// Draws for a number of paths. Those of a step are as even as can be, and which path has which is by chance: every error of the history
/// comes as often as any other (Latin hypercubes: McKay, Beckman and Conover 1979), so that a few hundred paths give quantiles that
/// thousands of draws would give.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draws {
    key: Key,
    paths: usize,
}

impl Draws {
    /// Draws by this key.
    pub(crate) fn new(key: Key, paths: usize) -> Self {
        Self { key, paths }
    }

    /// How many paths there are.
    pub(crate) fn paths(&self) -> usize {
        self.paths
    }

    /// The places of the paths at a step, each once.
    fn places(&self, step: u64) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.paths).collect();
        let mut stream = Stream::new(self.key.fold(step));
        for i in (1..self.paths).rev() {
            places.swap(i, stream.below(i as u64 + 1) as usize);
        }
        places
    }

    /// The place of each path at a step among `count`.
    fn place_among(&self, step: u64, count: usize) -> impl Iterator<Item = usize> {
        // By halves, so that few paths do not favour the first.
        let (paths, places) = (self.paths, self.places(step));
        places.into_iter().map(move |place| (2 * place + 1) * count / (2 * paths))
    }

    /// A cycle of the history for each path.
    pub(crate) fn cycles(&self, count: usize) -> Vec<usize> {
        // Of 64 bits on every machine: in a browser a `usize` has 32.
        self.place_among(u64::MAX, count).collect()
    }

    /// A value of these for each path.
    pub(crate) fn among(&self, step: usize, values: &[f64]) -> Vec<f64> {
        self.place_among(step as u64, values.len()).map(|place| values[place]).collect()
    }

    /// A variable of Student's distribution with three degrees of freedom for each path, times a scale.
    pub(crate) fn student(&self, step: usize, scale: f64) -> Vec<f64> {
        self.even(step, |share| scale * student(share))
    }

    /// A normal variable of this deviation for each path.
    pub(crate) fn normal(&self, step: usize, deviation: f64) -> Vec<f64> {
        let normal = Normal::standard();
        self.even(step, |share| deviation * normal.inverse_cdf(share))
    }

    fn even(&self, step: usize, of: impl Fn(f64) -> f64) -> Vec<f64> {
        let share = |place: usize| (place as f64 + 0.5) / self.paths as f64;
        self.places(step as u64).into_iter().map(|place| of(share(place))).collect()
    }
}

/// The quantile of Student's distribution with three degrees of freedom: with `x = sqrt(3) tan(t)` the share below is
/// `1/2 + (t + sin(t) cos(t)) / pi`.
fn student(share: f64) -> f64 {
    let (mut low, mut high) = (-FRAC_PI_2, FRAC_PI_2);
    for _ in 0..52 {
        let middle = 0.5 * (low + high);
        let (sine, cosine) = middle.sin_cos();
        if middle + sine * cosine < PI * (share - 0.5) { low = middle } else { high = middle }
    }
    3.0_f64.sqrt() * (0.5 * (low + high)).tan()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_comes_as_often() {
        let draws = Draws::new(Key::new(3), 12);
        for step in 0..5 {
            let mut drawn = draws.among(step, &[1.0, 2.0, 3.0, 4.0]);
            assert_ne!(drawn, draws.among(step + 1, &[1.0, 2.0, 3.0, 4.0]));
            drawn.sort_unstable_by(f64::total_cmp);
            assert_eq!(drawn, [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0, 4.0, 4.0, 4.0]);
        }
        assert_eq!(Draws::new(Key::new(3), 1).among(0, &[1.0, 2.0, 3.0]), [2.0]);
        assert!(draws.cycles(50).iter().all(|cycle| *cycle < 50));
    }

    #[test]
    fn quantiles_of_distributions() {
        for (share, expected) in [(0.5, 0.0), (0.9, 1.637_744), (0.975, 3.182_446), (0.01, -4.540_703)] {
            assert!((student(share) - expected).abs() < 1e-5, "{} {expected}", student(share));
        }
        let mut normal = Draws::new(Key::new(1), 1000).normal(0, 2.0);
        normal.sort_unstable_by(f64::total_cmp);
        assert!((normal[841] - 2.0).abs() < 0.02 && (normal[158] + 2.0).abs() < 0.02, "{}", normal[841]);
    }
}
