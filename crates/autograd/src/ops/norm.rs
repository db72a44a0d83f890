//! Normalisation of each row: layer normalisation (Ba et al. 2016) and RMS normalisation (Zhang and Sennrich
//! 2019).
//!
//! Of a row x of n values with u = (x - mean) / sqrt(variance + eps), y = gamma u + beta, and the gradient g of y,
//! let h = gamma g. Since mean and variance depend on every x,
//!
//! `dx = (h - mean(h) - u mean(h u)) / sqrt(variance + eps)`;
//!
//! without the mean (RMS) the term mean(h) is absent. gamma gets the sum of g u over all rows, beta that of g. The
//! kernels of `simd` do each row in one go, forwards and backwards.

use std::ops::Range;

use foretell_simd::{self as simd, AffineGrad};
use foretell_tensor::trace::{self, Record};
use foretell_tensor::{Shape, Tensor};
use foretell_threads as threads;

use crate::Var;

impl Var {
    /// Normalises the last dimension to mean 0 and variance 1 (biased, `eps` added to it), then applies
    /// `affine = (gamma, beta)`, each `[features]`, beta being optional, if there is one.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn layer_norm(&self, affine: Option<(&Self, Option<&Self>)>, eps: f32) -> Self {
        let x = self.value().contiguous();
        let (shape, [rows, cols]) = (x.shape(), rows_of("layer_norm", x.shape()));
        let gamma = affine.map(|(gamma, _)| row_parameter("layer_norm", shape, gamma));
        let beta = affine.and_then(|(_, beta)| beta).map(|beta| row_parameter("layer_norm", shape, beta));
        let mut moments = Tensor::zeros([0]);
        let value = Tensor::build(shape, |out| {
            moments = Tensor::build([2, rows], |moments| {
                let (mean, rstd) = moments.split_at_mut(rows);
                let params = gamma.as_ref().map(|gamma| (gamma.values(), beta.as_ref().map(Tensor::values)));
                threads::rows(rows, COST * cols, [out, mean, rstd], |range, [out, mean, rstd]| {
                    simd::layer_norm_rows(part(&x, range, cols), params, eps, out, mean, rstd);
                });
            });
        });
        trace::record(|| {
            let record = Record::new("layer_norm").input(&x).optional(gamma.as_ref()).optional(beta.as_ref());
            record.output(&value).number("eps", eps)
        });
        let params = || affine.into_iter().flat_map(|(gamma, beta)| [Some(gamma), beta]).flatten();
        let inputs: Vec<&Self> = [self].into_iter().chain(params()).collect();
        let (edge, param_edges) = (self.edge(), params().map(Self::edge).collect::<Vec<_>>());
        let x = self.save_for_backward(&x, self.rounding());
        Self::operation(value, &inputs, move |mut grad, gradients| {
            let x = x.into_tensor();
            let (mean, rstd) = moments.values().split_at(rows);
            // The gradient of gamma, then that of beta.
            let (mut sums, has_beta) = (Tensor::zeros([param_edges.len(), cols]), param_edges.len() > 1);
            let (sum, grads) = (sums.values_mut(), grad.values_mut());
            threads::sums_and_rows(rows, COST * cols, sum, grads, |range, sums, grad| {
                let affine = gamma.as_ref().map(|gamma| {
                    let (gamma_grad, beta_grad) = sums.split_at_mut(cols);
                    AffineGrad { gamma: gamma.values(), gamma_grad, beta_grad: has_beta.then_some(beta_grad) }
                });
                let (mean, rstd) = (&mean[range.clone()], &rstd[range.clone()]);
                simd::layer_norm_rows_backward(part(&x, range, cols), mean, rstd, affine, grad);
            });
            gradients.add_gradient(&edge, grad);
            for (i, edge) in param_edges.iter().enumerate() {
                gradients.add_gradient(edge, sums.narrow(0, i, 1).reshape([cols]));
            }
        })
    }

    /// Divides the last dimension by the root of its mean square (`eps` added under the root), then multiplies by
    /// `gamma [features]`, if there is one.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn rms_norm(&self, gamma: Option<&Self>, eps: f32) -> Self {
        let x = self.value().contiguous();
        let (shape, [rows, cols]) = (x.shape(), rows_of("rms_norm", x.shape()));
        let factor = gamma.map(|gamma| row_parameter("rms_norm", shape, gamma));
        let mut roots = Tensor::zeros([0]);
        let value = Tensor::build(shape, |out| {
            roots = Tensor::build([rows], |roots| {
                let factor = factor.as_ref().map(Tensor::values);
                threads::rows(rows, COST * cols, [out, roots], |range, [out, roots]| {
                    simd::rms_norm_rows(part(&x, range, cols), factor, eps, out, roots);
                });
            });
        });
        trace::record(|| {
            let record = Record::new("rms_norm").input(&x).optional(factor.as_ref());
            record.output(&value).number("eps", eps)
        });
        let inputs: Vec<&Self> = [self].into_iter().chain(gamma).collect();
        let (edge, gamma_edge) = (self.edge(), gamma.map(Self::edge));
        let x = self.save_for_backward(&x, self.rounding());
        Self::operation(value, &inputs, move |mut grad, gradients| {
            let x = x.into_tensor();
            let mut sums = Tensor::zeros([if factor.is_some() { cols } else { 0 }]);
            let (sum, grads) = (sums.values_mut(), grad.values_mut());
            threads::sums_and_rows(rows, COST * cols, sum, grads, |range, sum, grad| {
                let gamma = factor.as_ref().map(|gamma| (gamma.values(), sum));
                simd::rms_norm_rows_backward(
                    part(&x, range.clone(), cols),
                    &roots.values()[range],
                    gamma,
                    grad,
                );
            });
            gradients.add_gradient(&edge, grad);
            if let Some(edge) = &gamma_edge {
                gradients.add_gradient(edge, sums);
            }
        })
    }
}

