//! Layer normalisation and RMS normalisation over the rows of a matrix, forward and backward.
//!
//! With `xhat = (x - mean) * rstd` and `g = dy * gamma` the gradient of the row is
//! `dx = rstd * (g - mean(g) - xhat * mean(g * xhat))`; RMS normalisation has the same without
//! the two means that come from the shift (Ba et al., 2016; Zhang and Sennrich, 2019).

use crate::isa::{Simd, WithSimd};

use crate::kernels::reductions::{Squares, Sum};
use crate::level::dispatch;
use crate::loops::{Fold, Map, fold_in, map_in, same_len};
use crate::vector::Vectors;

/// `y = (x - shift) * factor * gamma + beta`: reads `x`, then `gamma` if `R > 1`, `beta` if
/// `R > 2`.
#[derive(Clone, Copy)]
struct Apply {
    shift: f32,
    factor: f32,
}

impl<const R: usize> Map<f32, R, 1> for Apply {
    #[inline(always)]
    fn map<S: Simd>(self, x: Vectors<f32, S, R>, _: Vectors<f32, S, 1>) -> Vectors<f32, S, 1> {
        let unit = (x[0] - self.shift) * self.factor;
        match R {
            1 => [unit],
            2 => [unit * x[1]],
            _ => [unit.mul_add(x[1], x[2])],
        }
    }
}

/// The sums of `g` and of `g * xhat`: reads `x`, `dy`, and `gamma` if `R > 2`.
#[derive(Clone, Copy)]
struct Sums {
    shift: f32,
    factor: f32,
}

impl<const R: usize> Fold<f32, R, 0, 2> for Sums {
    #[inline(always)]
    fn step<S: Simd>(
        self,
        [sum, dot]: Vectors<f32, S, 2>,
        x: Vectors<f32, S, R>,
        y: Vectors<f32, S, 0>,
    ) -> (Vectors<f32, S, 2>, Vectors<f32, S, 0>) {
        let unit = (x[0] - self.shift) * self.factor;
        let g = if R > 2 { x[1] * x[2] } else { x[1] };
        ([sum + g, g.mul_add(unit, dot)], y)
    }
}

/// Rewrites `dy` as `dx`; with `gamma` (`R > 1`) it adds `dy * xhat` to the gradient of `gamma`,
/// and `dy` to that of `beta` if `W > 2`.
#[derive(Clone, Copy)]
struct PullBack {
    shift: f32,
    factor: f32,
    mean_g: f32,
    mean_g_unit: f32,
}

impl<const R: usize, const W: usize> Map<f32, R, W> for PullBack {
    #[inline(always)]
    fn map<S: Simd>(self, x: Vectors<f32, S, R>, mut y: Vectors<f32, S, W>) -> Vectors<f32, S, W> {
        let unit = (x[0] - self.shift) * self.factor;
        let dy = y[0];
        let g = if R > 1 { dy * x[1] } else { dy };
        y[0] = unit.mul_add(-self.mean_g_unit, g - self.mean_g) * self.factor;
        if W > 1 {
            y[1] = dy.mul_add(unit, y[1]);
        }
        if W > 2 {
            y[2] = dy + y[2];
        }
        y
    }
}

/// `1 / sqrt(mean((x - shift)^2) + eps)`.
#[inline(always)]
fn reciprocal_root<S: Simd>(simd: S, x: &[f32], shift: f32, eps: f32) -> f32 {
    let about = Squares { shift, scale: 1.0 };
    let [squares] = fold_in::<4, _, _, _, _, _>(simd, about, [x], []);
    1.0 / (squares / x.len() as f32 + eps).sqrt()
}

struct LayerNorm<'a> {
    x: &'a [f32],
    affine: Option<(&'a [f32], Option<&'a [f32]>)>,
    eps: f32,
    cols: usize,
    out: &'a mut [f32],
    mean: &'a mut [f32],
    rstd: &'a mut [f32],
}

