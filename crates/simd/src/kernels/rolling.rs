//! Mean and standard deviation of a moving window.
//!
//! Windows are joined from smaller windows, never by taking the element that leaves out of a
//! running sum: nothing cancels, an outlier or a NaN is forgotten with its window, and every step
//! is arithmetic on whole vectors. From windows of `n` elements at every start follow those of
//! `2 n` (a window and its right neighbour) and of `n + 1` (a window and one element).
//!
//! Longer windows are made of rows for the deviation, `rolling_rows.rs`, and of blocks for the mean, `rolling_blocks.rs`.

use std::marker::PhantomData;

use crate::isa::{Simd, WithSimd};

use super::rolling_blocks::by_blocks;
use super::rolling_rows::{ROW, by_rows};
use crate::level::dispatch;
use crate::loops::same_len;
use crate::vector::{Float, Lanes, Vector, Vectors};

/// What is known of the windows at every start: `F` numbers for each.
pub(super) trait Summary<T: Lanes, const F: usize>: Copy {
    /// Whether joining needs the step from one window to the other.
    const STEPS: bool;

    /// A window of one element.
    fn one<S: Simd>(self, x: Vector<T, S>) -> Vectors<T, S, F>;

    /// A window and its right neighbour. `step` is from the first element of the one to the first
    /// element of the other.
    fn join<S: Simd>(
        self,
        left: Vectors<T, S, F>,
        right: Vectors<T, S, F>,
        step: Vector<T, S>,
        sizes: Sizes<T>,
    ) -> Vectors<T, S, F>;

    /// The result for windows of `size` elements.
    fn finish<S: Simd>(self, window: Vectors<T, S, F>, size: usize) -> Vector<T, S>;
}

/// The sizes of two windows that are joined, as the factors that the moments need.
#[derive(Clone, Copy)]
pub(super) struct Sizes<T> {
    /// The share of the right window.
    share: T,
    /// The product of the sizes over their sum.
    pull: T,
}

impl<T: Lanes> Sizes<T> {
    #[inline(always)]
    pub(super) fn new(left: usize, right: usize) -> Self {
        let share = right as f64 / (left + right) as f64;
        Self { share: T::from_f64(share), pull: T::from_f64(share * left as f64) }
    }
}

/// The sum, times a factor at the end.
#[derive(Clone, Copy)]
struct Sum<T> {
    factor: T,
}

impl<T: Lanes> Summary<T, 1> for Sum<T> {
    const STEPS: bool = false;

    #[inline(always)]
    fn one<S: Simd>(self, x: Vector<T, S>) -> Vectors<T, S, 1> {
        [x]
    }

    #[inline(always)]
    fn join<S: Simd>(
        self,
        [left]: Vectors<T, S, 1>,
        [right]: Vectors<T, S, 1>,
        _: Vector<T, S>,
        _: Sizes<T>,
    ) -> Vectors<T, S, 1> {
        [left + right]
    }

    #[inline(always)]
    fn finish<S: Simd>(self, [sum]: Vectors<T, S, 1>, _: usize) -> Vector<T, S> {
        sum * self.factor
    }
}

/// The mean, counted from the first element of the window, and the sum of the squared deviations:
/// both follow from differences of elements, so a common level does no harm.
#[derive(Clone, Copy)]
struct Deviation {
    ddof: usize,
}

impl<T: Lanes> Summary<T, 2> for Deviation {
    const STEPS: bool = true;

    #[inline(always)]
    fn one<S: Simd>(self, x: Vector<T, S>) -> Vectors<T, S, 2> {
        // 0 for a number; NaN and infinities have no spread.
        [x * T::default(); 2]
    }

    #[inline(always)]
    fn join<S: Simd>(
        self,
        [mean, squares]: Vectors<T, S, 2>,
        [right_mean, right_squares]: Vectors<T, S, 2>,
        step: Vector<T, S>,
        sizes: Sizes<T>,
    ) -> Vectors<T, S, 2> {
        let delta = (right_mean + step) - mean;
        let squares = (delta * delta).mul_add(sizes.pull, squares + right_squares);
        [delta.mul_add(sizes.share, mean), squares]
    }

    #[inline(always)]
    fn finish<S: Simd>(self, [_, squares]: Vectors<T, S, 2>, size: usize) -> Vector<T, S> {
        (squares * T::from_f64(1.0 / (size - self.ddof) as f64)).sqrt()
    }
}

/// Starts that are worked on together: their summaries stay in the first-level cache.
const CHUNK: usize = 512;
/// The shortest window that is made of rows.
const LONG: usize = 2 * ROW;
/// Elements beyond the last start that the passes may read or write.
const MARGIN: usize = LONG + 16;

