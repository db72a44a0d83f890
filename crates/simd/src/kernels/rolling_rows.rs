//! Moving windows of many elements.
//!
//! A window is rows of 32 elements and a rest. The windows of one row, and of the powers of two that make up the rest,
//! come from doubling; those of `q` rows from joining the last rows of one block of `q` rows with the first rows of the
//! next (van Herk, 1992), so the work for an element does not grow with the window.

use pulp::Simd;

use super::rolling::{Sizes, Summary, load, store};
use crate::vector::{Lanes, Vector, Vectors};

/// Starts in a row.
pub(super) const ROW: usize = 32;

/// Writes the results for windows of `size` elements, at least two rows of them, from each place of `out` on.
#[inline(always)]
pub(super) fn by_rows<T: Lanes, S: Simd, const F: usize>(
    simd: S,
    op: impl Summary<T, F>,
    x: &[T],
    size: usize,
    out: &mut [T],
) {
    let lanes = T::lanes::<S>();
    let rows = size / ROW;
    let sizes = |of: &dyn Fn(usize) -> [usize; 2]| -> Vec<Sizes<T>> {
        (0..rows).map(of).map(|[left, right]| Sizes::new(left, right)).collect()
    };
    // Of a row and those after it in its block; of the rows from one to the end of a block, and those of the next
    // block; of these, and the row after them.
    let to_end = sizes(&|j| [ROW, (rows - 1 - j) * ROW]);
    let across = sizes(&|j| [(rows - j) * ROW, j * ROW]);
    let onward = sizes(&|j| [j * ROW, ROW]);
    let rest: Vec<Part<T>> = Part::of(size).collect();

    let mut levels = Levels::<T, F>::new();
    // The single rows of the block to come, and the windows from each row of the current block to its end.
    let mut block = vec![Row::default(); rows];
    let mut ends = block.clone();
    for (j, row) in block.iter_mut().enumerate() {
        if j % GROUP == 0 {
            levels.fill(simd, op, x, j * ROW);
        }
        for c in (0..ROW).step_by(lanes) {
            row.set(c, levels.get(simd, LEVELS, j % GROUP * ROW + c));
        }
    }

    // The windows of the rows of the next block so far, at the starts of its first row.
    let mut begun = Row::default();
    let (mut j, mut next_block) = (0, 0);
    for (t, out) in out.chunks_mut(ROW).enumerate() {
        if j == 0 {
            next_block = (t + rows) * ROW;
            std::mem::swap(&mut ends, &mut block);
            for c in (0..ROW).step_by(lanes) {
                let mut later = ends[rows - 1].get(simd, c);
                for i in (0..rows - 1).rev() {
                    let start = (t + i) * ROW + c;
                    let step = at(simd, x, start + ROW) - at(simd, x, start);
                    later = op.join(ends[i].get(simd, c), later, step, to_end[i]);
                    ends[i].set(c, later);
                }
            }
        }
        let (here, next, place) = (t * ROW, (t + rows) * ROW, t % GROUP * ROW);
        if place == 0 {
            levels.fill(simd, op, x, next);
        }
        for c in (0..ROW).step_by(lanes) {
            let from = at(simd, x, here + c);
            let row = levels.get(simd, LEVELS, place + c);
            let (mut window, mut so_far) = (ends[j].get(simd, c), row);
            if j > 0 {
                let (first, before) = (at(simd, x, next_block + c), begun.get(simd, c));
                window = op.join(window, before, first - from, across[j]);
                so_far = op.join(before, row, at(simd, x, next + c) - first, onward[j]);
            }
            begun.set(c, so_far);
            block[j].set(c, row);
            for &Part { level, offset, sizes } in &rest {
                let start = at(simd, x, next + offset + c);
                let part = match level {
                    0 => op.one(start),
                    _ => levels.get(simd, level, place + offset + c),
                };
                window = op.join(window, part, start - from, sizes);
            }
            if c < out.len() {
                op.finish(window, size).write(&mut out[c..]);
            }
        }
        j = if j + 1 == rows { 0 } else { j + 1 };
    }
}

