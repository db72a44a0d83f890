//! The passes of attention over tiles of scores: a softmax that continues from tile to tile, and what the backward pass makes of
//! a tile again from the saved logarithms of its sums (Dao et al. 2022, arXiv 2205.14135, algorithms 1 and 4).

use crate::isa::{Simd, WithSimd};

use crate::kernels::exp::exp_or_zero_lanes;
use crate::kernels::reductions::{Extreme, Sum};
use crate::kernels::softmax::{ScoreGradient, whole_rows};
use crate::level::dispatch;
use crate::loops::{Fold, Map, join_lanes, map_in, same_len};
use crate::vector::{Lanes, Mask, Vector, Vectors};

struct OnlineSoftmax<'a> {
    scores: &'a mut [f32],
    cols: usize,
    max: &'a mut [f32],
    sum: &'a mut [f32],
    correction: &'a mut [f32],
}

impl WithSimd for OnlineSoftmax<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { scores, cols, max, sum, correction } = self;
        let mut row = 0;
        while row < max.len() {
            let take = if max.len() - row >= ABREAST { ABREAST } else { 1 };
            let scores = &mut scores[row * cols..(row + take) * cols];
            let state = [&mut *max, sum, correction].map(|state| &mut state[row..row + take]);
            match take {
                ABREAST => take_in::<S, ABREAST>(simd, scores, cols, state),
                _ => take_in::<S, 1>(simd, scores, cols, state),
            }
            row += take;
        }
    }
}

/// Rows that go side by side: while the lanes of one are joined, which waits at each step, others continue.
const ABREAST: usize = 4;

/// Vectors that are added up one after the other, before their sum is added to those of others.
const SUMMED: usize = 64;

/// `N` rows of [`online_softmax_rows`].
#[inline(always)]
fn take_in<S: Simd, const N: usize>(
    simd: S,
    scores: &mut [f32],
    cols: usize,
    [max, sum, correction]: [&mut [f32]; 3],
) {
    let lanes = f32::lanes::<S>();
    let none = Vector::of(simd, f32::NEG_INFINITY);
    // Lanes beyond the end of a row take no part.
    let (whole, inside) = (cols - cols % lanes, Mask::first(simd, cols % lanes));
    let mut largest = [none; N];
    for at in (0..whole).step_by(lanes) {
        for r in 0..N {
            let x = Vector::read(simd, &scores[r * cols + at..][..lanes]);
            largest[r] = Extreme::<1>.merge([x], [largest[r]])[0];
        }
    }
    if whole < cols {
        for r in 0..N {
            let x = Vector::read(simd, &scores[r * cols + whole..(r + 1) * cols]);
            largest[r] = Extreme::<1>.merge([inside.select(x, none)], [largest[r]])[0];
        }
    }
    let mut shift = largest;
    for r in 0..N {
        let [own] = join_lanes(Extreme::<1>, [largest[r]]);
        largest[r] = Extreme::<1>.merge([own], [Vector::of(simd, max[r])])[0];
        // Rows that see nothing become zeros: e^(-inf - 0).
        shift[r] = largest[r].equal(none).select(0.0, largest[r]);
    }
    let mut own = [Vector::of(simd, 0.0); N];
    for block in (0..whole).step_by(SUMMED * lanes) {
        let mut part = [Vector::of(simd, 0.0); N];
        for at in (block..whole.min(block + SUMMED * lanes)).step_by(lanes) {
            for r in 0..N {
                let place = &mut scores[r * cols + at..][..lanes];
                let e = exp_or_zero_lanes(Vector::read(simd, place) - shift[r]);
                e.write(place);
                part[r] = part[r] + e;
            }
        }
        for r in 0..N {
            own[r] = own[r] + part[r];
        }
    }
    if whole < cols {
        for r in 0..N {
            let place = &mut scores[r * cols + whole..(r + 1) * cols];
            let e = exp_or_zero_lanes(Vector::read(simd, place) - shift[r]);
            e.write(place);
            own[r] = own[r] + inside.select(e, 0.0);
        }
    }
    for r in 0..N {
        let [own] = join_lanes(Sum, [own[r]]);
        let (before, after) = (max[r], largest[r].lane(0));
        max[r] = after;
        correction[r] = match before {
            _ if before == after => 1.0,
            // Before the first tile, for all rows: no call.
            f32::NEG_INFINITY => 0.0,
            _ => (before - after).exp(),
        };
        sum[r] = sum[r].mul_add(correction[r], own.lane(0));
    }
}

