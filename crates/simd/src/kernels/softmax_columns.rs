//! Softmax and log-softmax down the columns of a matrix, forward and backward: [`softmax_rows`] of the transpose
//! without transposing anything. Columns are taken in strips whose maxima and sums stay in the first cache.
//!
//! [`softmax_rows`]: crate::softmax_rows

use crate::isa::{Simd, WithSimd};

use crate::kernels::exp::exp_or_zero_lanes;
use crate::kernels::softmax::whole_rows;
use crate::level::dispatch;
use crate::loops::{Map, map_in, same_len};
use crate::vector::Vectors;

/// Columns whose maxima and sums are kept beside each other.
const STRIP: usize = 128;

/// Numbers of the widest vector.
const VECTOR: usize = 16;

/// Writes a step that makes new values of one vector of each slice.
macro_rules! steps {
    ($($name:ident: [$($x:ident),*] with [$($y:ident),*] => [$($new:expr),*];)*) => { $(
        #[derive(Clone, Copy)]
        struct $name;

        impl Map<f32, { [$(stringify!($x)),*].len() }, { [$(stringify!($y)),*].len() }> for $name {
            #[inline(always)]
            fn map<S: Simd>(
                self,
                [$($x),*]: Vectors<f32, S, { [$(stringify!($x)),*].len() }>,
                [$($y),*]: Vectors<f32, S, { [$(stringify!($y)),*].len() }>,
            ) -> Vectors<f32, S, { [$(stringify!($y)),*].len() }> {
                [$($new),*]
            }
        }
    )* };
}

steps! {
    // `at_least` keeps a NaN of its receiver only.
    Largest: [x] with [max] => [x.is_nan().select(x, max.at_least(x))];
    Exponent: [x, max] with [sum, _out] => [sum + exp_or_zero_lanes(x - max), exp_or_zero_lanes(x - max)];
    SumExponents: [x, max] with [sum] => [sum + exp_or_zero_lanes(x - max)];
    Product: [factor] with [out] => [out * factor];
    // The large parts first.
    Shift: [x, max, log_sum] with [_out] => [(x - max) - log_sum];
    AddProduct: [y, grad] with [sum] => [y.mul_add(grad, sum)];
    Add: [grad] with [sum] => [sum + grad];
    Pull: [y, sum] with [grad] => [y * (grad - sum)];
    PullLog: [y, sum] with [grad] => [exp_or_zero_lanes(y).mul_add(-sum, grad)];
    PullMean: [value, mean, grad] with [weight] => [weight * (grad * (value - mean))];
}

/// Some of the columns, and how many rows of them are taken at a time.
///
/// Several short rows make up whole vectors, and many of them: those of a single row would wait for its maxima and sums to
/// come back from memory, which is where they go between two rows.
#[derive(Clone, Copy)]
struct Strip {
    from: usize,
    width: usize,
    rows: usize,
}

impl Strip {
    /// The strips of a matrix of this many columns.
    #[inline(always)]
    fn all(cols: usize) -> impl Iterator<Item = Self> {
        let whole = |rows: &usize| (rows * cols).is_multiple_of(VECTOR);
        let rows = (1..=STRIP / cols.max(1)).rev().find(whole).unwrap_or(1);
        (0..cols).step_by(STRIP).map(move |from| Self { from, width: STRIP.min(cols - from), rows })
    }

    /// The numbers of these columns in a matrix of this many, some rows at a time; several rows have no others.
    #[inline(always)]
    fn parts(self, len: usize, cols: usize) -> impl Iterator<Item = std::ops::Range<usize>> + Clone {
        let (Self { from, width, rows }, all) = (self, len / cols);
        let part = move |row| row * cols + from..(all.min(row + rows) - 1) * cols + from + width;
        (0..all).step_by(rows).map(part)
    }

    /// Brings together what was found for each of several rows, and puts what `finish` makes of it beside each again.
    #[inline(always)]
    fn join(self, found: &mut [f32; STRIP], join: impl Fn(f32, f32) -> f32, finish: impl Fn(f32) -> f32) {
        let (first, others) = found[..self.rows * self.width].split_at_mut(self.width);
        for other in others.chunks_exact(self.width) {
            first.iter_mut().zip(other).for_each(|(first, other)| *first = join(*first, *other));
        }
        first.iter_mut().for_each(|first| *first = finish(*first));
        others.chunks_exact_mut(self.width).for_each(|other| other.copy_from_slice(first));
    }
}

/// The larger of two numbers, or NaN if either is.
fn largest(a: f32, b: f32) -> f32 {
    if b.is_nan() || b > a { b } else { a }
}

struct Forward<'a, const LOG: bool> {
    x: &'a [f32],
    cols: usize,
    out: &'a mut [f32],
}