/// The cost of a number of a row, relative to that of a number in a plain pass over memory.
const COST: usize = 6;

/// Some rows of a tensor with `cols` columns.
fn part(x: &Tensor, rows: Range<usize>, cols: usize) -> &[f32] {
    &x.values()[rows.start * cols..rows.end * cols]
}

/// The rows of a tensor and their length.
#[track_caller]
fn rows_of(operation: &str, shape: Shape) -> [usize; 2] {
    let Some((&cols, outer)) = shape.split_last() else { panic!("{operation} of shape {shape:?}") };
    [outer.iter().product(), cols]
}

/// A parameter with one value for each element of a row of `shape`.
#[track_caller]
pub(super) fn row_parameter(operation: &str, shape: Shape, param: &Var) -> Tensor {
    let fits = *param.shape() == shape[shape.len() - 1..];
    assert!(fits, "{operation} of shape {shape:?} by a parameter of shape {:?}", param.shape());
    param.value().contiguous()
}

#[cfg(test)]
mod tests {
    use crate::Var;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradients_with_and_without_parameters() {
        let inputs = [random([2, 3, 5], 1), random([5], 2), random([5], 3)];
        gradients(&inputs, |v| v[0].layer_norm(Some((&v[1], Some(&v[2]))), 1e-2));
        gradients(&inputs[..2], |v| v[0].layer_norm(Some((&v[1], None)), 1e-2));
        gradients(&inputs[..1], |v| v[0].layer_norm(None, 1e-2));
        gradients(&inputs[..2], |v| v[0].rms_norm(Some(&v[1]), 1e-2));
        gradients(&inputs[..1], |v| v[0].rms_norm(None, 1e-2));
        gradients(&[random([5, 4], 1)], |v| v[0].permute(&[1, 0]).layer_norm(None, 1e-2));
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("layer_norm", |x, a| {
            x[0].layer_norm(x.get(1).map(|gamma| (gamma, x.get(2))), a.real("eps"))
        });
        torch::assert_matches_pytorch("rms_norm", |x, a| x[0].rms_norm(x.get(1), a.real("eps")));
    }

    #[test]
    #[should_panic(expected = "layer_norm of shape [2, 3] by a parameter of shape [2]")]
    fn wrong_shapes_panic() {
        let [x, gamma, beta] = [random([2, 3], 1), random([3], 2), random([2], 3)].map(Var::constant);
        x.layer_norm(Some((&gamma, Some(&beta))), 1e-5);
    }
}
