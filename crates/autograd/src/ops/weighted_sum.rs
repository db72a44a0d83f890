//! Weighted sums of vectors, row by row.

use std::borrow::Borrow;

use foretell_simd as simd;
use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};
use foretell_threads as threads;

use crate::Var;

impl Var {
    /// `Σ weights[.., i] parts[i][.., :]`: weights `self [..., parts]`, parts `[..., n]` each, result `[..., n]`.
    ///
    /// With g the gradient of a row: that of a part is g times its weight, that of a weight the product of g and its part.
    ///
    /// # Panics
    /// If there are not as many parts as weights, or their shapes differ.
    #[track_caller]
    pub fn weighted_sum<P: Borrow<Self>>(&self, parts: &[P]) -> Self {
        let parts: Vec<&Self> = parts.iter().map(Borrow::borrow).collect();
        let (weights, count) = (self.value().contiguous(), parts.len());
        let shapes: Vec<_> = parts.iter().map(|part| part.shape()).collect();
        let whole = shapes.first().copied().unwrap_or(self.shape());
        let fits = self.shape().split_last().is_some_and(|(&last, rows)| {
            last == count && count > 0 && whole.len() == rows.len() + 1 && whole.starts_with(rows)
        });
        assert!(
            fits && shapes.iter().all(|shape| *shape == whole),
            "a weighted sum of shapes {shapes:?} by weights of shape {:?}",
            self.shape()
        );
        let n = whole[whole.len() - 1];
        let rows: usize = whole[..whole.len() - 1].iter().product();
        let values: Vec<Tensor> = parts.iter().map(|part| part.value().contiguous()).collect();
        let row = move |row: usize| row * n..(row + 1) * n;
        let value = Tensor::build(whole, |out| {
            threads::rows(rows, count * n, [out], |range, [out]| {
                out.fill(0.0);
                for (i, out) in range.zip(out.chunks_exact_mut(n.max(1))) {
                    for (value, &weight) in values.iter().zip(&weights.values()[i * count..]) {
                        simd::axpy(weight, &value.values()[row(i)], out);
                    }
                }
            });
        });
        trace::record(|| {
            let record = Record::new("weighted_sum").input(&weights).output(&value);
            parts.iter().fold(record, |record, part| record.input(part.value()))
        });
        let inputs: Vec<&Self> = [self].into_iter().chain(parts.iter().copied()).collect();
        let (weights_edge, edges) = (self.edge(), parts.iter().map(|part| part.edge()).collect::<Vec<_>>());
        Self::operation(value, &inputs, move |grad, gradients| {
            gradients.accumulate(&weights_edge, weights.shape(), |sums| {
                threads::rows(rows, count * n, [sums], |range, [sums]| {
                    for (i, sums) in range.zip(sums.chunks_exact_mut(count)) {
                        for (value, sum) in values.iter().zip(sums) {
                            *sum += simd::dot(&grad.values()[row(i)], &value.values()[row(i)]);
                        }
                    }
                });
            });
            for (k, edge) in edges.iter().enumerate() {
                gradients.accumulate(edge, whole, |sums| {
                    threads::rows(rows, n, [sums], |range, [sums]| {
                        for (i, sum) in range.zip(sums.chunks_exact_mut(n.max(1))) {
                            simd::axpy(weights.values()[i * count + k], &grad.values()[row(i)], sum);
                        }
                    });
                });
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::Var;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradients_of_weights_and_parts() {
        let parts = [random([2, 3, 4], 2), random([2, 3, 4], 3), random([2, 3, 4], 4)];
        let weights = random([2, 3, 3], 1);
        gradients(&[&[weights][..], &parts].concat(), |v| v[0].weighted_sum(&v[1..]));
        gradients(&[random([2, 2], 1), random([2, 5], 2)], |v| v[0].weighted_sum(&[&v[1], &v[1]]));
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("weighted_sum", |x, _| x[0].weighted_sum(&x[1..]));
    }

    #[test]
    #[should_panic(expected = "a weighted sum of shapes [[2, 3]] by weights of shape [2, 2]")]
    fn each_part_has_a_weight() {
        let [weights, part] = [random([2, 2], 1), random([2, 3], 2)].map(Var::constant);
        weights.weighted_sum(&[part]);
    }
}
