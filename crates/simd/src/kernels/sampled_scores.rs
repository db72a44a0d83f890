//! How far the largest of some sampled scores of a query stands out of them: the measure by which ProbSparse attention
//! chooses its queries (Zhou et al. 2021, "Informer", arXiv 2012.07436, section 3.1).

use crate::isa::{Simd, WithSimd};

use crate::kernels::reductions::Dot;
use crate::level::dispatch;
use crate::loops::{fold_in, same_len};

/// Heads side by side in each row of queries and keys, and how many of both there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoredHeads {
    /// Rows of queries.
    pub queries: usize,
    /// Rows of keys.
    pub keys: usize,
    /// Heads of a row.
    pub heads: usize,
    /// Numbers of a head.
    pub dim: usize,
}

struct Spread<'a> {
    q: &'a [f32],
    k: &'a [f32],
    sizes: ScoredHeads,
    samples: &'a [u32],
    out: &'a mut [f32],
}

impl WithSimd for Spread<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { q, k, sizes: ScoredHeads { queries, keys, heads, dim }, samples, out } = self;
        let (width, sampled) = (heads * dim, samples.len() / queries);
        let rows = q.chunks_exact(width).zip(samples.chunks_exact(sampled));
        for (place, (q, samples)) in rows.enumerate() {
            for (head, q) in q.chunks_exact(dim).enumerate() {
                let (mut largest, mut sum) = (f32::NEG_INFINITY, 0.0);
                for &sample in samples {
                    let k = &k[sample as usize * width + head * dim..][..dim];
                    let [score] = fold_in::<2, _, _, 2, 0, 1>(simd, Dot, [q, k], []);
                    largest = if score > largest { score } else { largest };
                    sum += score;
                }
                out[head * queries + place] = largest - sum / keys as f32;
            }
        }
    }
}

/// For each head and query the largest score of the keys that were sampled for the query, less their sum divided by the
/// number of all keys: queries `q [queries, heads * dim]`, keys `k [keys, heads * dim]`, the rows of the keys
/// `samples [queries, sampled]`, result `out [heads, queries]`. A score is the product of a query and a key, unscaled. The
/// error of a score is that of [`dot`](crate::dot).
///
/// # Panics
/// If a length does not fit, a sample is no row of the keys, or there is nothing in a head or among the samples.
#[track_caller]
pub fn sampled_score_spread(q: &[f32], k: &[f32], sizes: ScoredHeads, samples: &[u32], out: &mut [f32]) {
    let ScoredHeads { queries, keys, heads, dim } = sizes;
    same_len(q.len(), queries * heads * dim);
    same_len(k.len(), keys * heads * dim);
    same_len(out.len(), heads * queries);
    if out.is_empty() {
        return;
    }
    let some = dim > 0 && !samples.is_empty() && samples.len().is_multiple_of(queries);
    assert!(some, "{} samples of {sizes:?}", samples.len());
    let outside = samples.iter().find(|&&sample| sample as usize >= keys);
    assert!(outside.is_none(), "key {outside:?} of {keys}");
    dispatch(Spread { q, k, sizes, samples, out });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_within, at_every_level};
    use crate::{Key, Stream};

    #[test]
    fn equals_all_products_one_by_one() {
        let mut stream = Stream::new(Key::new(3));
        for (queries, keys, heads, dim, sampled) in
            [(1, 1, 1, 1, 1), (5, 7, 3, 2, 4), (9, 4, 2, 17, 4), (13, 13, 4, 32, 9), (3, 6, 1, 200, 8)]
        {
            let sizes = ScoredHeads { queries, keys, heads, dim };
            let mut numbers = |len: usize| -> Vec<f32> {
                (0..len).map(|_| 4.0 * stream.uniform_f64() as f32 - 2.0).collect()
            };
            let (q, k) = (numbers(queries * heads * dim), numbers(keys * heads * dim));
            let samples: Vec<u32> = (0..queries * sampled).map(|i| (i * 5 % keys) as u32).collect();
            at_every_level(|level| {
                let mut out = vec![f32::NAN; heads * queries];
                sampled_score_spread(&q, &k, sizes, &samples, &mut out);
                for (at, found) in out.iter().enumerate() {
                    let (head, place) = (at / queries, at % queries);
                    let scores: Vec<f64> = samples[place * sampled..][..sampled]
                        .iter()
                        .map(|&key| {
                            let row = |x: &[f32], row: usize, i: usize| {
                                f64::from(x[(row * heads + head) * dim + i])
                            };
                            (0..dim).map(|i| row(&q, place, i) * row(&k, key as usize, i)).sum()
                        })
                        .collect();
                    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    let expected = largest - scores.iter().sum::<f64>() / keys as f64;
                    let limit = 4e-6 * dim as f64 * (1.0 + sampled as f64 / keys as f64);
                    assert_within(*found, expected, limit, &format!("{level}, {sizes:?}, {at}"));
                }
            });
        }
    }

    #[test]
    fn nothing_to_score_is_nothing() {
        let sizes = ScoredHeads { queries: 0, keys: 2, heads: 1, dim: 2 };
        sampled_score_spread(&[], &[1.0; 4], sizes, &[], &mut []);
    }

    #[test]
    #[should_panic(expected = "key Some(2) of 2")]
    fn samples_are_rows_of_the_keys() {
        let sizes = ScoredHeads { queries: 1, keys: 2, heads: 1, dim: 1 };
        sampled_score_spread(&[1.0], &[1.0; 2], sizes, &[2], &mut [0.0]);
    }
}