impl WithSimd for LayerNorm<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let rows = self.x.chunks(self.cols).zip(self.out.chunks_mut(self.cols));
        for ((x, out), (mean, rstd)) in rows.zip(self.mean.iter_mut().zip(self.rstd)) {
            let [sum] = fold_in::<4, _, _, _, _, _>(simd, Sum, [x], []);
            *mean = sum / self.cols as f32;
            *rstd = reciprocal_root(simd, x, *mean, self.eps);
            let apply = Apply { shift: *mean, factor: *rstd };
            match self.affine {
                Some((gamma, Some(beta))) => map_in(simd, apply, [x, gamma, beta], [out]),
                Some((gamma, None)) => map_in(simd, apply, [x, gamma], [out]),
                None => map_in(simd, apply, [x], [out]),
            }
        }
    }
}

/// Normalises each row of `x` to mean 0 and variance 1 (biased, `eps` added to it), then applies
/// `affine = (gamma, beta)`, each of one row's length, beta being optional, if given.
///
/// `x` and `out` are `[rows, cols]` with `rows = mean.len()`; the mean and the reciprocal standard
/// deviation of each row are kept for [`layer_norm_rows_backward`]. Within 16 ULP of
/// `max(|gamma|, |beta|) * max(1, |xhat|)` for rows whose spread is not small beside their mean.
///
/// # Panics
/// If the lengths do not fit together.
#[track_caller]
pub fn layer_norm_rows(
    x: &[f32],
    affine: Option<(&[f32], Option<&[f32]>)>,
    eps: f32,
    out: &mut [f32],
    mean: &mut [f32],
    rstd: &mut [f32],
) {
    same_len(x.len(), out.len());
    same_len(mean.len(), rstd.len());
    let params = affine.iter().flat_map(|(gamma, beta)| [Some(*gamma), *beta]).flatten().map(<[f32]>::len);
    if let Some(cols) = columns(x.len(), mean.len(), params) {
        dispatch(LayerNorm { x, affine, eps, cols, out, mean, rstd });
    }
}

/// The length of a row when `len` elements are `rows` rows, slices of the lengths `params` being
/// one row each; nothing if there is nothing to do.
#[track_caller]
fn columns(len: usize, rows: usize, params: impl IntoIterator<Item = usize>) -> Option<usize> {
    if rows == 0 {
        same_len(len, 0);
        return None;
    }
    assert!(len.is_multiple_of(rows), "{len} elements do not make {rows} equal rows");
    let cols = len / rows;
    for param in params {
        same_len(param, cols);
    }
    (cols > 0).then_some(cols)
}

/// The parameters of a layer normalisation and where their gradients are added.
pub struct AffineGrad<'a> {
    /// The factor of each column.
    pub gamma: &'a [f32],
    /// Increased by the gradient of `gamma`.
    pub gamma_grad: &'a mut [f32],
    /// Increased by the gradient of `beta`, if there is one.
    pub beta_grad: Option<&'a mut [f32]>,
}

struct LayerNormBackward<'a> {
    x: &'a [f32],
    affine: Option<AffineGrad<'a>>,
    cols: usize,
    mean: &'a [f32],
    rstd: &'a [f32],
    grad: &'a mut [f32],
}

impl WithSimd for LayerNormBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let rows = self.x.chunks(self.cols).zip(self.grad.chunks_mut(self.cols));
        for ((x, grad), (&shift, &factor)) in rows.zip(self.mean.iter().zip(self.rstd)) {
            let sums = Sums { shift, factor };
            let [sum, dot] = match &self.affine {
                Some(a) => fold_in::<2, _, _, 3, 0, 2>(simd, sums, [x, grad, a.gamma], []),
                None => fold_in::<2, _, _, 2, 0, 2>(simd, sums, [x, grad], []),
            };
            let (mean_g, mean_g_unit) = (sum / self.cols as f32, dot / self.cols as f32);
            let pull = PullBack { shift, factor, mean_g, mean_g_unit };
            match &mut self.affine {
                Some(AffineGrad { gamma, gamma_grad, beta_grad: Some(beta_grad) }) => {
                    map_in(simd, pull, [x, gamma], [grad, gamma_grad, beta_grad]);
                }
                Some(AffineGrad { gamma, gamma_grad, beta_grad: None }) => {
                    map_in(simd, pull, [x, gamma], [grad, gamma_grad]);
                }
                None => map_in(simd, pull, [x], [grad]),
            }
        }
    }
}

