//! Sequences of vectors minus their centred moving average over time: the seasonal part of the decomposition of
//! Autoformer (Wu et al. 2021, arXiv 2106.13008, equation 1), with the ends repeated.
//!
//! `season[t] = x[t] - 1/k Σ_{|j| ≤ k/2} x[t + j]`, for vectors side by side: the sum moves on by adding the row that
//! enters and subtracting the one that leaves. It is computed anew at regular intervals, so that rounding errors do
//! not accumulate in long sequences.

use foretell_pool::Buffer;
use foretell_simd as simd;
use foretell_threads as threads;

/// Steps after which a moving sum is computed anew.
const RESUM_INTERVAL: usize = 128;

/// The cost of a number, relative to that of a number in a plain pass over memory.
const COST: usize = 4;

/// Sequences of vectors and the window of the average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decomposition {
    /// Steps of a sequence.
    pub steps: usize,
    /// Width of a step's vector.
    pub width: usize,
    /// Steps of the average, odd.
    pub kernel: usize,
}

impl Decomposition {
    #[track_caller]
    fn check(&self, values: usize, other: usize) -> usize {
        let Self { steps, width, kernel } = *self;
        assert!(kernel % 2 == 1, "a centred moving average needs an odd window, got {kernel}");
        let whole = values == other && steps * width > 0 && values.is_multiple_of(steps * width);
        assert!(whole, "{values} values in, {other} out of {self:?}");
        kernel / 2
    }

    /// Writes `x [batch, steps, width]` minus its moving average to `out`, of the same shape.
    ///
    /// # Panics
    /// If `kernel` is even, a length does not fit, or sequences are empty.
    #[track_caller]
    pub fn season(&self, x: &[f32], out: &mut [f32]) {
        let half = self.check(x.len(), out.len());
        let Self { steps, width, kernel } = *self;
        let (len, last) = (steps * width, steps - 1);
        threads::rows(x.len() / len, COST * len, [out], |range, [out]| {
            let mut sum = Buffer::<f32>::zeroed(width);
            for (b, out) in range.zip(out.chunks_exact_mut(len)) {
                let row = |t: usize| &x[b * len + t * width..][..width];
                for (t, out) in out.chunks_exact_mut(width).enumerate() {
                    if t.is_multiple_of(RESUM_INTERVAL) {
                        sum.fill(0.0);
                        simd::axpy(half.saturating_sub(t) as f32, row(0), &mut sum);
                        simd::axpy(half.saturating_sub(last - t) as f32, row(last), &mut sum);
                        let inside = t.saturating_sub(half)..=t.saturating_add(half).min(last);
                        inside.for_each(|t| simd::add_assign(&mut sum, row(t)));
                    } else {
                        simd::add_assign(&mut sum, row(t.saturating_add(half).min(last)));
                        simd::sub_assign(&mut sum, row((t - 1).saturating_sub(half)));
                    }
                    out.copy_from_slice(row(t));
                    simd::axpy(-1.0 / kernel as f32, &sum, out);
                }
            }
        });
    }

    /// Adds to `grad_x` the gradient of [`Decomposition::season`], given that of its output.
    ///
    /// Step s enters the averages of all steps at most `half` away; the ends also those of the steps whose window
    /// reaches beyond them, as often as it does.
    ///
    /// # Panics
    /// If `kernel` is even, a length does not fit, or sequences are empty.
    #[track_caller]
    pub fn add_gradient(&self, grad: &[f32], grad_x: &mut [f32]) {
        let half = self.check(grad.len(), grad_x.len());
        let Self { steps, width, kernel } = *self;
        let (len, last) = (steps * width, steps - 1);
        let share = -1.0 / kernel as f32;
        threads::rows(grad.len() / len, COST * len, [grad_x], |range, [grad_x]| {
            let mut sum = Buffer::<f32>::zeroed(width);
            for (b, grad_x) in range.zip(grad_x.chunks_exact_mut(len)) {
                let row = |t: usize| &grad[b * len + t * width..][..width];
                for (s, out) in grad_x.chunks_exact_mut(width).enumerate() {
                    if s.is_multiple_of(RESUM_INTERVAL) {
                        sum.fill(0.0);
                        let inside = s.saturating_sub(half)..=s.saturating_add(half).min(last);
                        inside.for_each(|t| simd::add_assign(&mut sum, row(t)));
                    } else {
                        if let Some(t) = s.checked_add(half).filter(|&t| t <= last) {
                            simd::add_assign(&mut sum, row(t));
                        }
                        if let Some(t) = (s - 1).checked_sub(half) {
                            simd::sub_assign(&mut sum, row(t));
                        }
                    }
                    simd::add_assign(out, row(s));
                    simd::axpy(share, &sum, out);
                }
                for t in 0..half.min(steps) {
                    let beyond = share * (half - t) as f32;
                    simd::axpy(beyond, row(t), &mut grad_x[..width]);
                    simd::axpy(beyond, row(last - t), &mut grad_x[last * width..]);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moving_average;
    use crate::testing::{at_every_level, numbers};

    const CASES: [[usize; 4]; 8] = [
        [2, 9, 3, 5],
        [1, 1, 1, 1],
        [2, 1, 4, 7],
        [3, 4, 17, 25],
        [1, 300, 2, 11],
        [2, 200, 5, 999],
        [1, 140, 70, 3],
        [1, 6, 2, 11],
    ];

    /// `[batch, steps, width]` as `[batch, width, steps]`, and back with the sizes exchanged.
    fn transposed(x: &[f32], steps: usize, width: usize) -> Vec<f32> {
        let mut out = vec![0.0; x.len()];
        for (i, &x) in x.iter().enumerate() {
            let (b, t, c) = (i / (steps * width), i / width % steps, i % width);
            out[(b * width + c) * steps + t] = x;
        }
        out
    }

    #[test]
    fn agrees_with_the_average_of_rows() {
        at_every_level(|level| {
            for [batch, steps, width, kernel] in CASES {
                let sizes = Decomposition { steps, width, kernel };
                let x = numbers(batch * steps * width, 1);
                let rows = transposed(&x, steps, width);
                let mut expected = vec![0.0; x.len()];
                moving_average::forward(&rows, steps, kernel, &mut expected);
                expected.iter_mut().zip(&rows).for_each(|(average, x)| *average = x - *average);
                let mut found = vec![f32::NAN; x.len()];
                sizes.season(&x, &mut found);
                let close = |found: &[f32], expected: &[f32]| {
                    let expected = transposed(expected, width, steps);
                    found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-5)
                };
                assert!(close(&found, &expected), "{level} {sizes:?}");

                let mut average = vec![0.0; x.len()];
                moving_average::backward(&rows, steps, kernel, &mut average);
                let expected: Vec<f32> =
                    rows.iter().zip(&average).map(|(g, average)| 1.0 + g - average).collect();
                let mut found = vec![1.0; x.len()];
                sizes.add_gradient(&x, &mut found);
                let far = kernel.max(10) as f32 * 1e-6;
                let expected = transposed(&expected, width, steps);
                let near = found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < far.max(1e-5));
                assert!(near, "{level} {sizes:?}");
            }
        });
    }

    #[test]
    #[should_panic(expected = "odd window, got 4")]
    fn an_even_window_panics() {
        Decomposition { steps: 2, width: 1, kernel: 4 }.season(&[0.0; 2], &mut [0.0; 2]);
    }
}
