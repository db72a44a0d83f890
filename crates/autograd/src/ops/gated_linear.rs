//! The linear layer, half of whose outputs gate the others (a gated linear unit), and what is added to it, in one
//! operation.

use foretell_gemm::{Bias, MatMut, MatRef, Options, matmul};
use foretell_kernels::column_sums::add_column_sums;
use foretell_simd as simd;
use foretell_tensor::Tensor;
use foretell_threads as threads;

use super::activation::ELEMENTARY_COST;
use crate::Var;

impl Var {
    /// `a σ(b) + skip` of `[a, b] = x Wᵀ + bias` (Dauphin et al. 2017, arXiv 1612.08083): `self [..., k]`, `weight [2 n, k]`,
    /// whose first n rows make a and the others b, `bias [2 n]`, `skip [..., n]` if there is one, result `[..., n]`.
    ///
    /// With g the gradient of the result, those of a and b are `g σ(b)` and `g a σ(b) (1 - σ(b))`, from which those of x, the
    /// weight and the bias follow as in [`Var::linear`]; that of the skip is g.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn gated_linear(&self, weight: &Self, bias: &Self, skip: Option<&Self>) -> Self {
        let (&[twice, k], Some(&features)) = (&*weight.shape(), self.shape().last()) else {
            panic!("gated linear of shape {:?} by weight {:?}", self.shape(), weight.shape());
        };
        let fits = features == k && twice.is_multiple_of(2) && *bias.shape() == [twice];
        assert!(
            fits,
            "gated linear of shape {:?} by weight {:?} and bias {:?}",
            self.shape(),
            weight.shape(),
            bias.shape()
        );
        let (x, w) = (self.value().contiguous(), weight.value().contiguous());
        let (n, mut shape) = (twice / 2, x.shape());
        let rows: usize = shape[..shape.len() - 1].iter().product();
        shape[x.rank() - 1] = n;
        if let Some(skip) = skip {
            assert_eq!(*skip.shape(), *shape, "what is added to a gated linear layer");
        }
        let rounding = weight.rounding();
        let mut gated = Tensor::build([rows, twice], |out| {
            let bias = Some(Bias::PerColumn(bias.value().values()));
            let options = Options { bias, rounding, ..Options::default() };
            let weight = MatRef::row_major(w.values(), twice, k);
            matmul(
                MatMut::row_major(out, rows, twice),
                MatRef::row_major(x.values(), rows, k),
                weight.t(),
                options,
            );
        });
        let added = skip.map(|skip| skip.value().contiguous());
        let value = Tensor::build(shape, |out| {
            threads::rows(rows, ELEMENTARY_COST * n, [gated.values_mut(), out], |range, [gated, out]| {
                match &added {
                    Some(skip) => out.copy_from_slice(&skip.values()[range.start * n..range.end * n]),
                    None => out.fill(0.0),
                }
                simd::add_gated_rows(n, gated, out);
            });
        });
        drop(added);

        let inputs: Vec<&Self> = [self, weight, bias].into_iter().chain(skip).collect();
        let [x_edge, w_edge, b_edge] = [self, weight, bias].map(Self::edge);
        let skip_edge = skip.map(Self::edge);
        let (x, gated) =
            (self.save_for_backward(&x, rounding), gated.keep(Self::saved_rounding(&inputs, rounding)));
        Self::operation(value, &inputs, move |grad, gradients| {
            let (x, mut gated) = (x.into_tensor(), gated.into_tensor());
            threads::rows(rows, 2 * n, [gated.values_mut()], |range, [gated]| {
                simd::gated_rows_backward(n, gated, &grad.values()[range.start * n..range.end * n]);
            });
            if let Some(edge) = skip_edge {
                gradients.add_gradient(&edge, grad);
            }
            let g = MatRef::row_major(gated.values(), rows, twice);
            gradients.accumulate(&b_edge, [twice], |db| add_column_sums(gated.values(), db));
            gradients.write(&w_edge, [twice, k], |dw, accum| {
                let options = Options { accum, rounding, ..Options::default() };
                let x = MatRef::row_major(x.values(), rows, k);
                matmul(MatMut::row_major(dw, twice, k), g.t(), x, options);
            });
            gradients.write(&x_edge, x.shape(), |dx, accum| {
                let options = Options { accum, rounding, ..Options::default() };
                let weight = MatRef::row_major(w.values(), twice, k);
                matmul(MatMut::row_major(dx, rows, k), g, weight, options);
            });
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::Var;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradients_with_and_without_a_skip() {
        let inputs = [random([2, 3, 4], 1), random([10, 4], 2), random([10], 3), random([2, 3, 5], 4)];
        for count in [3, 4] {
            gradients(&inputs[..count], |v| v[0].gated_linear(&v[1], &v[2], v.get(3)));
        }
        // What is gated and added is the same.
        gradients(&[random([3, 4], 1), random([8, 4], 2), random([8], 3)], |v| {
            v[0].gated_linear(&v[1], &v[2], Some(&v[0]))
        });
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("gated_linear", |x, _| x[0].gated_linear(&x[1], &x[2], x.get(3)));
    }

    #[test]
    #[should_panic(expected = "gated linear of shape [2, 3] by weight [5, 3] and bias [5]")]
    fn gates_come_in_pairs() {
        let [x, w, b] = [random([2, 3], 1), random([5, 3], 2), random([5], 3)].map(Var::constant);
        x.gated_linear(&w, &b, None);
    }
}
