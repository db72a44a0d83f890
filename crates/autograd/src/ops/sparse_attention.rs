//! ProbSparse attention (Zhou et al. 2021, "Informer", arXiv 2012.07436, section 3.1): few queries attend to the
//! keys, all others get the mean of the values, or, of causal attention, their sum so far.
//!
//! The scores of the queries that attend are the only ones that are computed for every key: `count` rows of a head,
//! not one for each query. [`foretell_kernels::sparse_queries`] chooses these queries by some sampled keys; no
//! gradient flows through the choice.

use foretell_kernels::sparse_queries;
use foretell_simd::ScoredHeads;
use foretell_tensor::trace::{self, Record};
use foretell_tensor::{Indices, Tensor};

use crate::{AttentionOptions, Var};

/// Which queries attend, and to what.
#[derive(Clone, Copy, Debug)]
pub struct SparseAttention<'a> {
    /// The heads that lie side by side in each row of queries, keys and values.
    pub heads: usize,
    /// The queries of each window and head that attend.
    pub count: usize,
    /// The sampled keys by which the queries are chosen, `[queries, sampled]`: the same for all windows and heads.
    pub samples: &'a Indices,
    /// Whether a query attends to the steps up to its own only.
    pub causal: bool,
}

impl Var {
    /// `softmax(Q Kᵀ / sqrt(dim)) V` for the `count` queries of each window and head that stand out the most, and for all
    /// others the mean of the values, or, of causal attention, the sum of those up to their step: queries `self [batch, queries,
    /// heads * dim]`, `keys` and `values [batch, keys, heads * dim]`, result `[batch, heads, queries, dim]`.
    ///
    /// # Panics
    /// If the shapes do not fit, there are fewer than `count` queries, a sample is no key, or causal attention has not as many
    /// queries as keys.
    #[track_caller]
    pub fn sparse_attention(&self, keys: &Self, values: &Self, options: &SparseAttention<'_>) -> Self {
        let &SparseAttention { heads, count, samples, causal } = options;
        let (q, k) = (self.shape(), keys.shape());
        let (&[batch, queries, width], &[_, key_steps, _]) = (&*q, &*k) else {
            panic!("sparse attention of queries {q:?} to keys {k:?}");
        };
        let fit =
            heads > 0 && width.is_multiple_of(heads) && k == values.shape() && q[2] == k[2] && q[0] == k[0];
        let sampled = samples.shape().first() == Some(&queries);
        assert!(
            fit && sampled && count <= queries && (!causal || queries == key_steps),
            "{count} queries of {q:?} in {heads} heads, keys {k:?}, values {:?}, samples {:?}, causal: {causal}",
            values.shape(),
            samples.shape()
        );
        let dim = width / heads;
        let by_head = |x: Self, steps| x.reshape([batch, steps, heads, dim]).permute(&[0, 2, 1, 3]);
        let reading = AttentionOptions { causal, ..AttentionOptions::new(heads) };
        if count == queries {
            return by_head(self.attention(keys, values, &reading), queries);
        }

        let chosen = Indices::build([batch, heads, count], |places| {
            let [q, k] = [self, keys].map(|operand| operand.value().contiguous());
            let sizes = ScoredHeads { queries, keys: key_steps, heads, dim };
            sparse_queries::choose(q.values(), k.values(), sizes, samples.values(), count, places);
        });
        let rows = self.gather(1, &side_by_side(&chosen, dim));
        let hidden = causal.then(|| Self::constant(later_keys(&chosen, key_steps)));
        let read = rows.attention(
            keys,
            values,
            &AttentionOptions { causal: false, mask: hidden.as_ref(), ..reading },
        );
        let others = match causal {
            false => values.mean(1).reshape([batch, heads, 1, dim]).expand([batch, heads, queries, dim]),
            true => by_head(values.cumulative_sum(1), queries),
        };
        let y = others.scatter(2, &each_number(&chosen, dim), &by_head(read, count));
        trace::record(|| {
            let record = Record::new("sparse_attention").input(self.value()).input(keys.value());
            let record = record.input(values.value()).input(samples).output(y.value());
            let record = record.size("heads", heads).size("count", count);
            record.word("causal", if causal { "yes" } else { "no" })
        });
        y
    }
}

