//! Mean and standard deviation of a moving window.
//!
//! Windows are joined from smaller windows, never by taking the element that leaves out of a
//! running sum: nothing cancels, an outlier or a NaN is forgotten with its window, and every step
//! is arithmetic on whole vectors. From windows of `n` elements at every start follow those of
//! `2 n` (a window and its right neighbour) and of `n + 1` (a window and one element).
//!
//! A window of 128 elements or more is rows of 64 and a rest. The windows of one row come from
//! doubling; those of `q` rows from joining the last rows of one block of `q` rows with the first
//! rows of the next (van Herk, 1992), so the work for an element does not grow with the window.

use pulp::{Simd, WithSimd};

use crate::drive::same_len;
use crate::level::dispatch;
use crate::vector::{Float, Lanes, Vector, Vectors};

/// What is known of the windows at every start: `F` numbers for each.
trait Summary<T: Lanes, const F: usize>: Copy {
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
struct Sizes<T> {
    /// The share of the right window.
    share: T,
    /// The product of the sizes over their sum.
    pull: T,
}

impl<T: Lanes> Sizes<T> {
    #[inline(always)]
    fn new(left: usize, right: usize) -> Self {
        let share = right as f64 / (left + right) as f64;
        Self { share: T::from_f64(share), pull: T::from_f64(share * left as f64) }
    }
}

/// The sum.
#[derive(Clone, Copy)]
struct Mean;

impl<T: Lanes> Summary<T, 1> for Mean {
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
    fn finish<S: Simd>(self, [sum]: Vectors<T, S, 1>, size: usize) -> Vector<T, S> {
        sum * T::from_f64(1.0 / size as f64)
    }
}

/// The mean, counted from the first element of the window, and the sum of the squared deviations:
/// both follow from differences of elements, so a common level does no harm.
#[derive(Clone, Copy)]
struct Deviation {
    ddof: usize,
}

impl<T: Lanes> Summary<T, 2> for Deviation {
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
/// Starts in a row of a long window.
const ROW: usize = 64;
/// The longest window that is built by doubling alone.
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
        if self.size < LONG { self.short(simd) } else { self.long(simd) }
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

    #[inline(always)]
    fn long<S: Simd>(self, simd: S) {
        let Self { op, x, size, out } = self;
        let lanes = T::lanes::<S>();
        let (rows, rest) = (size / ROW, size % ROW);
        let mut buffers = Buffers::<T, F>::new();
        // The single rows of the block to come, and the windows from each row of the current
        // block to its end.
        let mut block = vec![Row::default(); rows];
        let mut ends = block.clone();
        for (j, row) in block.iter_mut().enumerate() {
            buffers.fill(simd, op, x, j * ROW, ROW, ROW);
            row.copy_from(&buffers);
        }

        let mut out_rows = out.chunks_mut(ROW).enumerate().peekable();
        while let Some(&(first, _)) = out_rows.peek() {
            std::mem::swap(&mut ends, &mut block);
            for j in (0..rows - 1).rev() {
                let start = (first + j) * ROW;
                let sizes = Sizes::new(ROW, (rows - 1 - j) * ROW);
                let (row, later) = ends[j..].split_first_mut().expect("`j` is a row");
                for c in (0..ROW).step_by(lanes) {
                    let step = at(simd, x, start + ROW + c) - at(simd, x, start + c);
                    row.set(c, op.join(row.get(simd, c), later[0].get(simd, c), step, sizes));
                }
            }

            let next = first + rows;
            let mut begun = Row::default();
            for (j, (t, out)) in out_rows.by_ref().take(rows).enumerate() {
                if rest > 0 {
                    buffers.fill(simd, op, x, (t + rows) * ROW, ROW, rest);
                }
                for c in (0..out.len()).step_by(lanes) {
                    let from = at(simd, x, t * ROW + c);
                    let mut window = ends[j].get(simd, c);
                    if j > 0 {
                        let step = at(simd, x, next * ROW + c) - from;
                        let sizes = Sizes::new((rows - j) * ROW, j * ROW);
                        window = op.join(window, begun.get(simd, c), step, sizes);
                    }
                    if rest > 0 {
                        let step = at(simd, x, (t + rows) * ROW + c) - from;
                        let sizes = Sizes::new(rows * ROW, rest);
                        window = op.join(window, buffers.get(simd, c), step, sizes);
                    }
                    op.finish(window, size).write(&mut out[c..]);
                }

                buffers.fill(simd, op, x, (next + j) * ROW, ROW, ROW);
                block[j].copy_from(&buffers);
                let sizes = Sizes::new(j * ROW, ROW);
                for c in (0..ROW).step_by(lanes) {
                    let mut window = block[j].get(simd, c);
                    if j > 0 {
                        let step = at(simd, x, (next + j) * ROW + c) - at(simd, x, next * ROW + c);
                        window = op.join(begun.get(simd, c), window, step, sizes);
                    }
                    begun.set(c, window);
                }
            }
        }
    }
}

/// The summaries of the windows at the starts of one row.
#[derive(Clone, Copy)]
struct Row<T, const F: usize>([[T; ROW]; F]);

impl<T: Lanes, const F: usize> Default for Row<T, F> {
    fn default() -> Self {
        Self([[T::default(); ROW]; F])
    }
}

impl<T: Lanes, const F: usize> Row<T, F> {
    #[inline(always)]
    fn copy_from(&mut self, buffers: &Buffers<T, F>) {
        for (row, windows) in self.0.iter_mut().zip(&buffers.windows) {
            row.copy_from_slice(&windows[..ROW]);
        }
    }