impl<const LOG: bool> WithSimd for Forward<'_, LOG> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { x, cols, out } = self;
        for strip in Strip::all(cols) {
            let parts = strip.parts(x.len(), cols);
            let (mut max, mut sum) = ([f32::NEG_INFINITY; STRIP], [0.0f32; STRIP]);
            for part in parts.clone() {
                map_in(simd, Largest, [&x[part.clone()]], [&mut max[..part.len()]]);
            }
            strip.join(&mut max, largest, |max| max);
            for part in parts.clone() {
                let (max, sum) = (&max[..part.len()], &mut sum[..part.len()]);
                if LOG {
                    map_in(simd, SumExponents, [&x[part], max], [sum]);
                } else {
                    map_in(simd, Exponent, [&x[part.clone()], max], [sum, &mut out[part]]);
                }
            }
            strip.join(&mut sum, |a, b| a + b, |sum| if LOG { sum.ln() } else { 1.0 / sum });
            for part in parts {
                let (max, sum) = (&max[..part.len()], &sum[..part.len()]);
                if LOG {
                    map_in(simd, Shift, [&x[part.clone()], max, sum], [&mut out[part]]);
                } else {
                    map_in(simd, Product, [sum], [&mut out[part]]);
                }
            }
        }
    }
}

struct Backward<'a, const LOG: bool> {
    output: &'a [f32],
    cols: usize,
    grad: &'a mut [f32],
}

impl<const LOG: bool> WithSimd for Backward<'_, LOG> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { output, cols, grad } = self;
        for strip in Strip::all(cols) {
            let parts = strip.parts(output.len(), cols);
            let mut sum = [0.0f32; STRIP];
            for part in parts.clone() {
                let sum = &mut sum[..part.len()];
                if LOG {
                    map_in(simd, Add, [&grad[part]], [sum]);
                } else {
                    map_in(simd, AddProduct, [&output[part.clone()], &grad[part]], [sum]);
                }
            }
            strip.join(&mut sum, |a, b| a + b, |sum| sum);
            for part in parts {
                let sum = &sum[..part.len()];
                if LOG {
                    map_in(simd, PullLog, [&output[part.clone()], sum], [&mut grad[part]]);
                } else {
                    map_in(simd, Pull, [&output[part.clone()], sum], [&mut grad[part]]);
                }
            }
        }
    }
}

struct MeanBackward<'a> {
    values: &'a [f32],
    means: &'a [f32],
    grad: &'a [f32],
    weights: &'a mut [f32],
}

impl WithSimd for MeanBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { values, means, grad, weights } = self;
        let cols = means.len();
        for strip in Strip::all(cols) {
            // Each column's numbers beside each row, each row's beside each column.
            let (columns, all) = (strip.from..strip.from + strip.width, strip.rows * strip.width);
            let [mut mean, mut slope, mut value] = [[0.0f32; STRIP]; 3];
            for (mean, slope) in
                mean[..all].chunks_exact_mut(strip.width).zip(slope.chunks_exact_mut(strip.width))
            {
                mean.copy_from_slice(&means[columns.clone()]);
                slope.copy_from_slice(&grad[columns.clone()]);
            }
            for (part, values) in strip.parts(weights.len(), cols).zip(values.chunks(strip.rows)) {
                for (value, x) in value.chunks_exact_mut(strip.width).zip(values) {
                    value.fill(*x);
                }
                let len = part.len();
                map_in(simd, PullMean, [&value[..len], &mean[..len], &slope[..len]], [&mut weights[part]]);
            }
        }
    }
}

/// `out = e^x / sum(e^x)` over each column of `x [rows, cols]`; each result within
/// `4 + rows + (max - x) / 2` ULP, or 0 where `x` is 87.3 and more below the largest.
///
/// # Panics
/// If the slices differ in length or are no whole rows.
#[track_caller]
pub fn softmax_columns(x: &[f32], cols: usize, out: &mut [f32]) {
    same_len(x.len(), out.len());
    whole_rows(x.len(), cols);
    if cols > 0 {
        dispatch(Forward::<false> { x, cols, out });
    }
}

/// The gradient of [`softmax_columns`]: `grad = output * (grad - sum(output * grad))` over each column.
///
/// # Panics
/// If the slices differ in length or are no whole rows.
#[track_caller]
pub fn softmax_columns_backward(output: &[f32], cols: usize, grad: &mut [f32]) {
    same_len(output.len(), grad.len());
    whole_rows(output.len(), cols);
    if cols > 0 {
        dispatch(Backward::<false> { output, cols, grad });
    }
}

/// `out = x - ln(sum(e^x))` over each column of `x [rows, cols]`, within 4 + rows ULP of
/// `max(1, |out|)`.
///
/// # Panics
/// If the slices differ in length or are no whole rows.
#[track_caller]
pub fn log_softmax_columns(x: &[f32], cols: usize, out: &mut [f32]) {
    same_len(x.len(), out.len());
    whole_rows(x.len(), cols);
    if cols > 0 {
        dispatch(Forward::<true> { x, cols, out });
    }
}

/// The gradient of [`log_softmax_columns`]: `grad -= e^output * sum(grad)` over each column.
///
/// # Panics
/// If the slices differ in length or are no whole rows.
#[track_caller]
pub fn log_softmax_columns_backward(output: &[f32], cols: usize, grad: &mut [f32]) {
    same_len(output.len(), grad.len());
    whole_rows(output.len(), cols);
    if cols > 0 {
        dispatch(Backward::<true> { output, cols, grad });
    }
}

