//! Sixteen small matrices at once: numbers of the same place lie beside each other, so that each lane of a vector computes
//! a matrix of its own. No width is too small to fill a vector, and sums along rows or columns need no shuffles
//! (the "compact" layout of Kim et al. 2017, "Designing vector-friendly compact BLAS and LAPACK kernels").

use crate::isa::{Simd, WithSimd};

use crate::kernels::exp::exp_or_zero_lanes;
use crate::kernels::ln::ln_lanes;
use crate::level::dispatch;
use crate::loops::same_len;
use crate::vector::{Lanes, Vector};

/// How many matrices are interleaved.
pub const INTERLEAVED: usize = 16;

type F32s<S> = Vector<f32, S>;

/// The lanes of a level's vector, sixteen of them at most, one after the other.
#[inline(always)]
fn parts<S: Simd>() -> impl Iterator<Item = usize> {
    const { assert!(S::F32_LANES <= INTERLEAVED) };
    (0..INTERLEAVED).step_by(f32::lanes::<S>())
}

/// Sixteen matrices, interleaved.
#[derive(Clone, Copy, Debug)]
pub struct Interleaved<'a> {
    data: &'a [f32],
    size: [usize; 2],
    steps: [usize; 2],
}

impl<'a> Interleaved<'a> {
    /// Matrices of `rows` rows, `data [rows, columns, 16]`.
    ///
    /// # Panics
    /// If these are no whole rows.
    #[track_caller]
    pub fn row_major(data: &'a [f32], rows: usize) -> Self {
        let cols = (data.len() / INTERLEAVED).checked_div(rows).unwrap_or(0);
        same_len(data.len(), rows * cols * INTERLEAVED);
        Self { data, size: [rows, cols], steps: [cols * INTERLEAVED, INTERLEAVED] }
    }

    /// Each of them transposed.
    pub fn t(self) -> Self {
        let Self { data, size: [rows, cols], steps: [down, right] } = self;
        Self { data, size: [cols, rows], steps: [right, down] }
    }
}

struct Products<'a> {
    alpha: f32,
    a: Interleaved<'a>,
    b: Interleaved<'a>,
    out: &'a mut [f32],
}

/// Numbers of the result that are summed at once, down and to the right: eight vectors are read for sixteen products. With fewer
/// than 32 registers it is half of that to the right.
const BLOCK: usize = 4;

impl WithSimd for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let [rows, cols] = [self.a.size[0], self.b.size[1]];
        let Self { alpha, a, b, out } = self;
        let wide = if const { S::REGISTER_COUNT >= 32 } { BLOCK } else { BLOCK / 2 };
        for part in parts::<S>() {
            let mut i = 0;
            while i < rows {
                let high = if rows - i >= BLOCK { BLOCK } else { 1 };
                let mut j = 0;
                while j < cols {
                    let right = if cols - j >= wide { wide } else { 1 };
                    let at = [i, j, part];
                    match (high, right) {
                        (BLOCK, BLOCK) => block::<S, BLOCK, BLOCK>(simd, alpha, [a, b], at, cols, out),
                        (BLOCK, 2) => block::<S, BLOCK, 2>(simd, alpha, [a, b], at, cols, out),
                        (BLOCK, _) => block::<S, BLOCK, 1>(simd, alpha, [a, b], at, cols, out),
                        (_, BLOCK) => block::<S, 1, BLOCK>(simd, alpha, [a, b], at, cols, out),
                        (_, 2) => block::<S, 1, 2>(simd, alpha, [a, b], at, cols, out),
                        _ => block::<S, 1, 1>(simd, alpha, [a, b], at, cols, out),
                    }
                    j += right;
                }
                i += high;
            }
        }
    }
}