/// Elements and summaries of up to [`CHUNK`] starts, aligned to cache lines.
#[repr(align(64))]
struct Buffers<T, const F: usize> {
    x: [T; CHUNK + MARGIN],
    windows: [[T; CHUNK + MARGIN]; F],
}

impl<T: Lanes, const F: usize> Buffers<T, F> {
    fn new() -> Self {
        Self { x: [T::default(); CHUNK + MARGIN], windows: [[T::default(); CHUNK + MARGIN]; F] }
    }

    /// The summaries at `i` and the starts after it, within a chunk.
    #[inline(always)]
    fn get<S: Simd>(&self, simd: S, i: usize) -> Vectors<T, S, F> {
        assert!(i < CHUNK);
        let mut window = [Vector::of(simd, T::default()); F];
        for k in 0..F {
            // SAFETY: the margin is longer than a vector.
            window[k] = unsafe { Vector::load(simd, self.windows[k].as_ptr().add(i)) };
        }
        window
    }

    /// Summarises the windows of `size` elements, below [`LONG`], at `count` starts, at most
    /// [`CHUNK`], from `x[start]` on. Elements beyond the end count as zeros.
    #[inline(always)]
    fn fill<S: Simd>(
        &mut self,
        simd: S,
        op: impl Summary<T, F>,
        x: &[T],
        start: usize,
        count: usize,
        size: usize,
    ) {
        assert!(0 < size && size < LONG && 0 < count && count <= CHUNK);
        let lanes = T::lanes::<S>();
        let mut left = count + size - 1;
        // The passes read up to a vector more than `left` elements.
        let mut x = x.get(start..).unwrap_or(&[]);
        if x.len() < left + lanes {
            let known = left.min(x.len());
            self.x[..known].copy_from_slice(&x[..known]);
            self.x[known..left].fill(T::default());
            x = &self.x;
        }
        let x = x.as_ptr();
        let windows = self.windows.each_mut().map(|w| w.as_mut_ptr());

        // SAFETY (of all loads and stores below): `i + width` is below the first value of `left`,
        // and both `x` and the windows are longer than that by a vector at least.
        if size == 1 {
            for i in (0..left).step_by(lanes) {
                // SAFETY: as said.
                unsafe { store(windows, i, op.one(Vector::load(simd, x.add(i)))) };
            }
        }
        let mut width = 1;
        for digit in (0..size.ilog2()).rev() {
            left -= width;
            let sizes = Sizes::new(width, width);
            for i in (0..left).step_by(lanes) {
                // SAFETY: as said.
                unsafe {
                    let (a, b) = (Vector::load(simd, x.add(i)), Vector::load(simd, x.add(i + width)));
                    let (left, right) = if width == 1 {
                        (op.one(a), op.one(b))
                    } else {
                        (load(simd, windows, i), load(simd, windows, i + width))
                    };
                    store(windows, i, op.join(left, right, b - a, sizes));
                }
            }
            width *= 2;
            if size >> digit & 1 == 1 {
                left -= 1;
                let sizes = Sizes::new(width, 1);
                for i in (0..left).step_by(lanes) {
                    // SAFETY: as said.
                    unsafe {
                        let (a, b) = (Vector::load(simd, x.add(i)), Vector::load(simd, x.add(i + width)));
                        let window = load(simd, windows, i);
                        store(windows, i, op.join(window, op.one(b), b - a, sizes));
                    }
                }
                width += 1;
            }
        }
    }
}

/// # Safety
/// A vector at `i` is readable in each of the arrays.
#[inline(always)]
unsafe fn load<T: Lanes, S: Simd, const F: usize>(simd: S, from: [*mut T; F], i: usize) -> Vectors<T, S, F> {
    let mut window = [Vector::of(simd, T::default()); F];
    for k in 0..F {
        // SAFETY: the caller's contract.
        window[k] = unsafe { Vector::load(simd, from[k].add(i)) };
    }
    window
}

/// # Safety
/// A vector at `i` is writable in each of the arrays.
#[inline(always)]
unsafe fn store<T: Lanes, S: Simd, const F: usize>(to: [*mut T; F], i: usize, window: Vectors<T, S, F>) {
    for k in 0..F {
        // SAFETY: the caller's contract.
        unsafe { window[k].store(to[k].add(i)) };
    }
}

struct Rolling<'a, T, Op, const F: usize> {
    op: Op,
    x: &'a [T],
    size: usize,
    /// One place for each start.
    out: &'a mut [T],
}