/// Places `[batch, heads, count]` for each number of rows in which the heads lie side by side: `[batch, count, heads * dim]`.
fn side_by_side(places: &Indices, dim: usize) -> Indices {
    let &[batch, heads, count] = &*places.shape() else { unreachable!("[batch, heads, count]") };
    Indices::build([batch, count, heads * dim], |out| {
        let windows = places.values().chunks_exact((heads * count).max(1));
        for (window, out) in windows.zip(out.chunks_exact_mut((count * heads * dim).max(1))) {
            for (i, row) in out.chunks_exact_mut(heads * dim).enumerate() {
                for (head, numbers) in row.chunks_exact_mut(dim).enumerate() {
                    numbers.fill(window[head * count + i]);
                }
            }
        }
    })
}

/// Places `[batch, heads, count]` for each number of a head: `[batch, heads, count, dim]`.
fn each_number(places: &Indices, dim: usize) -> Indices {
    Indices::build(places.shape().with(3, dim), |out| {
        for (numbers, &place) in out.chunks_exact_mut(dim.max(1)).zip(places.values()) {
            numbers.fill(place);
        }
    })
}

/// The mask that hides the keys behind each query's own place: `[batch, heads, count, keys]`.
fn later_keys(places: &Indices, keys: usize) -> Tensor {
    Tensor::build(places.shape().with(3, keys), |out| {
        for (scores, &place) in out.chunks_exact_mut(keys.max(1)).zip(places.values()) {
            let (seen, later) = scores.split_at_mut(place as usize + 1);
            seen.fill(0.0);
            later.fill(f32::NEG_INFINITY);
        }
    })
}

#[cfg(test)]
mod tests {
    use foretell_tensor::{Indices, Tensor};

    use super::*;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    /// All keys, so that the choice is that of the whole matrix of scores.
    fn all(queries: usize, keys: usize) -> Indices {
        Indices::build([queries, keys], |out| {
            (0..).zip(out).for_each(|(i, place)| *place = i as u32 % keys as u32);
        })
    }

    #[test]
    fn gradients_of_those_that_attend_and_of_the_others() {
        for (causal, count) in [(false, 2), (true, 2), (false, 5), (true, 5)] {
            let samples = all(5, 5);
            let options = SparseAttention { heads: 2, count, samples: &samples, causal };
            gradients(&[random([2, 5, 6], 1), random([2, 5, 6], 2), random([2, 5, 6], 3)], |v| {
                v[0].sparse_attention(&v[1], &v[2], &options)
            });
        }
        let samples = all(3, 4);
        let options = SparseAttention { heads: 1, count: 1, samples: &samples, causal: false };
        gradients(&[random([2, 3, 2], 1), random([2, 4, 2], 2), random([2, 4, 2], 3)], |v| {
            v[0].sparse_attention(&v[1], &v[2], &options)
        });
    }

    #[test]
    fn agrees_with_neuralforecast() {
        torch::assert_matches_pytorch("sparse_attention", |x, a| {
            let samples = a.indices("samples");
            let causal = a.number("causal") == 1;
            let [heads, count] = ["heads", "count"].map(|name| a.number(name));
            let options = SparseAttention { heads, count, samples: &samples, causal };
            x[0].sparse_attention(&x[1], &x[2], &options)
        });
    }

    #[test]
    fn other_queries_get_the_mean_or_the_sum_so_far() {
        let x = |values: &[f32]| Var::constant(Tensor::from_slice(values, [1, 3, 1]));
        let (q, k, v) = (x(&[0.0, 9.0, 0.1]), x(&[-1.0, 0.0, 1.0]), x(&[1.0, 2.0, 6.0]));
        let samples = all(3, 3);
        let read = |causal| {
            let options = SparseAttention { heads: 1, count: 1, samples: &samples, causal };
            q.sparse_attention(&k, &v, &options).value().to_vec()
        };
        let [first, reader, last] = read(false)[..] else { unreachable!("three queries") };
        assert!((first - 3.0).abs() < 1e-6 && (last - 3.0).abs() < 1e-6 && reader > 5.99);
        let [first, reader, last] = read(true)[..] else { unreachable!("three queries") };
        assert!((first - 1.0).abs() < 1e-6 && (last - 9.0).abs() < 1e-6 && (1.9..2.0).contains(&reader));
    }

    #[test]
    #[should_panic(expected = "1 queries of [1, 3, 2] in 2 heads, keys [1, 4, 2]")]
    fn causal_queries_are_the_keys_steps() {
        let samples = all(3, 4);
        let options = SparseAttention { heads: 2, count: 1, samples: &samples, causal: true };
        let [q, k] = [3, 4].map(|steps| Var::constant(Tensor::zeros([1, steps, 2])));
        q.sparse_attention(&k, &k, &options);
    }
}