/// `M` rows and `N` columns of a product, of one vector's matrices.
#[inline(always)]
fn block<S: Simd, const M: usize, const N: usize>(
    simd: S,
    alpha: f32,
    [a, b]: [Interleaved<'_>; 2],
    [i, j, part]: [usize; 3],
    cols: usize,
    out: &mut [f32],
) {
    let mut sums = [[Vector::of(simd, 0.0); N]; M];
    for k in 0..a.size[1] {
        let (down, right) = (i * a.steps[0] + k * a.steps[1] + part, k * b.steps[0] + j * b.steps[1] + part);
        let mut factors = [Vector::of(simd, 0.0); N];
        for n in 0..N {
            // SAFETY: row k and column j + n are there.
            factors[n] = unsafe { Vector::load(simd, b.data.as_ptr().add(right + n * b.steps[1])) };
        }
        for m in 0..M {
            // SAFETY: row i + m and column k are there.
            let x = unsafe { Vector::load(simd, a.data.as_ptr().add(down + m * a.steps[0])) };
            for n in 0..N {
                sums[m][n] = x.mul_add(factors[n], sums[m][n]);
            }
        }
    }
    for m in 0..M {
        for n in 0..N {
            (sums[m][n] * alpha).write(&mut out[((i + m) * cols + j + n) * INTERLEAVED + part..]);
        }
    }
}

/// `out = alpha a b` for each of sixteen products, `out [rows of a, columns of b, 16]`.
///
/// # Panics
/// If the sizes do not fit.
#[track_caller]
pub fn interleaved_products(alpha: f32, a: Interleaved<'_>, b: Interleaved<'_>, out: &mut [f32]) {
    same_len(a.size[1], b.size[0]);
    same_len(out.len(), a.size[0] * b.size[1] * INTERLEAVED);
    dispatch(Products { alpha, a, b, out });
}

/// A pass over the rows of interleaved matrices: `x`, `y` and `state` have `rows` rows each, of lengths of their own.
struct Rows<'a, F> {
    rows: usize,
    x: &'a mut [f32],
    y: &'a [f32],
    state: &'a mut [f32],
    visit: F,
}

/// A function of a row, of whose matrices the vector at `part` has some.
trait Visit: Copy {
    fn visit<S: Simd>(self, simd: S, part: usize, x: &mut [f32], y: &[f32], state: &mut [f32]);
}

impl<F: Visit> WithSimd for Rows<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { rows, x, y, state, visit } = self;
        let [x_len, y_len, state_len] = [x.len(), y.len(), state.len()].map(|len| len / rows);
        for row in 0..rows {
            let x = &mut x[row * x_len..][..x_len];
            let (y, state) = (&y[row * y_len..][..y_len], &mut state[row * state_len..][..state_len]);
            for part in parts::<S>() {
                visit.visit(simd, part, x, y, state);
            }
        }
    }
}

/// The vectors at `part` of a row.
#[inline(always)]
fn each<S: Simd>(simd: S, part: usize, x: &[f32]) -> impl Iterator<Item = F32s<S>> {
    x.chunks_exact(INTERLEAVED).map(
        #[inline(always)]
        move |x| Vector::read(simd, &x[part..]),
    )
}

#[derive(Clone, Copy)]
struct Softmax;

impl Visit for Softmax {
    #[inline(always)]
    fn visit<S: Simd>(self, simd: S, part: usize, x: &mut [f32], _: &[f32], state: &mut [f32]) {
        let none = Vector::of(simd, f32::NEG_INFINITY);
        let (mut max, mut sum) = (none, Vector::of(simd, 0.0));
        for x in each(simd, part, x) {
            max = max.at_least(x);
        }
        let hidden = max.equal(none);
        let shift = hidden.select(0.0, max);
        for x in x.chunks_exact_mut(INTERLEAVED) {
            let e = exp_or_zero_lanes(Vector::read(simd, &x[part..]) - shift);
            sum = sum + e;
            e.write(&mut x[part..]);
        }
        let factor = hidden.select(0.0, Vector::of(simd, 1.0) / sum);
        for x in x.chunks_exact_mut(INTERLEAVED) {
            (Vector::read(simd, &x[part..]) * factor).write(&mut x[part..]);
        }
        hidden.select(none, max + ln_lanes(sum)).write(&mut state[part..]);
    }
}