/// The gradient of means by [`softmax_columns`] as weights, `means[j] = sum(weights[i][j] * values[i])`: with `grad`, that of
/// the means, `weights [values.len(), means.len()]` becomes that of the softmax's input, `weights * grad * (value - mean)`.
///
/// # Panics
/// If the lengths do not fit together.
#[track_caller]
pub fn softmax_columns_mean_backward(values: &[f32], means: &[f32], grad: &[f32], weights: &mut [f32]) {
    same_len(means.len(), grad.len());
    same_len(values.len() * means.len(), weights.len());
    if !means.is_empty() {
        dispatch(MeanBackward { values, means, grad, weights });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_within, at_every_level, for_every_length};

    #[test]
    fn equals_the_definition_column_by_column() {
        for_every_length(|case| {
            for cols in [case.len.clamp(1, 300), case.len.clamp(1, 300) % 23 + 1] {
                let rows = case.len / cols;
                let x: Vec<f32> = case.between::<f32>(-9.0, 9.0)[..rows * cols].to_vec();
                let upstream: Vec<f32> = case.numbers::<f32>()[..rows * cols].to_vec();
                let (mut y, mut log_y) = (vec![0.0; x.len()], vec![0.0; x.len()]);
                softmax_columns(&x, cols, &mut y);
                log_softmax_columns(&x, cols, &mut log_y);
                let (mut grad, mut log_grad) = (upstream.clone(), upstream.clone());
                softmax_columns_backward(&y, cols, &mut grad);
                log_softmax_columns_backward(&log_y, cols, &mut log_grad);

                for c in 0..cols {
                    let column = |x: &[f32]| -> Vec<f64> {
                        x.iter().skip(c).step_by(cols).map(|&x| x.into()).collect()
                    };
                    let (x, g) = (column(&x), column(&upstream));
                    let max = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    let sum: f64 = x.iter().map(|x| (x - max).exp()).sum();
                    let p: Vec<f64> = x.iter().map(|x| (x - max).exp() / sum).collect();
                    let dot: f64 = p.iter().zip(&g).map(|(p, g)| p * g).sum();
                    let (total, size): (f64, f64) = (g.iter().sum(), g.iter().map(|g| g.abs()).sum());
                    for r in 0..rows {
                        let at = r * cols + c;
                        let limit = (4.0 + rows as f64 + (max - x[r]) / 2.0) * f64::from(f32::EPSILON);
                        let (p, g) = (p[r], g[r]);
                        assert_within(y[at], p, limit * p, &case.name);
                        assert_within(log_y[at], p.ln(), limit * p.ln().abs().max(1.0), &case.name);
                        assert_within(grad[at], p * (g - dot), 4.0 * limit * p, &case.name);
                        let room = limit * (2.0 + 20.0 * p * size);
                        assert_within(log_grad[at], g - p * total, room, &case.name);
                    }
                }
            }
        });
    }

    #[test]
    fn the_gradient_of_means_is_that_of_their_definition() {
        for_every_length(|case| {
            for cols in [case.len.clamp(1, 300), case.len.clamp(1, 300) % 23 + 1] {
                let rows = case.len / cols;
                let weights: Vec<f32> = case.between::<f32>(0.0, 1.0)[..rows * cols].to_vec();
                let values = &case.between::<f32>(-9.0, 9.0)[..rows];
                let numbers = case.numbers::<f32>();
                let (means, grad): (Vec<f32>, _) =
                    (numbers.iter().rev().copied().take(cols).collect(), &numbers);
                if means.len() < cols {
                    continue; // A single column of no rows.
                }
                let mut found = weights.clone();
                softmax_columns_mean_backward(values, &means, &grad[..cols], &mut found);
                for (at, found) in found.into_iter().enumerate() {
                    let (i, j) = (at / cols, at % cols);
                    let [w, v, m, g] = [weights[at], values[i], means[j], grad[j]].map(f64::from);
                    let room = 4.0 * f64::from(f32::EPSILON) * (w * g).abs() * (v.abs() + m.abs());
                    assert_within(found, w * g * (v - m), room, &case.name);
                }
            }
        });
    }

    #[test]
    fn special_values_stay_in_their_column() {
        at_every_level(|level| {
            let inf = f32::INFINITY;
            // Columns: large, minus infinity in one place, NaN, minus infinity alone.
            let x = [1e30, -inf, f32::NAN, -inf, 1e30, 0.0, 1.0, -inf];
            let mut y = [7.0; 8];
            softmax_columns(&x, 4, &mut y);
            assert_eq!([y[0], y[4], y[1], y[5]], [0.5, 0.5, 0.0, 1.0], "{level}");
            assert!([y[2], y[6], y[3], y[7]].iter().all(|y| y.is_nan()), "{level} {y:?}");
            log_softmax_columns(&x, 4, &mut y);
            assert_eq!([y[1], y[5]], [-inf, 0.0], "{level}");
            assert!([y[2], y[6], y[3], y[7]].iter().all(|y| y.is_nan()), "{level} {y:?}");
            softmax_columns(&[], 0, &mut []);
            softmax_columns(&[], 3, &mut []);
        });
    }
}