/// A part of what a window has beyond its rows: `2^level` elements.
#[derive(Clone, Copy)]
struct Part<T> {
    level: usize,
    /// Elements between the rows and it.
    offset: usize,
    /// Of all that is before it, and its own.
    sizes: Sizes<T>,
}

impl<T: Lanes> Part<T> {
    /// Those of a window of `size` elements, in their order.
    fn of(size: usize) -> impl Iterator<Item = Self> {
        let levels = (0..LEVELS).rev().filter(move |level| size >> level & 1 == 1);
        levels.map(move |level| {
            let before = size >> (level + 1) << (level + 1);
            Self { level, offset: before % ROW, sizes: Sizes::new(before, 1 << level) }
        })
    }
}

/// A row is a window of `2^LEVELS` elements.
const LEVELS: usize = ROW.ilog2() as usize;
/// Rows whose windows are made together.
const GROUP: usize = 8;

/// Elements and summaries of the windows of 2, 4, ... [`ROW`] elements at the starts of [`GROUP`] rows, and of the
/// parts beyond them.
#[repr(align(64))]
struct Levels<T, const F: usize> {
    x: [T; (GROUP + 1) * ROW + 16],
    windows: [[[T; (GROUP + 1) * ROW + 16]; F]; LEVELS],
}

impl<T: Lanes, const F: usize> Levels<T, F> {
    fn new() -> Self {
        let none = [T::default(); (GROUP + 1) * ROW + 16];
        Self { x: none, windows: [[none; F]; LEVELS] }
    }

    /// The windows of `2^level` elements, at least 2, at the starts from `i` on.
    #[inline(always)]
    fn get<S: Simd>(&self, simd: S, level: usize, i: usize) -> Vectors<T, S, F> {
        assert!(i < (GROUP + 1) * ROW);
        let mut window = [Vector::of(simd, T::default()); F];
        for k in 0..F {
            // SAFETY: 16 elements follow the last start, and no vector is longer.
            window[k] = unsafe { Vector::load(simd, self.windows[level - 1][k].as_ptr().add(i)) };
        }
        window
    }

    /// Summarises the windows at the starts of [`GROUP`] rows from `x[start]` on. Elements beyond the end count as
    /// zeros.
    #[inline(always)]
    fn fill<S: Simd>(&mut self, simd: S, op: impl Summary<T, F>, x: &[T], start: usize) {
        let lanes = T::lanes::<S>();
        assert!(lanes <= 16);
        let mut x = x.get(start..).unwrap_or(&[]);
        if x.len() < self.x.len() {
            self.x[..x.len()].copy_from_slice(x);
            self.x[x.len()..].fill(T::default());
            x = &self.x;
        }
        let x = x.as_ptr();
        let windows = self.windows.each_mut().map(|level| level.each_mut().map(|w| w.as_mut_ptr()));

        // SAFETY (of all loads and stores below): a level ends with the last start whose window lies within
        // `(GROUP + 1) * ROW` elements; 16 more are there, and no vector is longer.
        let left = (GROUP + 1) * ROW - 2;
        for i in (0..left).step_by(lanes) {
            // SAFETY: as said.
            unsafe {
                let (a, b) = (Vector::load(simd, x.add(i)), Vector::load(simd, x.add(i + 1)));
                store(windows[0], i, op.join(op.one(a), op.one(b), b - a, Sizes::new(1, 1)));
            }
        }
        for level in 1..LEVELS {
            let width = 1 << level;
            let left = (GROUP + 1) * ROW - 2 * width;
            let (from, to, sizes) = (windows[level - 1], windows[level], Sizes::new(width, width));
            for i in (0..left).step_by(lanes) {
                // SAFETY: as said.
                unsafe {
                    let (a, b) = (Vector::load(simd, x.add(i)), Vector::load(simd, x.add(i + width)));
                    let (left, right) = (load(simd, from, i), load(simd, from, i + width));
                    store(to, i, op.join(left, right, b - a, sizes));
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