/// The softmax of each row of `scores [rows, columns, 16]` in place, zeros where all scores are minus infinity; and to
/// `stats [rows, 16]` the logarithms of the sums of `e^score`.
///
/// # Panics
/// If `scores` is no whole rows.
#[track_caller]
pub fn interleaved_softmax(scores: &mut [f32], stats: &mut [f32]) {
    match rows_of(scores, stats.len() / INTERLEAVED) {
        0 => stats.fill(f32::NEG_INFINITY),
        rows => dispatch(Rows { rows, x: scores, y: &[], state: stats, visit: Softmax }),
    }
}

#[derive(Clone, Copy)]
struct SoftmaxAgain;

impl Visit for SoftmaxAgain {
    #[inline(always)]
    fn visit<S: Simd>(self, simd: S, part: usize, x: &mut [f32], y: &[f32], _: &mut [f32]) {
        let stat = Vector::read(simd, &y[part..]);
        let shift = stat.equal(f32::NEG_INFINITY).select(0.0, stat);
        for x in x.chunks_exact_mut(INTERLEAVED) {
            exp_or_zero_lanes(Vector::read(simd, &x[part..]) - shift).write(&mut x[part..]);
        }
    }
}

/// The probabilities that [`interleaved_softmax`] made of the same `scores [rows, columns, 16]`, once more from its
/// `stats [rows, 16]`.
///
/// # Panics
/// If `scores` is no whole rows.
#[track_caller]
pub fn interleaved_softmax_again(scores: &mut [f32], stats: &[f32]) {
    match rows_of(scores, stats.len() / INTERLEAVED) {
        0 => (),
        rows => dispatch(Rows { rows, x: scores, y: stats, state: &mut [], visit: SoftmaxAgain }),
    }
}

#[derive(Clone, Copy)]
struct Pull;

impl Visit for Pull {
    #[inline(always)]
    fn visit<S: Simd>(self, simd: S, part: usize, x: &mut [f32], y: &[f32], _: &mut [f32]) {
        let mut mean = Vector::of(simd, 0.0);
        for (grad, p) in each(simd, part, x).zip(each(simd, part, y)) {
            mean = grad.mul_add(p, mean);
        }
        for (grad, p) in x.chunks_exact_mut(INTERLEAVED).zip(each(simd, part, y)) {
            (p * (Vector::read(simd, &grad[part..]) - mean)).write(&mut grad[part..]);
        }
    }
}

/// From the gradient of the `probabilities [rows, columns, 16]` that a softmax made, that of its scores, in place.
///
/// # Panics
/// If the slices differ in length or are no whole rows.
#[track_caller]
pub fn interleaved_softmax_backward(rows: usize, probabilities: &[f32], grad: &mut [f32]) {
    same_len(probabilities.len(), grad.len());
    match rows_of(grad, rows) {
        0 => (),
        rows => dispatch(Rows { rows, x: grad, y: probabilities, state: &mut [], visit: Pull }),
    }
}