impl<T: Lanes, Op: Summary<T, F>, const F: usize> WithSimd for Rolling<'_, T, Op, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match self.size < LONG {
            true => self.short(simd),
            false => by_rows(simd, self.op, self.x, self.size, self.out),
        }
    }
}

impl<T: Lanes, Op: Summary<T, F>, const F: usize> Rolling<'_, T, Op, F> {
    #[inline(always)]
    fn short<S: Simd>(self, simd: S) {
        let lanes = T::lanes::<S>();
        let mut buffers = Buffers::new();
        for (c, out) in self.out.chunks_mut(CHUNK).enumerate() {
            buffers.fill(simd, self.op, self.x, c * CHUNK, out.len(), self.size);
            for i in (0..out.len()).step_by(lanes) {
                self.op.finish(buffers.get(simd, i), self.size).write(&mut out[i..]);
            }
        }
    }
}

/// How many elements a vector has.
struct LanesOf<T>(PhantomData<T>);

impl<T: Lanes> WithSimd for LanesOf<T> {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        T::lanes::<S>()
    }
}

/// `factor` times the sum of the `size` elements up to and with `x[t]`, from `t = size - 1` on, and anything before.
pub(super) fn rolling_sum<T: Lanes>(x: &[T], size: usize, factor: T, out: &mut [T]) {
    if size > x.len() {
        return;
    }
    let lanes = dispatch(LanesOf(PhantomData::<T>));
    if size <= ROW || lanes == 1 {
        dispatch(Rolling { op: Sum { factor }, x, size, out: &mut out[size - 1..] });
    } else {
        by_blocks(x, size, factor, out, lanes);
    }
}

/// `out[t]` is the mean of the `window` elements up to and with `x[t]`; NaN for the first
/// `window - 1`, where there are not enough, as pandas' `rolling(window).mean()`.
///
/// The work for an element does not grow with the window; scratch memory is a few kilobytes, or four windows where that is
/// more. The error is at most `(8 + window / 64) * eps * mean(|x|)` over the
/// window, and typically a few ULP. NaN and infinities affect the windows they are in, no others.
///
/// # Panics
/// If the slices differ in length, or if `window` is 0.
#[track_caller]
pub fn rolling_mean<T: Float>(x: &[T], window: usize, out: &mut [T]) {
    same_len(x.len(), out.len());
    assert!(window > 0, "a window of 0 elements");
    rolling_sum(x, window, T::from_f64(1.0 / window as f64), out);
    out[..x.len().min(window - 1)].fill(T::from_f64(f64::NAN));
}

