//! Means weighted by a softmax, with as few passes over the weights as possible.
//!
//! With p the softmax of a column of scores, v the values, y = sum(p v) and g the gradient of y: as the softmax is
//! dx = p (dp - sum(p dp)) and dp = g v, the scores get p g (v - y). So neither the gradient of the weights nor a pass over
//! it is needed, and a window's weights are used while they are in the nearest cache.

use foretell_gemm::{BatchMut, BatchRef, MatMut, MatRef, Options, matmul, matmul_batched};
use foretell_simd as simd;
use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};
use foretell_threads as threads;

use crate::Var;

/// The cost of a weight, relative to that of a number in a plain pass over memory.
const COST: usize = 10;

impl Var {
    /// The means of `values [batch, n]` by the weights `softmax(self)` along dimension 1 of `self [batch, n, m]`:
    /// `[batch, m]`.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn softmax_mean(&self, values: &Self) -> Self {
        let shape = self.shape();
        let (&[batch, n, m], &[rows, count]) = (&*shape, &*values.shape()) else {
            panic!("softmax_mean of shape {shape:?} and values of shape {:?}", values.shape());
        };
        assert_eq!([rows, count], [batch, n], "values of a softmax_mean of shape {shape:?}");
        let (x, v) = (self.value().contiguous(), values.value().contiguous());
        let row = move |window: usize, size: usize| window * size..(window + 1) * size;
        let mut weights = Tensor::zeros([0]);
        let means = Tensor::build([batch, m], |means| {
            weights = Tensor::build(shape, |weights| {
                threads::rows(batch, COST * n * m, [weights, means], |range, [weights, means]| {
                    for (i, window) in range.enumerate() {
                        let (weights, mean) = (&mut weights[row(i, n * m)], &mut means[row(i, m)]);
                        simd::softmax_columns(&x.values()[row(window, n * m)], m, weights);
                        let values = MatRef::row_major(&v.values()[row(window, n)], 1, n);
                        let mean = MatMut::row_major(mean, 1, m);
                        matmul(mean, values, MatRef::row_major(weights, n, m), Options::default());
                    }
                });
            });
        });
        trace::record(|| Record::new("softmax_mean").input(&x).input(&v).output(&means));
        let (edge, values_edge, y) = (self.edge(), values.edge(), means.clone());
        Self::operation(means, &[self, values], move |grad, gradients| {
            gradients.write(&values_edge, [batch, n], |dv, accum| {
                let weights = BatchRef::row_major(weights.values(), batch, n, m);
                let grad = BatchRef::row_major(grad.values(), batch, m, 1);
                let dv = BatchMut::row_major(dv, batch, n, 1);
                matmul_batched(dv, weights, grad, Options::default().accum(accum));
            });
            if edge.is_wanted() {
                let mut weights = weights;
                threads::rows(batch, COST * n * m, [weights.values_mut()], |range, [weights]| {
                    for (i, window) in range.enumerate() {
                        let [y, grad] = [&y, &grad].map(|x| &x.values()[row(window, m)]);
                        let values = &v.values()[row(window, n)];
                        simd::softmax_columns_mean_backward(values, y, grad, &mut weights[row(i, n * m)]);
                    }
                });
                gradients.add_gradient(&edge, weights);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use foretell_tensor::Tensor;

    use crate::Var;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradients_of_scores_and_values() {
        gradients(&[random([2, 5, 3], 1), random([2, 5], 2)], |v| v[0].softmax_mean(&v[1]));
        gradients(&[random([5, 3, 2], 1), random([5, 2], 2)], |v| {
            v[0].permute(&[2, 0, 1]).softmax_mean(&v[1].permute(&[1, 0]))
        });
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("softmax_mean", |x, _| x[0].softmax_mean(&x[1]));
    }

    #[test]
    fn nothing_to_average() {
        for shape in [[0, 3, 2], [2, 3, 0]] {
            let [x, v] = [Tensor::zeros(shape), Tensor::zeros([shape[0], 3])].map(Var::constant);
            assert_eq!(*x.softmax_mean(&v).shape(), [shape[0], shape[2]]);
        }
    }

    #[test]
    #[should_panic(expected = "values of a softmax_mean of shape [2, 3, 4]")]
    fn other_values_panic() {
        let [x, v] = [random([2, 3, 4], 1), random([2, 4], 2)].map(Var::constant);
        x.softmax_mean(&v);
    }
}
