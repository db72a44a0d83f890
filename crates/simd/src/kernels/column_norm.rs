//! Normalisation down the columns of a matrix, forward and backward: over the rows of a batch it is batch
//! normalisation (Ioffe and Szegedy 2015), over the steps of one series instance normalisation (Ulyanov et al.
//! 2016), with the channels last in both.
//!
//! Columns are taken in strips that stay in the first cache, rows in blocks of 64 whose sums are added up block
//! by block: the result depends on the shape and the level alone.
//!
//! # Derivation of the backward pass
//!
//! With u = (x - mean) rstd, y = gamma u + beta and dy the gradient of y, both mean and rstd depend on all n rows
//! of a column. The terms that this adds are, as for the rows of a layer normalisation, the means of dy and of
//! dy u: dx = gamma rstd (dy - mean(dy) - u mean(dy u)). The sums behind them are the gradients of beta and of
//! gamma.

use crate::isa::{Simd, WithSimd};

use crate::kernels::softmax::whole_rows;
use crate::level::dispatch;
use crate::loops::{Map, map_in, same_len};
use crate::vector::Vectors;

/// Columns whose sums are kept beside each other.
const STRIP: usize = 128;

/// Rows that are added up before they join the total.
const BLOCK: usize = 64;

/// `y += x`, for two sums at once.
#[derive(Clone, Copy)]
struct Join;

impl Map<f32, 2, 2> for Join {
    #[inline(always)]
    fn map<S: Simd>(self, [a, b]: Vectors<f32, S, 2>, [c, d]: Vectors<f32, S, 2>) -> Vectors<f32, S, 2> {
        [c + a, d + b]
    }
}

/// Adds up what `each` says of a row over `rows` rows, block by block.
#[inline(always)]
fn sum_rows<S: Simd>(
    simd: S,
    rows: usize,
    first: &mut [f32],
    second: &mut [f32],
    each: impl Fn(usize, &mut [f32], &mut [f32]),
) {
    first.fill(0.0);
    second.fill(0.0);
    for start in (0..rows).step_by(BLOCK) {
        let (mut a, mut b) = ([0.0; STRIP], [0.0; STRIP]);
        let (a, b) = (&mut a[..first.len()], &mut b[..first.len()]);
        (start..rows.min(start + BLOCK)).for_each(
            #[inline(always)]
            |row| each(row, a, b),
        );
        map_in(simd, Join, [a, b], [first, second]);
    }
}

/// `sum += x - shift` and `squares += (x - shift)^2`.
#[derive(Clone, Copy)]
struct About;

impl Map<f32, 2, 2> for About {
    #[inline(always)]
    fn map<S: Simd>(
        self,
        [x, shift]: Vectors<f32, S, 2>,
        [sum, squares]: Vectors<f32, S, 2>,
    ) -> Vectors<f32, S, 2> {
        let d = x - shift;
        [sum + d, d.mul_add(d, squares)]
    }
}

struct Moments<'a> {
    x: &'a [f32],
    mean: &'a mut [f32],
    variance: &'a mut [f32],
}

impl WithSimd for Moments<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let cols = self.mean.len();
        let rows = self.x.len() / cols;
        let n = rows as f32;
        for from in (0..cols).step_by(STRIP) {
            let width = STRIP.min(cols - from);
            let row = |r: usize| &self.x[r * cols + from..][..width];
            let (mean, variance) = (&mut self.mean[from..][..width], &mut self.variance[from..][..width]);
            // About the first row, then about the mean: what is left of the sum there corrects the mean.
            let mut shift = [0.0; STRIP];
            shift[..width].copy_from_slice(row(0));
            for _ in 0..2 {
                sum_rows(
                    simd,
                    rows,
                    mean,
                    variance,
                    #[inline(always)]
                    |r, sum, squares| map_in(simd, About, [row(r), &shift[..width]], [sum, squares]),
                );
                for ((mean, variance), shift) in mean.iter_mut().zip(&mut *variance).zip(&mut shift) {
                    let rest = *mean / n;
                    let about_mean = *variance / n - rest * rest;
                    // Rounding may leave less than nothing; a NaN passes.
                    *variance = if about_mean < 0.0 { 0.0 } else { about_mean };
                    *shift += rest;
                    *mean = *shift;
                }
            }
        }
    }
}