/// Takes a tile of scores into the softmax of its rows: `scores = e^(scores - max)`, where `max` is the largest score of
/// the row so far and `sum` the sum of all `e^(score - max)` so far; both are brought up to date. `correction` is what the
/// results of the tiles before, which had a smaller `max`, are to be multiplied with. Before the first tile `max` is minus
/// infinity and `sum` zero; a row of minus infinities only becomes zeros.
///
/// # Panics
/// If `scores` is no whole rows of `cols`, or there is not one `max`, `sum` and `correction` for each.
#[track_caller]
pub fn online_softmax_rows(
    scores: &mut [f32],
    cols: usize,
    max: &mut [f32],
    sum: &mut [f32],
    correction: &mut [f32],
) {
    whole_rows(scores.len(), cols);
    if cols == 0 {
        return correction.fill(1.0);
    }
    let rows = scores.len() / cols;
    for state in [&*max, sum, correction] {
        same_len(rows, state.len());
    }
    dispatch(OnlineSoftmax { scores, cols, max, sum, correction });
}

/// `y = e^(y - shift)`.
#[derive(Clone, Copy)]
struct Exponent(f32);

impl Map<f32, 0, 1> for Exponent {
    #[inline(always)]
    fn map<S: Simd>(self, []: Vectors<f32, S, 0>, [y]: Vectors<f32, S, 1>) -> Vectors<f32, S, 1> {
        [exp_or_zero_lanes(y - self.0)]
    }
}

struct ExpRows<'a> {
    scores: &'a mut [f32],
    cols: usize,
    shift: &'a [f32],
}

impl WithSimd for ExpRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (row, &shift) in self.scores.chunks_mut(self.cols).zip(self.shift) {
            match shift == f32::NEG_INFINITY {
                true => row.fill(0.0),
                false => map_in(simd, Exponent(shift), [], [row]),
            }
        }
    }
}

/// `scores = e^(scores - shift)`, one `shift` for each row; zeros where it is minus infinity. With the logarithms of the
/// sums of `e^score` these are the probabilities of a softmax.
///
/// # Panics
/// If `scores` is no whole rows of `cols`, or there is not one `shift` for each.
#[track_caller]
pub fn exp_rows_in_place(scores: &mut [f32], cols: usize, shift: &[f32]) {
    whole_rows(scores.len(), cols);
    if let Some(rows) = scores.len().checked_div(cols) {
        same_len(rows, shift.len());
        dispatch(ExpRows { scores, cols, shift });
    }
}

struct OnlineSoftmaxBackward<'a> {
    probabilities: &'a [f32],
    cols: usize,
    shift: &'a [f32],
    grad: &'a mut [f32],
}

impl WithSimd for OnlineSoftmaxBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let rows = self.probabilities.chunks(self.cols).zip(self.grad.chunks_mut(self.cols));
        for ((p, grad), &shift) in rows.zip(self.shift) {
            map_in(simd, ScoreGradient(shift), [p], [grad]);
        }
    }
}

