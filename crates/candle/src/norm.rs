//! Normalisation of each row: layer normalisation (Ba et al. 2016, arXiv 1607.06450) and RMS normalisation (Zhang and
//! Sennrich 2019, arXiv 1910.07467).
//!
//! Of a row x of n values with u = (x - mean) / sqrt(variance + eps), y = gamma u + beta, and the gradient g of y, let
//! h = gamma g. Then dx = (h - mean(h) - u mean(h u)) / sqrt(variance + eps); without the mean (RMS) the term mean(h) is
//! none. gamma gets the sum of g u over all rows, beta that of g.

use std::ops::Range;
use std::sync::OnceLock;

use candle_core::{CpuStorage, CustomOp2, Layout, Shape, Tensor};
use foretell_simd::{self as simd, AffineGrad};
use foretell_threads as threads;

use crate::error::{OpError, Result};
use crate::operand::{check, contiguous, misshapen, on_all_threads, read, rows_and_cols, tensor};
use crate::optional_operand::{StridedStorage, TwoOrThree, apply};

/// The work of a number of a row, in numbers of a plain pass over memory.
const COST: usize = 6;

/// Normalises the last dimension of `x [..., n]` to mean 0 and variance 1 (biased, `eps` added to it), then multiplies by
/// `gamma [n]` and adds `beta [n]`, if there is one.
///
/// # Errors
/// If an operand is not F32 on the CPU, the shapes do not fit, or `eps` is negative or not finite as an `f32`.
pub fn layer_norm(x: &Tensor, gamma: &Tensor, beta: Option<&Tensor>, eps: f64) -> Result<Tensor> {
    let eps = checked(LayerNorm::NAME, x, [Some(gamma), beta], eps)?;
    let op = LayerNorm { eps, moments: OnceLock::new() };
    let beta = beta.map(Tensor::contiguous).transpose()?;
    Ok(apply(op, [&x.contiguous()?, &gamma.contiguous()?], beta.as_ref())?)
}

/// Divides the last dimension of `x [..., n]` by the root of its mean square (`eps` added under the root), then multiplies by
/// `gamma [n]`.
///
/// # Errors
/// If an operand is not F32 on the CPU, the shapes do not fit, or `eps` is negative or not finite as an `f32`.
pub fn rms_norm(x: &Tensor, gamma: &Tensor, eps: f64) -> Result<Tensor> {
    let op = RmsNorm { eps: checked("rms_norm", x, [Some(gamma), None], eps)?, roots: OnceLock::new() };
    Ok(x.contiguous()?.apply_op2(&gamma.contiguous()?, op)?)
}

fn checked(op: &'static str, x: &Tensor, params: [Option<&Tensor>; 2], eps: f64) -> Result<f32> {
    check(op, "x", x)?;
    let Some(&cols) = x.dims().last() else { return misshapen(op, "x", x, "at least one dimension") };
    for (name, param) in ["gamma", "beta"].into_iter().zip(params) {
        let Some(param) = param else { continue };
        check(op, name, param)?;
        if param.dims() != [cols] {
            return misshapen(op, name, param, format!("[{cols}], the last dimension of x"));
        }
    }
    let rounded = eps as f32;
    if !(eps >= 0.0 && rounded.is_finite()) {
        let expected = "finite as an f32 and not negative";
        return Err(OpError::Setting { op, setting: "eps", expected, found: eps.to_string() });
    }
    Ok(rounded)
}

/// Some rows of this many columns.
fn part(x: &[f32], rows: Range<usize>, cols: usize) -> &[f32] {
    &x[rows.start * cols..rows.end * cols]
}

struct LayerNorm {
    eps: f32,
    /// The means of the rows, then the reciprocals of their deviations.
    moments: OnceLock<Vec<f32>>,
}

impl TwoOrThree for LayerNorm {
    const NAME: &'static str = "layer_norm";

