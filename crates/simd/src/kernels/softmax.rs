//! Softmax and log-softmax over the rows of a matrix, forward and backward.
//!
//! The maximum of a row is subtracted first, so no finite row overflows. A row of minus
//! infinities only, or with NaN or plus infinity in it, is NaN, as in PyTorch.

use crate::isa::{Simd, WithSimd};

use crate::kernels::elementwise::Scale;
use crate::kernels::exp::exp_or_zero_lanes;
use crate::kernels::reductions::{Dot, Extreme, Sum};
use crate::level::dispatch;
use crate::loops::{Fold, Map, fold_in, map_in, same_len};
use crate::vector::Vectors;

/// Checks that `len` elements are whole rows of `cols`.
#[track_caller]
pub(crate) fn whole_rows(len: usize, cols: usize) {
    let whole = if cols == 0 { len == 0 } else { len.is_multiple_of(cols) };
    assert!(whole, "{len} elements are no whole rows of {cols}");
}

/// The sum of `e^(x - shift)`; with a slice for them, `W` 1, writes the terms.
#[derive(Clone, Copy)]
struct ExpSum(f32);

impl<const W: usize> Fold<f32, 1, W, 1> for ExpSum {
    #[inline(always)]
    fn step<S: Simd>(
        self,
        [acc]: Vectors<f32, S, 1>,
        [x]: Vectors<f32, S, 1>,
        mut y: Vectors<f32, S, W>,
    ) -> (Vectors<f32, S, 1>, Vectors<f32, S, W>) {
        let e = exp_or_zero_lanes(x - self.0);
        if W == 1 {
            y[0] = e;
        }
        ([acc + e], y)
    }
}

struct Softmax<'a> {
    x: &'a [f32],
    cols: usize,
    out: &'a mut [f32],
}

impl WithSimd for Softmax<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (x, out) in self.x.chunks(self.cols).zip(self.out.chunks_mut(self.cols)) {
            let [max] = fold_in::<4, _, _, _, _, _>(simd, Extreme::<1>, [x], []);
            let [sum] = fold_in::<2, _, _, 1, 1, 1>(simd, ExpSum(max), [x], [out]);
            map_in(simd, Scale(1.0 / sum), [], [out]);
        }
    }
}

/// `out = e^x / sum(e^x)` over each row of `cols` elements; each result within 4 + log2(cols) ULP, or 0
/// where `x` is 87.3 and more below the largest.
///
/// # Panics
/// If the slices differ in length or are no whole rows.
#[track_caller]
pub fn softmax_rows(x: &[f32], cols: usize, out: &mut [f32]) {
    same_len(x.len(), out.len());
    whole_rows(x.len(), cols);
    if cols > 0 {
        dispatch(Softmax { x, cols, out });
    }
}

/// `grad = y (grad - shift)`.
#[derive(Clone, Copy)]
pub(crate) struct ScoreGradient(pub(crate) f32);

impl Map<f32, 1, 1> for ScoreGradient {
    #[inline(always)]
    fn map<S: Simd>(self, [y]: Vectors<f32, S, 1>, [grad]: Vectors<f32, S, 1>) -> Vectors<f32, S, 1> {
        [y * (grad - self.0)]
    }
}

struct SoftmaxBackward<'a> {
    output: &'a [f32],
    cols: usize,
    grad: &'a mut [f32],
}

impl WithSimd for SoftmaxBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (y, grad) in self.output.chunks(self.cols).zip(self.grad.chunks_mut(self.cols)) {
            let [shift] = fold_in::<4, _, _, _, _, _>(simd, Dot, [y, grad], []);
            map_in(simd, ScoreGradient(shift), [y], [grad]);
        }
    }
}

/// The gradient of [`softmax_rows`]: `grad = output * (grad - dot(output, grad))` over each row.
///
/// # Panics
/// If the slices differ in length or are no whole rows.
#[track_caller]
pub fn softmax_rows_backward(output: &[f32], cols: usize, grad: &mut [f32]) {
    same_len(output.len(), grad.len());
    whole_rows(output.len(), cols);
    if cols > 0 {
        dispatch(SoftmaxBackward { output, cols, grad });
    }
}

/// `(x - max) - log_sum`, the large parts first.
#[derive(Clone, Copy)]
struct Shift {
    max: f32,
    log_sum: f32,
}

impl Map<f32, 1, 1> for Shift {
    #[inline(always)]
    fn map<S: Simd>(self, [x]: Vectors<f32, S, 1>, _: Vectors<f32, S, 1>) -> Vectors<f32, S, 1> {
        [(x - self.max) - self.log_sum]
    }
}

struct LogSoftmax<'a> {
    x: &'a [f32],
    cols: usize,
    out: &'a mut [f32],
}

impl WithSimd for LogSoftmax<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (x, out) in self.x.chunks(self.cols).zip(self.out.chunks_mut(self.cols)) {
            let [max] = fold_in::<4, _, _, _, _, _>(simd, Extreme::<1>, [x], []);
            let [sum] = fold_in::<2, _, _, 1, 0, 1>(simd, ExpSum(max), [x], []);
            map_in(simd, Shift { max, log_sum: sum.ln() }, [x], [out]);
        }
    }
}

