//! A factor and an offset for each row: how windows are brought to a scale of their own, and back.

use foretell_simd as simd;
use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};
use foretell_threads as threads;

use crate::Var;

impl Var {
    /// `self [rows, ...]` times `factor [rows]` plus `offset [rows]`, one of each for a whole row.
    ///
    /// With g the gradient: that of a row is g times its factor, that of its factor the sum of g times the row, that
    /// of its offset the sum of g.
    ///
    /// # Panics
    /// If there is another number of factors or offsets than of rows.
    #[track_caller]
    pub fn affine_rows(&self, factor: &Self, offset: &Self) -> Self {
        let (shape, rows) = (self.shape(), self.shape()[0]);
        for vector in [factor, offset] {
            let vector_shape = vector.shape();
            assert!(
                *vector_shape == [rows],
                "affine_rows of shape {shape:?} by a vector of shape {vector_shape:?}"
            );
        }
        let size = self.value().numel() / rows.max(1);
        let (x, factors) = (self.value().contiguous(), factor.value().contiguous());
        let offsets = offset.value().contiguous();
        let value = Tensor::build(shape, |out| {
            threads::rows(rows, size, [out], |range, [out]| {
                for (i, out) in range.zip(out.chunks_exact_mut(size.max(1))) {
                    out.fill(offsets.values()[i]);
                    simd::axpy(factors.values()[i], &x.values()[i * size..(i + 1) * size], out);
                }
            });
        });
        trace::record(|| Record::new("affine_rows").input(&x).input(&factors).input(&offsets).output(&value));
        let edges = [self, factor, offset].map(Self::edge);
        Self::operation(value, &[self, factor, offset], move |mut grad, gradients| {
            let [x_edge, factor_edge, offset_edge] = edges;
            let row = |row: usize| row * size..(row + 1) * size;
            gradients.accumulate(&factor_edge, [rows], |sums| {
                threads::rows(rows, size, [sums], |range, [sums]| {
                    for (i, sum) in range.zip(sums) {
                        *sum += simd::dot(&grad.values()[row(i)], &x.values()[row(i)]);
                    }
                });
            });
            gradients.accumulate(&offset_edge, [rows], |sums| {
                threads::rows(rows, size, [sums], |range, [sums]| {
                    for (i, sum) in range.zip(sums) {
                        *sum += simd::sum(&grad.values()[row(i)]);
                    }
                });
            });
            if x_edge.is_wanted() {
                threads::rows(rows, size, [grad.values_mut()], |range, [grad]| {
                    for (i, g) in range.zip(grad.chunks_exact_mut(size.max(1))) {
                        simd::scale(g, factors.values()[i]);
                    }
                });
                gradients.add_gradient(&x_edge, grad);
            }
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
    fn gradients_of_rows_factors_and_offsets() {
        gradients(&[random([4, 3], 1), random([4], 2), random([4], 3)], |v| v[0].affine_rows(&v[1], &v[2]));
        gradients(&[random([2, 3, 2], 1), random([2], 2)], |v| v[0].affine_rows(&v[1], &v[1]));
    }

    #[test]
    fn empty_batches_serve() {
        let [x, none] = [Tensor::zeros([0, 4]), Tensor::zeros([0])].map(Var::constant);
        assert_eq!(&*x.affine_rows(&none, &none).shape(), [0, 4]);
    }

    #[test]
    #[should_panic(expected = "affine_rows of shape [2, 3] by a vector of shape [3]")]
    fn wrong_shapes_panic() {
        let [x, vector] = [random([2, 3], 1), random([3], 2)].map(Var::constant);
        x.affine_rows(&vector, &vector);
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("affine_rows", |x, _| x[0].affine_rows(&x[1], &x[2]));
    }
}