/// The mean and the biased variance of each column of `x [rows, mean.len()]`: the mean within 2 ULP of the largest
/// of the column, the variance within 1e-5 of itself where the spread is not small beside what `f32` resolves at
/// the mean. NaN both in a column with NaN or infinity; nothing is written if there are no rows.
///
/// # Panics
/// If the slices differ in length, or `x` is no whole rows.
#[track_caller]
pub fn column_moments(x: &[f32], mean: &mut [f32], variance: &mut [f32]) {
    same_len(mean.len(), variance.len());
    whole_rows(x.len(), mean.len());
    if !x.is_empty() {
        dispatch(Moments { x, mean, variance });
    }
}

/// `(x - mean) factor`, `+ beta` if there is a fourth slice.
#[derive(Clone, Copy)]
struct Apply;

impl<const R: usize> Map<f32, R, 1> for Apply {
    #[inline(always)]
    fn map<S: Simd>(self, x: Vectors<f32, S, R>, _: Vectors<f32, S, 1>) -> Vectors<f32, S, 1> {
        let centred = x[0] - x[1];
        [if R > 3 { centred.mul_add(x[2], x[3]) } else { centred * x[2] }]
    }
}

struct Normalise<'a> {
    x: &'a [f32],
    mean: &'a [f32],
    factor: &'a [f32],
    beta: Option<&'a [f32]>,
    out: &'a mut [f32],
}

impl WithSimd for Normalise<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { mean, factor, .. } = self;
        for (x, out) in self.x.chunks(mean.len()).zip(self.out.chunks_mut(mean.len())) {
            match self.beta {
                Some(beta) => map_in(simd, Apply, [x, mean, factor, beta], [out]),
                None => map_in(simd, Apply, [x, mean, factor], [out]),
            }
        }
    }
}

/// `out = (x - mean) * factor + beta` in each row, with a mean, a factor and perhaps a beta for each column: with
/// factor = gamma / standard deviation, the normalised columns. Each result within 3 ULP of its largest term.
///
/// # Panics
/// If the lengths do not fit together.
#[track_caller]
pub fn normalise_columns(x: &[f32], mean: &[f32], factor: &[f32], beta: Option<&[f32]>, out: &mut [f32]) {
    same_len(x.len(), out.len());
    whole_rows(x.len(), mean.len());
    for param in [Some(factor), beta].into_iter().flatten() {
        same_len(param.len(), mean.len());
    }
    if !x.is_empty() {
        dispatch(Normalise { x, mean, factor, beta, out });
    }
}

/// `gamma_grad += dy u` and `beta_grad += dy`, with `u = (x - mean) rstd`.
#[derive(Clone, Copy)]
struct ParamGrads;

impl Map<f32, 4, 2> for ParamGrads {
    #[inline(always)]
    fn map<S: Simd>(
        self,
        [x, mean, rstd, dy]: Vectors<f32, S, 4>,
        [gamma_grad, beta_grad]: Vectors<f32, S, 2>,
    ) -> Vectors<f32, S, 2> {
        let unit = (x - mean) * rstd;
        [dy.mul_add(unit, gamma_grad), beta_grad + dy]
    }
}

/// `dy = factor (dy - mean(dy) - u mean(dy u))`.
#[derive(Clone, Copy)]
struct PullBack;

impl Map<f32, 6, 1> for PullBack {
    #[inline(always)]
    fn map<S: Simd>(
        self,
        [x, mean, rstd, factor, mean_g, mean_g_unit]: Vectors<f32, S, 6>,
        [dy]: Vectors<f32, S, 1>,
    ) -> Vectors<f32, S, 1> {
        let unit = (x - mean) * rstd;
        [unit.mul_add(-mean_g_unit, dy - mean_g) * factor]
    }
}

struct AddSums<'a> {
    x: &'a [f32],
    mean: &'a [f32],
    rstd: &'a [f32],
    grad: &'a [f32],
    gamma_grad: &'a mut [f32],
    beta_grad: &'a mut [f32],
}

impl WithSimd for AddSums<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { x, mean, rstd, grad, gamma_grad, beta_grad } = self;
        let cols = mean.len();
        let rows = x.len() / cols;
        for from in (0..cols).step_by(STRIP) {
            let strip = from..cols.min(from + STRIP);
            let width = strip.len();
            let (mean, rstd) = (&mean[strip.clone()], &rstd[strip.clone()]);
            let at = |row: usize| row * cols + from..row * cols + from + width;
            sum_rows(
                simd,
                rows,
                &mut gamma_grad[strip.clone()],
                &mut beta_grad[strip],
                #[inline(always)]
                |r, a, b| map_in(simd, ParamGrads, [&x[at(r)], mean, rstd, &grad[at(r)]], [a, b]),
            );
        }
    }
}