    fn forward(
        &self,
        [x, gamma]: [StridedStorage<'_>; 2],
        beta: Option<StridedStorage<'_>>,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let gamma = contiguous(gamma.0, gamma.1)?;
        let beta = beta.map(|(beta, layout)| contiguous(beta, layout)).transpose()?;
        let (values, (rows, cols)) = (contiguous(x.0, x.1)?, rows_and_cols(x.1.dims()));
        let (mut out, mut moments) = (vec![0.0; values.len()], vec![0.0; 2 * rows]);
        let (mean, rstd) = moments.split_at_mut(rows);
        on_all_threads(|| {
            threads::rows(rows, COST * cols, [&mut out[..], mean, rstd], |range, [out, mean, rstd]| {
                let x = part(values, range, cols);
                simd::layer_norm_rows(x, Some((gamma, beta)), self.eps, out, mean, rstd);
            });
        });
        // An operation is applied once.
        let _ = self.moments.set(moments);
        Ok((CpuStorage::F32(out), x.1.shape().clone()))
    }

    fn backward(
        &self,
        [x, gamma]: [&Tensor; 2],
        beta: Option<&Tensor>,
        _: &Tensor,
        grad: &Tensor,
    ) -> candle_core::Result<[Option<Tensor>; 3]> {
        let (rows, cols) = rows_and_cols(x.dims());
        let (mean, rstd) = self.moments.get().expect("the forward pass comes first").split_at(rows);
        let has_beta = beta.is_some();
        let grad = grad.contiguous()?;
        let (dx, sums) = read([x, gamma, &grad], |[x, gamma, grad]| {
            let (x, gamma) = (contiguous(x.0, x.1)?, contiguous(gamma.0, gamma.1)?);
            let mut dx = contiguous(grad.0, grad.1)?.to_vec();
            // The gradient of gamma, then that of beta.
            let mut sums = vec![0.0; cols * (1 + usize::from(has_beta))];
            on_all_threads(|| {
                threads::sums_and_rows(rows, COST * cols, &mut sums, &mut dx, |range, sums, grad| {
                    let (gamma_grad, beta_grad) = sums.split_at_mut(cols);
                    let affine = AffineGrad { gamma, gamma_grad, beta_grad: has_beta.then_some(beta_grad) };
                    let (mean, rstd) = (&mean[range.clone()], &rstd[range.clone()]);
                    simd::layer_norm_rows_backward(part(x, range, cols), mean, rstd, Some(affine), grad);
                });
            });
            Ok((dx, sums))
        })?;
        let (of_gamma, of_beta) = sums.split_at(cols);
        let sum =
            |param: &Tensor, sum: &[f32]| param.track_op().then(|| tensor(sum.to_vec(), cols)).transpose();
        let of_beta = beta.map(|beta| sum(beta, of_beta)).transpose()?.flatten();
        let of_x = x.track_op().then(|| tensor(dx, x.shape())).transpose()?;
        Ok([of_x, sum(gamma, of_gamma)?, of_beta])
    }
}

struct RmsNorm {
    eps: f32,
    /// The reciprocals of the rows' root mean squares.
    roots: OnceLock<Vec<f32>>,
}

impl CustomOp2 for RmsNorm {
    fn name(&self) -> &'static str {
        "rms_norm"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_layout: &Layout,
        gamma: &CpuStorage,
        gamma_layout: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let (values, gamma) = (contiguous(x, x_layout)?, contiguous(gamma, gamma_layout)?);
        let (rows, cols) = rows_and_cols(x_layout.dims());
        let (mut out, mut roots) = (vec![0.0; values.len()], vec![0.0; rows]);
        on_all_threads(|| {
            threads::rows(rows, COST * cols, [&mut out[..], &mut roots], |range, [out, roots]| {
                simd::rms_norm_rows(part(values, range, cols), Some(gamma), self.eps, out, roots);
            });
        });
        // An operation is applied once.
        let _ = self.roots.set(roots);
        Ok((CpuStorage::F32(out), x_layout.shape().clone()))
    }

    fn bwd(
        &self,
        x: &Tensor,
        gamma: &Tensor,
        _: &Tensor,
        grad: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>)> {
        let (rows, cols) = rows_and_cols(x.dims());
        let roots = self.roots.get().expect("the forward pass comes first");
        let grad = grad.contiguous()?;
        let (dx, sums) = read([x, gamma, &grad], |[x, gamma, grad]| {
            let (x, gamma) = (contiguous(x.0, x.1)?, contiguous(gamma.0, gamma.1)?);
            let mut dx = contiguous(grad.0, grad.1)?.to_vec();
            let mut sums = vec![0.0; cols];
            on_all_threads(|| {
                threads::sums_and_rows(rows, COST * cols, &mut sums, &mut dx, |range, sum, grad| {
                    let roots = &roots[range.clone()];
                    simd::rms_norm_rows_backward(part(x, range, cols), roots, Some((gamma, sum)), grad);
                });
            });
            Ok((dx, sums))
        })?;
        let of_gamma = gamma.track_op().then(|| tensor(sums, cols)).transpose()?;
        Ok((x.track_op().then(|| tensor(dx, x.shape())).transpose()?, of_gamma))
    }
}