/// `out = x - ln(sum(e^x))` over each row of `cols` elements, within 4 + log2(cols) ULP of
/// `max(1, |out|)`.
///
/// # Panics
/// If the slices differ in length or are no whole rows.
#[track_caller]
pub fn log_softmax_rows(x: &[f32], cols: usize, out: &mut [f32]) {
    same_len(x.len(), out.len());
    whole_rows(x.len(), cols);
    if cols > 0 {
        dispatch(LogSoftmax { x, cols, out });
    }
}

/// `grad - e^y total`.
#[derive(Clone, Copy)]
struct PullLogSoftmax(f32);

impl Map<f32, 1, 1> for PullLogSoftmax {
    #[inline(always)]
    fn map<S: Simd>(self, [y]: Vectors<f32, S, 1>, [grad]: Vectors<f32, S, 1>) -> Vectors<f32, S, 1> {
        [exp_or_zero_lanes(y).mul_add(-self.0, grad)]
    }
}

struct LogSoftmaxBackward<'a> {
    output: &'a [f32],
    cols: usize,
    grad: &'a mut [f32],
}

impl WithSimd for LogSoftmaxBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (y, grad) in self.output.chunks(self.cols).zip(self.grad.chunks_mut(self.cols)) {
            let [total] = fold_in::<4, _, _, _, _, _>(simd, Sum, [grad], []);
            map_in(simd, PullLogSoftmax(total), [y], [grad]);
        }
    }
}

/// The gradient of [`log_softmax_rows`]: `grad -= e^output * sum(grad)` over each row.
///
/// # Panics
/// If the slices differ in length or are no whole rows.
#[track_caller]
pub fn log_softmax_rows_backward(output: &[f32], cols: usize, grad: &mut [f32]) {
    same_len(output.len(), grad.len());
    whole_rows(output.len(), cols);
    if cols > 0 {
        dispatch(LogSoftmaxBackward { output, cols, grad });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_within, at_every_level, for_every_length};

    fn naive(x: &[f32]) -> Vec<f64> {
        let max = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let e: Vec<f64> = x.iter().map(|&x| (f64::from(x) - f64::from(max)).exp()).collect();
        let sum: f64 = e.iter().sum();
        e.iter().map(|e| e / sum).collect()
    }

    #[test]
    fn equals_the_definition_row_by_row() {
        for_every_length(|case| {
            let cols = case.len.clamp(1, 700);
            let rows = case.len / cols;
            let x: Vec<f32> = case.between::<f32>(-9.0, 9.0)[..rows * cols].to_vec();
            let upstream: Vec<f32> = case.numbers::<f32>()[..rows * cols].to_vec();
            let limit = (4.0 + (cols as f64).log2()) * f64::from(f32::EPSILON);

            let (mut y, mut log_y) = (vec![0.0; x.len()], vec![0.0; x.len()]);
            softmax_rows(&x, cols, &mut y);
            log_softmax_rows(&x, cols, &mut log_y);
            let (mut grad, mut log_grad) = (upstream.clone(), upstream.clone());
            softmax_rows_backward(&y, cols, &mut grad);
            log_softmax_rows_backward(&log_y, cols, &mut log_grad);

            for row in 0..rows {
                let range = row * cols..(row + 1) * cols;
                let exact = naive(&x[range.clone()]);
                let g = &upstream[range.clone()];
                let dot: f64 = exact.iter().zip(g).map(|(p, &g)| p * f64::from(g)).sum();
                let total: f64 = g.iter().map(|&g| f64::from(g)).sum();
                let size: f64 = g.iter().map(|&g| f64::from(g).abs()).sum();
                for (k, i) in range.enumerate() {
                    let (p, g) = (exact[k], f64::from(g[k]));
                    assert_within(y[i], p, limit * p, &case.name);
                    assert_within(log_y[i], p.ln(), limit * p.ln().abs().max(1.0), &case.name);
                    assert_within(grad[i], p * (g - dot), 4.0 * limit * p, &case.name);
                    let room = limit * (2.0 + 20.0 * p * size);
                    assert_within(log_grad[i], g - p * total, room, &case.name);
                }
            }
        });
    }

    #[test]
    fn large_values_do_not_overflow() {
        at_every_level(|level| {
            let x = [1e30, 1e30, f32::NEG_INFINITY, 0.0];
            let mut y = [7.0; 4];
            softmax_rows(&x, 4, &mut y);
            assert_eq!(y, [0.5, 0.5, 0.0, 0.0], "{level}");
            log_softmax_rows(&x, 4, &mut y);
            assert_eq!(y[2], f32::NEG_INFINITY, "{level}");
            assert_eq!(y[0], -std::f32::consts::LN_2, "{level}");
        });
    }

    #[test]
    fn rows_without_a_finite_maximum_are_nan() {
        at_every_level(|level| {
            for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                let mut x = [bad; 5];
                if bad > 0.0 {
                    x[1..].fill(1.0);
                }
                let mut y = [0.0; 5];
                softmax_rows(&x, 5, &mut y);
                assert!(y.iter().any(|y| y.is_nan()), "{level} {bad}");
                log_softmax_rows(&x, 5, &mut y);
                assert!(y.iter().any(|y| y.is_nan()), "{level} {bad}");
            }
            softmax_rows(&[], 0, &mut []);
            softmax_rows(&[], 3, &mut []);
        });
    }

    #[test]
    #[should_panic(expected = "5 elements are no whole rows of 3")]
    fn broken_rows_are_refused() {
        softmax_rows(&[0.0; 5], 3, &mut [0.0; 5]);
    }
}