    #[inline(always)]
    fn get<S: Simd>(&self, simd: S, c: usize) -> Vectors<T, S, F> {
        let mut window = [Vector::of(simd, T::default()); F];
        for k in 0..F {
            let row = &self.0[k][c..c + T::lanes::<S>()];
            // SAFETY: `row` is one vector long.
            window[k] = unsafe { Vector::load(simd, row.as_ptr()) };
        }
        window
    }

    #[inline(always)]
    fn set<S: Simd>(&mut self, c: usize, window: Vectors<T, S, F>) {
        for k in 0..F {
            let row = &mut self.0[k][c..c + T::lanes::<S>()];
            // SAFETY: `row` is one vector long.
            unsafe { window[k].store(row.as_mut_ptr()) };
        }
    }
}

/// The vector at `x[i]`, zeros standing for elements beyond the end.
#[inline(always)]
fn at<T: Lanes, S: Simd>(simd: S, x: &[T], i: usize) -> Vector<T, S> {
    Vector::read(simd, x.get(i..).unwrap_or(&[]))
}

#[track_caller]
fn rolling<T: Float, const F: usize>(op: impl Summary<T, F>, x: &[T], window: usize, out: &mut [T]) {
    same_len(x.len(), out.len());
    assert!(window > 0, "a window of 0 elements");
    let (unfilled, out) = out.split_at_mut(x.len().min(window - 1));
    unfilled.fill(T::from_f64(f64::NAN));
    dispatch(Rolling { op, x, size: window, out });
}

/// `out[t]` is the mean of the `window` elements up to and with `x[t]`; NaN for the first
/// `window - 1`, where there are not enough, as pandas' `rolling(window).mean()`.
///
/// The work for an element does not grow with the window; windows of 128 and more take scratch
/// memory of four windows. The error is at most `(8 + window / 64) * eps * mean(|x|)` over the
/// window, and typically a few ULP. NaN and infinities affect the windows they are in, no others.
///
/// # Panics
/// If the slices differ in length, or if `window` is 0.
#[track_caller]
pub fn rolling_mean<T: Float>(x: &[T], window: usize, out: &mut [T]) {
    rolling(Mean, x, window, out);
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
    if window <= ddof {
        same_len(x.len(), out.len());
        out.fill(T::from_f64(f64::NAN));
    } else {
        rolling(Deviation { ddof }, x, window, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_within, at_every_level, exact_sum, for_every_length};

    const WINDOWS: [usize; 16] = [1, 2, 3, 5, 10, 20, 63, 64, 65, 127, 128, 129, 191, 192, 333, 1000];

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
            let x: Vec<f64> = (0..4001).map(|i| (i as f64 * 0.37).sin() * i as f64).collect();
            for window in [10, 100, 128, 500, 1777] {
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
    fn an_empty_window_is_refused() {
        rolling_mean(&[1.0f64], 0, &mut [0.0]);
    }
}