/// The gradient of [`layer_norm_rows`]: `grad` holds that of the output and receives that of `x`;
/// the gradients of `gamma` and `beta` are added to theirs, row by row in order.
///
/// # Panics
/// If the lengths do not fit together.
#[track_caller]
pub fn layer_norm_rows_backward(
    x: &[f32],
    mean: &[f32],
    rstd: &[f32],
    affine: Option<AffineGrad<'_>>,
    grad: &mut [f32],
) {
    same_len(x.len(), grad.len());
    same_len(mean.len(), rstd.len());
    let params = affine.as_slice().iter();
    let params = params.flat_map(|a| [Some(a.gamma), Some(&*a.gamma_grad), a.beta_grad.as_deref()]);
    let params = params.flatten().map(<[f32]>::len);
    if let Some(cols) = columns(x.len(), mean.len(), params) {
        dispatch(LayerNormBackward { x, affine, cols, mean, rstd, grad });
    }
}

struct RmsNorm<'a> {
    x: &'a [f32],
    gamma: Option<&'a [f32]>,
    eps: f32,
    cols: usize,
    out: &'a mut [f32],
    rrms: &'a mut [f32],
}

impl WithSimd for RmsNorm<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let rows = self.x.chunks(self.cols).zip(self.out.chunks_mut(self.cols));
        for ((x, out), rrms) in rows.zip(self.rrms) {
            *rrms = reciprocal_root(simd, x, 0.0, self.eps);
            let apply = Apply { shift: 0.0, factor: *rrms };
            match self.gamma {
                Some(gamma) => map_in(simd, apply, [x, gamma], [out]),
                None => map_in(simd, apply, [x], [out]),
            }
        }
    }
}

/// Divides each row of `x` by the root of its mean square (`eps` added under the root), then
/// multiplies by `gamma`, of one row's length, if given.
///
/// `x` and `out` are `[rows, cols]` with `rows = rrms.len()`; the reciprocal root of each row is
/// kept for [`rms_norm_rows_backward`]. Each result is within 8 + log2(cols) ULP.
///
/// # Panics
/// If the lengths do not fit together.
#[track_caller]
pub fn rms_norm_rows(x: &[f32], gamma: Option<&[f32]>, eps: f32, out: &mut [f32], rrms: &mut [f32]) {
    same_len(x.len(), out.len());
    if let Some(cols) = columns(x.len(), rrms.len(), gamma.map(<[f32]>::len)) {
        dispatch(RmsNorm { x, gamma, eps, cols, out, rrms });
    }
}

struct RmsNormBackward<'a> {
    x: &'a [f32],
    gamma: Option<(&'a [f32], &'a mut [f32])>,
    cols: usize,
    rrms: &'a [f32],
    grad: &'a mut [f32],
}

impl WithSimd for RmsNormBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let rows = self.x.chunks(self.cols).zip(self.grad.chunks_mut(self.cols));
        for ((x, grad), &factor) in rows.zip(self.rrms) {
            let sums = Sums { shift: 0.0, factor };
            let [_, dot] = match &self.gamma {
                Some((gamma, _)) => fold_in::<2, _, _, 3, 0, 2>(simd, sums, [x, grad, gamma], []),
                None => fold_in::<2, _, _, 2, 0, 2>(simd, sums, [x, grad], []),
            };
            let mean_g_unit = dot / self.cols as f32;
            let pull = PullBack { shift: 0.0, factor, mean_g: 0.0, mean_g_unit };
            match &mut self.gamma {
                Some((gamma, gamma_grad)) => {
                    map_in(simd, pull, [x, gamma], [grad, gamma_grad]);
                }
                None => map_in(simd, pull, [x], [grad]),
            }
        }
    }
}

