//! The random numbers of the paths of one series.

use foretell_simd::Key;
use statrs::distribution::{ContinuousCDF as _, Normal};

/// The random numbers of the paths of one series: they depend on the seed, the id of the series and the time of its cutoff, so that
/// paths are the same whatever other series there are beside it.
#[derive(Clone, Copy, Debug)]
pub struct PathDraws {
    key: Key,
}

impl PathDraws {
    /// Those of the series of this id after this time.
    pub fn new(seed: u64, id: &str, cutoff: i64) -> Self {
        let key = Key::new(seed).fold(id.len() as u64);
        let key = id.as_bytes().chunks(8).fold(key, |key, chunk| {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            key.fold(u64::from_le_bytes(bytes))
        });
        Self { key: key.fold(cutoff as u64) }
    }

    /// `count` numbers between 0 and 1.
    pub(crate) fn uniform(&self, count: usize) -> Vec<f64> {
        // The middle of each of 2^53 cells, so that neither 0 nor 1 comes.
        let cell = |i: u64| ((self.key.bits(i) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        (0..count as u64).map(cell).collect()
    }

    /// `count` numbers of the standard normal distribution.
    pub(crate) fn normal(&self, count: usize) -> Vec<f64> {
        let mut draws = self.uniform(count);
        draws.iter_mut().for_each(|draw| *draw = Normal::standard().inverse_cdf(*draw));
        draws
    }

    /// `count` of the numbers below `most`, each once if there are as many.
    pub(crate) fn places(&self, count: usize, most: usize) -> Vec<usize> {
        let key = self.key.fold(1);
        let place =
            |i: usize, below: usize| ((u128::from(key.bits(i as u64)) * below as u128) >> 64) as usize;
        if most < count {
            return (0..count).map(|i| place(i, most)).collect();
        }
        let mut places: Vec<usize> = (0..most).collect();
        for i in 0..count {
            places.swap(i, i + place(i, most - i));
        }
        places.truncate(count);
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_those_of_their_distribution() {
        let draws = PathDraws::new(3, "a series with a long name", 7);
        const N: usize = 40_000;
        let normal = draws.normal(N);
        let mean = normal.iter().sum::<f64>() / N as f64;
        let variance = normal.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / N as f64;
        // Four standard errors.
        assert!(mean.abs() < 4.0 / 200.0 && (variance - 1.0).abs() < 4.0 * 2.0_f64.sqrt() / 200.0);
        assert!(draws.uniform(N).iter().all(|u| 0.0 < *u && *u < 1.0));
        assert_eq!(draws.normal(5), PathDraws::new(3, "a series with a long name", 7).normal(5));
        for other in [PathDraws::new(4, "a series with a long name", 7), PathDraws::new(3, "a series", 7)] {
            assert_ne!(draws.normal(5), other.normal(5));
        }
    }

    #[test]
    fn places_come_once_while_there_are_enough() {
        let draws = PathDraws::new(1, "a", 0);
        let mut all = draws.places(20, 20);
        assert_ne!(all, (0..20).collect::<Vec<_>>());
        all.sort_unstable();
        assert_eq!(all, (0..20).collect::<Vec<_>>());
        let few = draws.places(200, 3);
        assert!(
            few.len() == 200
                && (0..3).all(|place| few.contains(&place))
                && few.iter().all(|place| *place < 3)
        );
    }
}