/// The sums over rows that the gradients of [`normalise_columns`] are made of, with `factor = gamma rstd`: adds
/// `grad u` to `gamma_grad` and `grad` to `beta_grad`, where `u = (x - mean) rstd`.
///
/// # Panics
/// If the lengths do not fit together.
#[track_caller]
pub fn column_norm_sums(
    x: &[f32],
    mean: &[f32],
    rstd: &[f32],
    grad: &[f32],
    gamma_grad: &mut [f32],
    beta_grad: &mut [f32],
) {
    same_len(x.len(), grad.len());
    whole_rows(x.len(), mean.len());
    for len in [rstd.len(), gamma_grad.len(), beta_grad.len()] {
        same_len(len, mean.len());
    }
    if !x.is_empty() {
        dispatch(AddSums { x, mean, rstd, grad, gamma_grad, beta_grad });
    }
}

/// The normalisation as [`column_norm_backward`] reads it, a number for each column.
#[derive(Clone, Copy)]
pub struct ColumnNorm<'a> {
    /// The mean of each column.
    pub mean: &'a [f32],
    /// The reciprocal of each column's standard deviation.
    pub rstd: &'a [f32],
    /// The factor of each column, if there is one.
    pub gamma: Option<&'a [f32]>,
    /// Where mean and deviation are those of the columns, and so depend on them: how many rows they are of, and the
    /// gradients of gamma and beta, summed over all of these ([`column_norm_sums`]). Else they are constants.
    pub of_input: Option<(usize, [&'a [f32]; 2])>,
}

struct Backward<'a> {
    x: &'a [f32],
    norm: ColumnNorm<'a>,
    grad: &'a mut [f32],
}

impl WithSimd for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { x, norm: ColumnNorm { mean, rstd, gamma, of_input }, grad } = self;
        let cols = mean.len();
        let rows = x.len() / cols;
        for from in (0..cols).step_by(STRIP) {
            let strip = from..cols.min(from + STRIP);
            let width = strip.len();
            let (mean, rstd) = (&mean[strip.clone()], &rstd[strip.clone()]);
            let at = |row: usize| row * cols + from..row * cols + from + width;
            let (mut factor, mut mean_g, mut mean_g_unit) = ([0.0; STRIP], [0.0; STRIP], [0.0; STRIP]);
            for c in 0..width {
                factor[c] = gamma.map_or(1.0, |gamma| gamma[from + c]) * rstd[c];
                if let Some((all_rows, [gamma_grad, beta_grad])) = of_input {
                    mean_g[c] = beta_grad[from + c] / all_rows as f32;
                    mean_g_unit[c] = gamma_grad[from + c] / all_rows as f32;
                }
            }
            let [factor, mean_g, mean_g_unit] = [&factor, &mean_g, &mean_g_unit].map(|all| &all[..width]);
            for r in 0..rows {
                let read = [&x[at(r)], mean, rstd, factor, mean_g, mean_g_unit];
                map_in(simd, PullBack, read, [&mut grad[at(r)]]);
            }
        }
    }
}