/// The number of rows, 0 if there is nothing in them.
#[track_caller]
fn rows_of(x: &[f32], rows: usize) -> usize {
    let whole = x.is_empty() || (rows > 0 && x.len().is_multiple_of(rows * INTERLEAVED));
    assert!(whole, "{} interleaved numbers are no {rows} rows", x.len());
    if x.is_empty() { 0 } else { rows }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_within, at_every_level};

    fn numbers(len: usize, seed: usize) -> Vec<f32> {
        (0..len).map(|i| ((i * 7919 + seed * 104_729) % 997) as f32 / 250.0 - 2.0).collect()
    }

    #[test]
    fn products_of_every_size_and_direction() {
        at_every_level(|level| {
            for (m, k, n) in [(1, 1, 1), (4, 3, 4), (12, 8, 12), (5, 2, 7), (9, 11, 6)] {
                let (a, b) = (numbers(m * k * 16, 1), numbers(k * n * 16, 2));
                let name = format!("{level:?}: {m}x{k}x{n}");
                let mut transposed = [vec![0.0; a.len()], vec![0.0; b.len()]];
                for (x, t, rows, cols) in [(&a, 0, m, k), (&b, 1, k, n)] {
                    for at in 0..x.len() {
                        let (place, l) = (at / 16, at % 16);
                        transposed[t][(place % cols * rows + place / cols) * 16 + l] = x[at];
                    }
                }
                let [at, bt] = &transposed;
                let ways = [
                    [Interleaved::row_major(&a, m), Interleaved::row_major(&b, k)],
                    [Interleaved::row_major(at, k).t(), Interleaved::row_major(bt, n).t()],
                ];
                for [left, right] in ways {
                    let mut out = vec![f32::NAN; m * n * 16];
                    interleaved_products(0.5, left, right, &mut out);
                    for (at, value) in out.iter().enumerate() {
                        let (i, j, l) = (at / 16 / n, at / 16 % n, at % 16);
                        let terms =
                            (0..k).map(|p| f64::from(a[(i * k + p) * 16 + l] * b[(p * n + j) * 16 + l]));
                        assert_within(*value, 0.5 * terms.sum::<f64>(), 2e-5, &name);
                    }
                }
            }
        });
    }

    #[test]
    fn products_over_nothing_are_zeros() {
        at_every_level(|_| {
            let mut out = vec![f32::NAN; 3 * 2 * 16];
            interleaved_products(
                0.5,
                Interleaved::row_major(&[], 3),
                Interleaved::row_major(&[], 2).t(),
                &mut out,
            );
            assert_eq!(out, [0.0; 3 * 2 * 16]);
        });
    }

    #[test]
    fn softmax_forwards_again_and_backwards() {
        at_every_level(|level| {
            for (rows, cols) in [(1, 1), (3, 5), (2, 12)] {
                let name = format!("{level:?}: {rows}x{cols}");
                let mut scores = numbers(rows * cols * 16, 3);
                let none = f32::NEG_INFINITY;
                // Matrix 2 sees nothing in its first row; matrix 3 not the first column.
                (0..cols).for_each(|j| scores[j * 16 + 2] = none);
                (0..rows).for_each(|i| scores[i * cols * 16 + 3] = if cols > 1 { none } else { 1e4 });
                let (mut p, mut stats) = (scores.clone(), vec![f32::NAN; rows * 16]);
                interleaved_softmax(&mut p, &mut stats);
                let mut again = scores.clone();
                interleaved_softmax_again(&mut again, &stats);
                let upstream = numbers(scores.len(), 4);
                let mut grad = upstream.clone();
                interleaved_softmax_backward(rows, &p, &mut grad);
                for (i, l) in (0..rows).flat_map(|i| (0..16).map(move |l| (i, l))) {
                    let at = |j: usize| (i * cols + j) * 16 + l;
                    let max = (0..cols).map(|j| scores[at(j)]).fold(none, f32::max);
                    let e = |j: usize| if max == none { 0.0 } else { f64::from(scores[at(j)] - max).exp() };
                    let sum: f64 = (0..cols).map(e).sum();
                    let share = |j: usize| if sum == 0.0 { 0.0 } else { e(j) / sum };
                    let mean: f64 = (0..cols).map(|j| share(j) * f64::from(upstream[at(j)])).sum();
                    assert_within(
                        stats[i * 16 + l],
                        f64::from(max) + sum.ln(),
                        2e-6 * f64::from(max.abs()).clamp(1.0, 1e5),
                        &name,
                    );
                    for j in 0..cols {
                        assert_within(p[at(j)], share(j), 1e-6, &name);
                        assert_within(again[at(j)], share(j), 2e-6, &name);
                        let expected = share(j) * (f64::from(upstream[at(j)]) - mean);
                        assert_within(grad[at(j)], expected, 2e-6, &name);
                    }
                }
            }
        });
        let mut stats = [0.0; 32];
        interleaved_softmax(&mut [], &mut stats);
        assert_eq!(stats, [f32::NEG_INFINITY; 32]);
    }

    #[test]
    #[should_panic(expected = "slices of different lengths: 3 and 2")]
    fn products_must_fit() {
        let (a, b) = ([0.0; 48], [0.0; 32]);
        interleaved_products(
            1.0,
            Interleaved::row_major(&a, 1),
            Interleaved::row_major(&b, 2),
            &mut [0.0; 16],
        );
    }
}