/// `grad = probabilities (grad - shift)`, one `shift` for each row: the gradient of the scores of a softmax from that of
/// its probabilities, where `shift` is the sum of their products over the whole row.
///
/// # Panics
/// If the slices differ in length or are no whole rows of `cols`, or there is not one `shift` for each.
#[track_caller]
pub fn online_softmax_backward_rows(probabilities: &[f32], cols: usize, shift: &[f32], grad: &mut [f32]) {
    same_len(probabilities.len(), grad.len());
    whole_rows(grad.len(), cols);
    if let Some(rows) = grad.len().checked_div(cols) {
        same_len(rows, shift.len());
        dispatch(OnlineSoftmaxBackward { probabilities, cols, shift, grad });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_within, for_every_length};

    #[test]
    fn tiles_make_the_softmax_of_whole_rows() {
        for_every_length(|case| {
            let cols = case.len.clamp(1, 150);
            let rows = case.len / cols;
            let x: Vec<f32> = case.between::<f32>(-9.0, 9.0)[..rows * cols].to_vec();
            let (mut max, mut sum) = (vec![f32::NEG_INFINITY; rows], vec![0.0; rows]);
            let mut correction = vec![f32::NAN; rows];
            let mut made = vec![0.0; rows * cols];
            for from in (0..cols).step_by(37) {
                let width = 37.min(cols - from);
                let tile = |row: usize| row * cols + from..row * cols + from + width;
                let mut scores: Vec<f32> = (0..rows).flat_map(|row| x[tile(row)].to_vec()).collect();
                online_softmax_rows(&mut scores, width, &mut max, &mut sum, &mut correction);
                for row in 0..rows {
                    made[row * cols..][..from].iter_mut().for_each(|y| *y *= correction[row]);
                    made[tile(row)].copy_from_slice(&scores[row * width..][..width]);
                }
            }
            let limit = (6.0 + (cols as f64).log2()) * f64::from(f32::EPSILON);
            for row in 0..rows {
                let own = &x[row * cols..][..cols];
                let shift = f64::from(own.iter().copied().fold(f32::NEG_INFINITY, f32::max));
                let e: Vec<f64> = own.iter().map(|&x| (f64::from(x) - shift).exp()).collect();
                let total: f64 = e.iter().sum();
                for (made, e) in made[row * cols..][..cols].iter().zip(&e) {
                    assert_within(made / sum[row], e / total, limit * (e / total), &case.name);
                }
                // The probabilities again, from the logarithm of the sum.
                let mut again = own.to_vec();
                exp_rows_in_place(&mut again, cols, &[max[row] + sum[row].ln()]);
                for (again, e) in again.iter().zip(&e) {
                    assert_within(*again, e / total, 30.0 * limit * (e / total), &case.name);
                }
            }
        });
    }

    #[test]
    fn rows_without_keys_are_zeros() {
        let none = f32::NEG_INFINITY;
        let (mut max, mut sum, mut correction) = ([none, none], [0.0; 2], [9.0; 2]);
        let mut scores = [none, none, none, 3.0];
        online_softmax_rows(&mut scores, 2, &mut max, &mut sum, &mut correction);
        assert_eq!((scores, max, sum), ([0.0, 0.0, 0.0, 1.0], [none, 3.0], [0.0, 1.0]));
        assert_eq!(correction[0], 1.0);
        let mut scores = [1.0, none, none, none];
        online_softmax_rows(&mut scores, 2, &mut max, &mut sum, &mut correction);
        assert_eq!((scores, max, sum), ([1.0, 0.0, 0.0, 0.0], [1.0, 3.0], [1.0, 1.0]));
        let mut scores = [none, 2.0];
        exp_rows_in_place(&mut scores, 1, &[none, 2.0]);
        assert_eq!(scores, [0.0, 1.0]);
        exp_rows_in_place(&mut [], 0, &[]);
    }

    #[test]
    fn gradients_of_scores_row_by_row() {
        let mut grad = [1.0, 2.0, 3.0, 4.0];
        online_softmax_backward_rows(&[0.25, 0.75, 1.0, 0.0], 2, &[1.0, -1.0], &mut grad);
        assert_eq!(grad, [0.0, 0.75, 4.0, 0.0]);
    }
}
