//! Which queries of ProbSparse attention attend to the keys (Zhou et al. 2021, "Informer", arXiv 2012.07436, section
//! 3.1): those with a score that stands out the most, judged by some sampled keys.
//!
//! ```text
//! measure[l] = max_s q[l] · k[s] - 1/keys Σ_s q[l] · k[s]          (s: the keys sampled for query l)
//! ```
//!
//! Only these scores are computed, `sampled` for each query and not one for each key, and none is kept.

use foretell_pool::Buffer;
use foretell_simd::{ScoredHeads, sampled_score_spread};
use foretell_threads as threads;

use crate::axis::Axis;
use crate::select;

/// For each sequence and head the `count` queries of the largest measure, the largest first: queries
/// `q [batch, queries, heads * dim]`, keys `k [batch, keys, heads * dim]`, the keys sampled for each query of each
/// sequence and head `samples [queries, sampled]`, result `places [batch, heads, count]`.
///
/// # Panics
/// If a length does not fit, there are fewer than `count` queries, or a sample is no key.
#[track_caller]
pub fn choose(q: &[f32], k: &[f32], sizes: ScoredHeads, samples: &[u32], count: usize, places: &mut [u32]) {
    let ScoredHeads { queries, keys, heads, dim } = sizes;
    let (q_len, k_len, chosen) = (queries * heads * dim, keys * heads * dim, heads * count);
    if places.is_empty() {
        return;
    }
    let batch = places.len() / chosen;
    let fit = places.len() == batch * chosen && q.len() == batch * q_len && k.len() == batch * k_len;
    assert!(
        fit,
        "{} places of {count} queries, {} and {} numbers for {sizes:?}",
        places.len(),
        q.len(),
        k.len()
    );
    threads::rows(batch, heads * samples.len() * dim, [places], |range, [places]| {
        let mut measure = Buffer::<f32>::zeroed(heads * queries);
        let mut largest = Buffer::<f32>::zeroed(chosen);
        for (b, places) in range.zip(places.chunks_exact_mut(chosen)) {
            let (q, k) = (&q[b * q_len..][..q_len], &k[b * k_len..][..k_len]);
            sampled_score_spread(q, k, sizes, samples, &mut measure);
            let along = Axis { outer: heads, len: queries, inner: 1 };
            select::top_k(&measure, along, count, &mut largest, places);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at_every_level, numbers};

    #[test]
    fn the_largest_measures_of_each_head() {
        let sizes = ScoredHeads { queries: 11, keys: 6, heads: 3, dim: 5 };
        let (batch, sampled, count) = (4, 4, 7);
        let (q, k) = (numbers(batch * 11 * 15, 1), numbers(batch * 6 * 15, 2));
        let samples: Vec<u32> = (0..11 * sampled).map(|i| (i * i % 6) as u32).collect();
        at_every_level(|level| {
            let mut places = vec![99; batch * 3 * count];
            choose(&q, &k, sizes, &samples, count, &mut places);
            for (at, places) in places.chunks_exact(count).enumerate() {
                let (b, head) = (at / 3, at % 3);
                let measure = |l: usize| {
                    let scores = samples[l * sampled..][..sampled].iter().map(|&s| {
                        let row = |x: &[f32], row: usize| x[row * 15 + head * 5..][..5].to_vec();
                        let (q, k) = (row(&q, b * 11 + l), row(&k, b * 6 + s as usize));
                        q.iter().zip(&k).map(|(q, k)| q * k).sum::<f32>()
                    });
                    let scores: Vec<f32> = scores.collect();
                    let largest = scores.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b));
                    largest - scores.iter().sum::<f32>() / 6.0
                };
                let mut order: Vec<usize> = (0..11).collect();
                order.sort_by(|&a, &b| measure(b).total_cmp(&measure(a)));
                let found: Vec<usize> = places.iter().map(|&place| place as usize).collect();
                assert_eq!(found, order[..count], "{level:?}: window {b}, head {head}");
            }
        });
    }

    #[test]
    #[should_panic(expected = "2 places of 1 queries, 3 and 4 numbers")]
    fn lengths_must_fit() {
        let sizes = ScoredHeads { queries: 2, keys: 2, heads: 1, dim: 1 };
        choose(&[0.0; 3], &[0.0; 4], sizes, &[0, 1], 1, &mut [0; 2]);
    }
}
