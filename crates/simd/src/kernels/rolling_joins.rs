//! Windows of any number of elements from what their summaries join to.
//!
//! From windows of `n` elements at every start follow those of `2 n` (a window and its right neighbour) and of `n + 1` (a window
//! and one element). Longer windows are made of rows, `rolling_rows.rs`.

use crate::isa::{Simd, WithSimd};

use super::rolling_rows::{ROW, by_rows};
use super::rolling_summary::{Sizes, Summary};
use crate::level::dispatch;
use crate::vector::{Lanes, Vector, Vectors};

/// Writes the results for windows of `size` elements, one for each place of `out`.
pub(super) fn by_joins<T: Lanes, const F: usize>(
    op: impl Summary<T, F>,
    x: &[T],
    size: usize,
    out: &mut [T],
) {
    dispatch(Joins { op, x, size, out });
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

struct Joins<'a, T, Op, const F: usize> {
    op: Op,
    x: &'a [T],
    size: usize,
    /// One place for each start.
    out: &'a mut [T],
}

impl<T: Lanes, Op: Summary<T, F>, const F: usize> WithSimd for Joins<'_, T, Op, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match self.size < LONG {
            true => self.short(simd),
            false => by_rows(simd, self.op, self.x, self.size, self.out),
        }
    }
}

impl<T: Lanes, Op: Summary<T, F>, const F: usize> Joins<'_, T, Op, F> {
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
