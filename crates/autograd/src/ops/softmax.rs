//! Softmax and its logarithm along a dimension.

use foretell_simd as simd;
use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};
use foretell_threads as threads;

use crate::Var;

/// The cost of a number, relative to that of a number in a plain pass over memory.
const COST: usize = 8;

/// A kernel over `[rows, cols]` that reads one slice and writes another.
type Kernel = fn(&[f32], usize, &mut [f32]);

impl Var {
    /// `e^x / sum(e^x)` along `axis`.
    ///
    /// With y the result and g its gradient, each element is in the sum of all: dx = y (g - sum(y g)).
    ///
    /// # Panics
    /// If there is no such axis.
    #[track_caller]
    pub fn softmax(&self, axis: usize) -> Self {
        self.normalised_exponential(
            "softmax",
            axis,
            [simd::softmax_rows, simd::softmax_columns],
            [simd::softmax_rows_backward, simd::softmax_columns_backward],
        )
    }

    /// `x - ln(sum(e^x))` along `axis`, the logarithm of [`Var::softmax`] without its underflow.
    ///
    /// With y the result and g its gradient: dx = g - e^y sum(g).
    ///
    /// # Panics
    /// If there is no such axis.
    #[track_caller]
    pub fn log_softmax(&self, axis: usize) -> Self {
        self.normalised_exponential(
            "log_softmax",
            axis,
            [simd::log_softmax_rows, simd::log_softmax_columns],
            [simd::log_softmax_rows_backward, simd::log_softmax_columns_backward],
        )
    }

    /// Kernels by rows serve the last dimension, those by columns the others.
    #[track_caller]
    fn normalised_exponential(
        &self,
        name: &'static str,
        axis: usize,
        forward: [Kernel; 2],
        backward: [Kernel; 2],
    ) -> Self {
        let x = self.value().contiguous();
        let shape = x.shape();
        assert!(axis < shape.len(), "softmax along axis {axis} of shape {shape:?}");
        let (len, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
        let size = (len * inner).max(1);
        let run = move |[by_rows, by_columns]: [Kernel; 2], from: &[f32], to: &mut [f32]| {
            threads::rows(to.len() / size, COST * size, [to], |range, [to]| {
                let from = &from[range.start * size..range.end * size];
                if inner == 1 {
                    return by_rows(from, len, to);
                }
                for (from, to) in from.chunks_exact(size).zip(to.chunks_exact_mut(size)) {
                    by_columns(from, inner, to);
                }
            });
        };
        let value = Tensor::build(shape, |out| run(forward, x.values(), out));
        trace::record(|| Record::new(name).input(&x).output(&value).size("axis", axis));
        let (edge, y) = (self.edge(), self.save_for_backward(&value, self.rounding()));
        Self::operation(value, &[self], move |mut grad, gradients| {
            run(backward, y.into_tensor().values(), grad.values_mut());
            gradients.add_gradient(&edge, grad);
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::Var;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;
    use foretell_tensor::Tensor;

    #[test]
    fn gradients_along_each_axis() {
        for axis in 0..3 {
            gradients(&[random([2, 3, 4], 1)], |v| v[0].softmax(axis));
            gradients(&[random([2, 3, 4], 1)], |v| v[0].log_softmax(axis));
        }
        gradients(&[random([4, 3], 1)], |v| v[0].permute(&[1, 0]).softmax(1));
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("softmax", |x, a| x[0].softmax(a.axis(&x[0])));
        torch::assert_matches_pytorch("log_softmax", |x, a| x[0].log_softmax(a.axis(&x[0])));
    }

    #[test]
    fn nothing_to_normalise() {
        for shape in [[0, 3], [3, 0]] {
            for axis in [0, 1] {
                assert_eq!(&*Var::constant(Tensor::zeros(shape)).softmax(axis).shape(), shape);
            }
        }
    }

    #[test]
    #[should_panic(expected = "softmax along axis 2 of shape [2, 3]")]
    fn the_axis_must_be_there() {
        Var::constant(Tensor::zeros([2, 3])).softmax(2);
    }
}