/// The gradient of [`normalise_columns`] with `factor = gamma rstd`, of all rows or of some of them: `grad` holds that
/// of the output and receives that of `x`.
///
/// # Panics
/// If the lengths do not fit together.
#[track_caller]
pub fn column_norm_backward(x: &[f32], norm: ColumnNorm<'_>, grad: &mut [f32]) {
    let cols = norm.mean.len();
    same_len(x.len(), grad.len());
    whole_rows(x.len(), cols);
    let [gamma_grad, beta_grad] = norm.of_input.map_or([cols; 2], |(_, sums)| sums.map(<[f32]>::len));
    for len in [norm.rstd.len(), norm.gamma.map_or(cols, <[f32]>::len), gamma_grad, beta_grad] {
        same_len(len, cols);
    }
    if !x.is_empty() {
        dispatch(Backward { x, norm, grad });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_within, at_every_level, for_every_length};

    /// Column `c` of `x` as `f64`.
    fn column(x: &[f32], cols: usize, c: usize) -> Vec<f64> {
        x.iter().skip(c).step_by(cols).map(|&x| x.into()).collect()
    }

    fn mean(x: &[f64]) -> f64 {
        x.iter().sum::<f64>() / x.len() as f64
    }

    #[test]
    fn both_passes_equal_the_definition() {
        for_every_length(|case| {
            // Up to 700 columns, and up to 18 of many rows.
            for cols in [case.len.clamp(1, 700), case.len.clamp(1, 700) % 19 + 1] {
                let rows = case.len / cols;
                let x: Vec<f32> = case.between::<f32>(-3.0, 5.0)[..rows * cols].to_vec();
                let dy: Vec<f32> = case.numbers::<f32>()[..rows * cols].to_vec();
                let gamma: Vec<f32> = (0..cols).map(|c| 0.5 + (c % 5) as f32 * 0.25).collect();
                let beta: Vec<f32> = (0..cols).map(|c| (c % 3) as f32 - 1.0).collect();
                let name = format!("{}, {rows} rows", case.name);

                let (mut means, mut variances) = (vec![0.0; cols], vec![0.0; cols]);
                column_moments(&x, &mut means, &mut variances);
                let rstd: Vec<f32> = variances.iter().map(|v| 1.0 / (v + 0.1).sqrt()).collect();
                let factor: Vec<f32> = rstd.iter().zip(&gamma).map(|(r, g)| r * g).collect();
                let (mut y, mut plain) = (vec![0.0; x.len()], vec![0.0; x.len()]);
                normalise_columns(&x, &means, &factor, Some(&beta), &mut y);
                normalise_columns(&x, &means, &rstd, None, &mut plain);
                let backward = |gamma, of_input: bool| {
                    let (mut dx, mut dgamma, mut dbeta) = (dy.clone(), vec![0.0; cols], vec![0.0; cols]);
                    column_norm_sums(&x, &means, &rstd, &dy, &mut dgamma, &mut dbeta);
                    let of_input = of_input.then_some((rows, [&dgamma[..], &dbeta[..]]));
                    let norm = ColumnNorm { mean: &means, rstd: &rstd, gamma, of_input };
                    column_norm_backward(&x, norm, &mut dx);
                    (dx, dgamma, dbeta)
                };
                let (dx, dgamma, dbeta) = backward(Some(&gamma[..]), true);
                let (fixed, ..) = backward(None, false);

                for c in 0..cols {
                    let (x, dy) = (column(&x, cols, c), column(&dy, cols, c));
                    if rows == 0 {
                        assert_eq!((dgamma[c], dbeta[c]), (0.0, 0.0), "{name}");
                        continue;
                    }
                    let centre = mean(&x);
                    let variance = mean(&x.iter().map(|x| (x - centre).powi(2)).collect::<Vec<_>>());
                    assert_within(means[c], centre, 1e-6, &name);
                    assert_within(variances[c], variance, 1e-5 * variance + 1e-9, &name);
                    let factor = 1.0 / (variance + 0.1).sqrt();
                    let unit: Vec<f64> = x.iter().map(|x| (x - centre) * factor).collect();
                    let products: Vec<f64> = unit.iter().zip(&dy).map(|(u, g)| u * g).collect();
                    let room = 1e-5 * (1.0 + rows as f64).sqrt();
                    assert_within(dgamma[c], products.iter().sum(), room, &name);
                    assert_within(dbeta[c], dy.iter().sum(), room, &name);
                    let wide = f64::from(gamma[c]);
                    for r in 0..rows {
                        let at = r * cols + c;
                        assert_within(y[at], unit[r] * wide + f64::from(beta[c]), 1e-5, &name);
                        assert_within(plain[at], unit[r], 1e-5, &name);
                        let exact = wide * factor * (dy[r] - mean(&dy) - unit[r] * mean(&products));
                        assert_within(dx[at], exact, 3e-5, &name);
                        assert_within(fixed[at], factor * dy[r], 3e-5, &name);
                    }
                }
            }
        });
    }

    #[test]
    fn a_common_level_does_not_spoil_the_variance() {
        at_every_level(|level| {
            let x: Vec<f32> = (0..3000).map(|i| 1e4 + (i * 7 % 11) as f32).collect();
            let (mut means, mut variances) = ([0.0; 3], [0.0; 3]);
            column_moments(&x, &mut means, &mut variances);
            for c in 0..3 {
                let x = column(&x, 3, c);
                let centre = mean(&x);
                let variance = mean(&x.iter().map(|x| (x - centre).powi(2)).collect::<Vec<_>>());
                assert_within(means[c], centre, 2e-3, level);
                assert_within(variances[c], variance, 1e-5 * variance, level);
            }
        });
    }

    #[test]
    fn no_rows_and_no_columns() {
        column_moments(&[], &mut [], &mut []);
        normalise_columns(&[], &[0.0; 3], &[1.0; 3], None, &mut []);
    }

    #[test]
    #[should_panic(expected = "7 elements are no whole rows of 2")]
    fn broken_rows_are_refused() {
        column_moments(&[0.0; 7], &mut [0.0; 2], &mut [0.0; 2]);
    }
}