/// The gradient of [`rms_norm_rows`]: `grad` holds that of the output and receives that of `x`;
/// with `gamma = (values, gradient)` the gradient of `gamma` is added to its slice.
///
/// # Panics
/// If the lengths do not fit together.
#[track_caller]
pub fn rms_norm_rows_backward(
    x: &[f32],
    rrms: &[f32],
    gamma: Option<(&[f32], &mut [f32])>,
    grad: &mut [f32],
) {
    same_len(x.len(), grad.len());
    let params = gamma.as_slice().iter().flat_map(|g| [g.0.len(), g.1.len()]);
    if let Some(cols) = columns(x.len(), rrms.len(), params) {
        dispatch(RmsNormBackward { x, gamma, cols, rrms, grad });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Case, assert_within, for_every_length};

    fn wide(x: &[f32]) -> Vec<f64> {
        x.iter().map(|&x| x.into()).collect()
    }

    /// The forward pass of one row; RMS normalisation if `centre` is false.
    fn naive(x: &[f64], gamma: &[f64], beta: &[f64], centre: bool) -> Vec<f64> {
        let n = x.len() as f64;
        let mean = if centre { x.iter().sum::<f64>() / n } else { 0.0 };
        let square = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
        let factor = 1.0 / (square + 1e-5).sqrt();
        (0..x.len()).map(|i| (x[i] - mean) * factor * gamma[i] + beta[i]).collect()
    }

    /// The derivative of `sum(upstream * naive)` in each element of `at`, by central differences.
    fn differences(at: &[f64], value: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        let (h, len, mut at) = (1e-5, at.len(), at.to_vec());
        let mut one = |i: usize| {
            let x = at[i];
            at[i] = x + h;
            let up = value(&at);
            at[i] = x - h;
            let down = value(&at);
            at[i] = x;
            (up - down) / (2.0 * h)
        };
        (0..len).map(&mut one).collect()
    }

    struct Inputs {
        x: Vec<f32>,
        gamma: Vec<f32>,
        beta: Vec<f32>,
        upstream: Vec<f32>,
        rows: usize,
        cols: usize,
    }

    fn inputs(case: &mut Case) -> Option<Inputs> {
        let cols = case.len;
        if cols == 0 || cols > 140 {
            return None;
        }
        let rows = 3;
        let many = |case: &mut Case| (0..rows).flat_map(|_| case.numbers::<f32>().to_vec()).collect();
        Some(Inputs {
            x: many(case),
            gamma: case.between::<f32>(0.5, 1.5).to_vec(),
            beta: case.numbers::<f32>().to_vec(),
            upstream: many(case),
            rows,
            cols,
        })
    }

    #[track_caller]
    fn assert_all(actual: &[f32], exact: &[f64], tolerance: f64, name: &str) {
        assert_eq!(actual.len(), exact.len(), "{name}");
        let size = exact.iter().fold(1.0f64, |m, x| m.max(x.abs()));
        for (&a, &e) in actual.iter().zip(exact) {
            assert_within(a, e, tolerance * size, name);
        }
    }

    /// Runs both passes with this many parameters (gamma, then beta) against the definition.
    fn check(case: &mut Case, centre: bool, parameters: usize) {
        let Some(Inputs { x, mut gamma, mut beta, upstream, rows, cols }) = inputs(case) else {
            return;
        };
        let (with_gamma, with_beta) = (parameters > 0, parameters > 1);
        if !with_gamma {
            gamma.fill(1.0);
        }
        if !with_beta {
            beta.fill(0.0);
        }
        let name = format!("{}, centre {centre}, {parameters} parameters", case.name);
        let (mut y, mut mean, mut factor) = (vec![0.0; x.len()], vec![0.0; rows], vec![0.0; rows]);
        let mut grad = upstream.clone();
        let (mut gamma_grad, mut beta_grad) = (vec![1.0; cols], vec![1.0; cols]);
        if centre {
            let params = with_gamma.then_some((&gamma[..], with_beta.then_some(&beta[..])));
            layer_norm_rows(&x, params, 1e-5, &mut y, &mut mean, &mut factor);
            let params = with_gamma.then_some(AffineGrad {
                gamma: &gamma,
                gamma_grad: &mut gamma_grad,
                beta_grad: with_beta.then_some(&mut beta_grad[..]),
            });
            layer_norm_rows_backward(&x, &mean, &factor, params, &mut grad);
        } else {
            rms_norm_rows(&x, with_gamma.then_some(&gamma[..]), 1e-5, &mut y, &mut factor);
            let params = with_gamma.then_some((&gamma[..], &mut gamma_grad[..]));
            rms_norm_rows_backward(&x, &factor, params, &mut grad);
        }

        let (wide_gamma, wide_beta) = (wide(&gamma), wide(&beta));
        let (mut gamma_exact, mut beta_exact) = (vec![1.0; cols], vec![1.0; cols]);
        for row in 0..rows {
            let range = row * cols..(row + 1) * cols;
            let (x, up) = (wide(&x[range.clone()]), wide(&upstream[range.clone()]));
            let dot = |y: Vec<f64>| y.iter().zip(&up).map(|(y, u)| y * u).sum::<f64>();
            let exact = naive(&x, &wide_gamma, &wide_beta, centre);
            assert_all(&y[range.clone()], &exact, 2e-6, &name);
            let by_x = differences(&x, |x| dot(naive(x, &wide_gamma, &wide_beta, centre)));
            assert_all(&grad[range], &by_x, 1e-5, &name);
            let by_gamma = differences(&wide_gamma, |g| dot(naive(&x, g, &wide_beta, centre)));
            let by_beta = differences(&wide_beta, |b| dot(naive(&x, &wide_gamma, b, centre)));
            for i in 0..cols {
                gamma_exact[i] += by_gamma[i];
                beta_exact[i] += by_beta[i];
            }
        }
        if with_gamma {
            assert_all(&gamma_grad, &gamma_exact, 1e-5, &name);
        }
        if with_beta {
            assert_all(&beta_grad, &beta_exact, 1e-5, &name);
        }
    }

    #[test]
    fn both_passes_equal_the_definition_and_its_differences() {
        for_every_length(|case| {
            for (centre, parameters) in [(true, 2), (true, 1), (true, 0), (false, 1), (false, 0)] {
                check(case, centre, parameters);
            }
        });
    }

    #[test]
    fn no_rows_and_empty_rows() {
        layer_norm_rows(&[], None, 1e-5, &mut [], &mut [], &mut []);
        layer_norm_rows(&[], Some((&[1.0], Some(&[0.0]))), 1e-5, &mut [], &mut [], &mut []);
        rms_norm_rows(&[], None, 1e-5, &mut [], &mut [0.0; 3]);
        rms_norm_rows_backward(&[], &[], None, &mut []);
    }

    #[test]
    fn a_constant_row_becomes_beta() {
        for_every_length(|case| {
            let x = case.between::<f32>(5.0, 5.0);
            if case.len > 0 && case.len <= 64 {
                let (ones, beta) = (vec![1.0; case.len], vec![0.25; case.len]);
                let (mut mean, mut rstd) = ([0.0], [0.0]);
                let mut y = case.numbers::<f32>();
                layer_norm_rows(&x, Some((&ones, Some(&beta))), 1e-5, &mut y, &mut mean, &mut rstd);
                assert!(y.iter().all(|&y| y == 0.25), "{}", case.name);
                assert_eq!(mean, [5.0], "{}", case.name);
            }
        });
    }

    #[test]
    #[should_panic(expected = "7 elements do not make 2 equal rows")]
    fn broken_rows_are_refused() {
        rms_norm_rows(&[0.0; 7], None, 1e-5, &mut [0.0; 7], &mut [0.0; 2]);
    }
}