/// `out[t]` is the standard deviation of the `window` elements up to and with `x[t]`, its square
/// being the sum of squared deviations over `window - ddof`; NaN for the first `window - 1`, as
/// pandas' `rolling(window).std(ddof)`, and everywhere unless `window > ddof`.
///
/// Exact to a relative `(16 + window / 64) * eps` for any common level that the data have beside
/// their spread: only differences of elements enter. Cost, scratch memory and NaN as in
/// [`rolling_mean`]; an infinity makes its windows NaN.
///
/// # Panics
/// If the slices differ in length, or if `window` is 0.
#[track_caller]
pub fn rolling_std<T: Float>(x: &[T], window: usize, ddof: usize, out: &mut [T]) {
    same_len(x.len(), out.len());
    assert!(window > 0, "a window of 0 elements");
    let unfilled = if window <= ddof { x.len() } else { x.len().min(window - 1) };
    let (unfilled, out) = out.split_at_mut(unfilled);
    unfilled.fill(T::from_f64(f64::NAN));
    dispatch(Rolling { op: Deviation { ddof }, x, size: window, out });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_within, at_every_level, exact_sum, for_every_length};

    const WINDOWS: [usize; 18] = [1, 2, 3, 5, 10, 20, 31, 63, 64, 65, 95, 127, 128, 129, 191, 192, 333, 1000];

    /// Mean and standard deviation of one window from the distances to its first element, with
    /// compensated sums.
    fn naive<T: Float>(window: &[T]) -> (f64, f64) {
        let n = window.len() as f64;
        let first = window[0].to_f64();
        let distances = || window.iter().map(|x| x.to_f64() - first);
        let mean = exact_sum(distances()) / n;
        let squares = exact_sum(distances().map(|d| (d - mean).powi(2)));
        (exact_sum(window.iter().map(|x| x.to_f64())) / n, (squares / (n - 1.0)).sqrt())
    }

    #[track_caller]
    fn check<T: Float>(x: &[T], window: usize, name: &str) {
        let eps = if size_of::<T>() == 4 { f64::from(f32::EPSILON) } else { f64::EPSILON };
        let name = format!("{name}, window {window}");
        let mut mean = vec![T::default(); x.len()];
        let mut std = mean.clone();
        rolling_mean(x, window, &mut mean);
        rolling_std(x, window, 1, &mut std);
        for t in 0..x.len() {
            if t + 1 < window {
                assert!(mean[t].to_f64().is_nan() && std[t].to_f64().is_nan(), "{name} at {t}");
                continue;
            }
            let seen = &x[t + 1 - window..=t];
            let (m, s) = naive(seen);
            let size = seen.iter().map(|x| x.to_f64().abs()).sum::<f64>() / window as f64;
            let room = 8.0 + window as f64 / 64.0;
            assert_within(mean[t], m, room * eps * size, &format!("{name}: mean at {t}"));
            assert_within(std[t], s, (room + 8.0) * eps * s, &format!("{name}: std at {t}"));
        }
    }

    #[test]
    fn equals_two_passes_over_each_window() {
        for_every_length(|case| {
            if case.len > 1100 {
                return;
            }
            let (x, y) = (case.numbers::<f32>(), case.numbers::<f64>());
            for window in WINDOWS {
                check(&x, window, &case.name);
                check(&y, window, &case.name);
            }
        });
    }

    #[test]
    fn long_series() {
        at_every_level(|level| {
            let x: Vec<f64> = (0..9001).map(|i| (i as f64 * 0.37).sin() * i as f64).collect();
            for window in [10, 33, 100, 128, 500, 1777] {
                check(&x, window, level);
            }
        });
    }

    #[test]
    fn a_common_level_does_no_harm() {
        at_every_level(|level| {
            let noise = |i: u64| crate::Key::new(5).bits(i) as f64 / u64::MAX as f64;
            let x: Vec<f64> = (0..1500).map(|i| 1e9 + noise(i)).collect();
            let y: Vec<f32> = (0..1500).map(|i| 1e5 + noise(i) as f32 * 10.0).collect();
            for window in [2, 10, 20, 100, 150, 700] {
                check(&x, window, level);
                check(&y, window, level);
            }
        });
    }

    #[test]
    fn outliers_and_nan_are_forgotten() {
        at_every_level(|level| {
            for window in [3, 10, 64, 130, 300] {
                for bad in [f64::NAN, f64::INFINITY, 1e30] {
                    let mut x: Vec<f64> = (0..1200).map(|i| (i % 5) as f64).collect();
                    x[400] = bad;
                    let (mut mean, mut std) = (vec![0.0; 1200], vec![0.0; 1200]);
                    rolling_mean(&x, window, &mut mean);
                    rolling_std(&x, window, 1, &mut std);
                    for t in window - 1..1200 {
                        let name = format!("{level}, window {window}, {bad} at 400, {t}");
                        if (400..400 + window).contains(&t) {
                            let (m, s) = (mean[t], std[t]);
                            assert!(m > 1e27 || m.is_nan() && bad.is_nan(), "{name}: {m}");
                            assert!(s > 1e27 || s.is_nan() && !bad.is_finite(), "{name}: {s}");
                        } else {
                            let (m, s) = naive(&x[t + 1 - window..=t]);
                            assert_within(mean[t], m, 1e-12, &name);
                            assert_within(std[t], s, 1e-12, &name);
                        }
                    }
                }
            }
        });
    }

    #[test]
    fn a_constant_has_no_spread() {
        at_every_level(|level| {
            let x = [0.1f32; 700];
            for window in [2, 10, 200] {
                let mut std = [1.0; 700];
                rolling_std(&x, window, 0, &mut std);
                assert!(std[window - 1..].iter().all(|&s| s == 0.0), "{level}, window {window}");
            }
        });
    }

    #[test]
    fn too_few_elements_are_nan() {
        let mut out = [0.0; 5];
        rolling_std(&[1.0f64; 5], 2, 2, &mut out);
        assert!(out.iter().all(|x| x.is_nan()));
        rolling_mean(&[1.0f64; 5], 9, &mut out);
        assert!(out.iter().all(|x| x.is_nan()));
    }

    #[test]
    #[should_panic(expected = "a window of 0 elements")]
    fn a_mean_of_an_empty_window_is_refused() {
        rolling_mean(&[1.0f64], 0, &mut [0.0]);
    }

    #[test]
    #[should_panic(expected = "a window of 0 elements")]
    fn a_deviation_of_an_empty_window_is_refused() {
        rolling_std(&[1.0f64], 0, 0, &mut [0.0]);
    }
}
