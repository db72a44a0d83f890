//! Random numbers as a function of a key: SplitMix64 (Steele, Lea and Flood 2014).

/// The golden ratio's share of 2^64, as in the paper.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A sequence of random numbers that its key determines.
#[derive(Clone, Debug)]
pub(crate) struct Draws(u64);

impl Draws {
    /// The sequence of a key: a seed, the number of a trial, that of an attempt.
    pub(crate) fn new(key: [u64; 3]) -> Self {
        Self(key.into_iter().fold(0, |state, part| mixed((state ^ part).wrapping_add(STEP))))
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }

    /// A number from 0 to below 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// One of several with these weights, whose sum is above 0.
    pub(crate) fn weighted(&mut self, weights: &[f64]) -> usize {
        let mut left = self.uniform() * weights.iter().sum::<f64>();
        let taken = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        taken.unwrap_or(weights.len() - 1)
    }

    /// A number with a standard normal distribution (Box and Muller 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

fn mixed(state: u64) -> u64 {
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_determines_the_sequence_and_others_have_others() {
        let first = |key| Draws::new(key).bits();
        assert_eq!(first([1, 2, 3]), first([1, 2, 3]));
        let mut all: Vec<u64> = Vec::new();
        for seed in 0..10 {
            for trial in 0..10 {
                all.extend((0..10).map(|attempt| first([seed, trial, attempt])));
            }
        }
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 1000);
    }

    #[test]
    fn normal_numbers_have_mean_0_and_deviation_1() {
        let mut draws = Draws::new([0, 0, 0]);
        let n = 40_000;
        let all: Vec<f64> = (0..n).map(|_| draws.normal()).collect();
        let mean = all.iter().sum::<f64>() / f64::from(n);
        let variance = all.iter().map(|x| x * x).sum::<f64>() / f64::from(n);
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
    }

    #[test]
    fn what_weighs_nothing_is_never_taken() {
        let mut draws = Draws::new([4, 4, 4]);
        let mut counts = [0; 3];
        (0..1000).for_each(|_| counts[draws.weighted(&[1.0, 0.0, 3.0])] += 1);
        assert_eq!(counts[1], 0);
        assert!((200..300).contains(&counts[0]), "{counts:?}");
    }
}
