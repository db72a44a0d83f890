//! Moving windows of many elements.
//!
//! A window is rows of 32 elements and a rest. The windows of one row and those of the rest come from doubling; those of
//! `q` rows from joining the last rows of one block of `q` rows with the first rows of the next (van Herk, 1992), so the
//! work for an element does not grow with the window.

use crate::isa::Simd;

use super::rolling_summary::{Sizes, Summary};
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
    let rest = size % ROW;
    let with_rest = Sizes::new(rows * ROW, rest);

    let mut group = Group::<T, F>::new();
    // The single rows of the block to come, and the windows from each row of the current block to its end.
    let mut block = vec![Row::default(); rows];
    let mut ends = block.clone();
    for (j, row) in block.iter_mut().enumerate() {
        if j % GROUP == 0 {
            group.fill(simd, op, x, j * ROW, rest);
        }
        for c in (0..ROW).step_by(lanes) {
            row.set(c, group.rows.get(simd, j % GROUP * ROW + c));
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
                    let step = at(simd, op, x, start + ROW) - at(simd, op, x, start);
                    later = op.join(ends[i].get(simd, c), later, step, to_end[i]);
                    ends[i].set(c, later);
                }
            }
        }
        let (here, next, place) = (t * ROW, (t + rows) * ROW, t % GROUP * ROW);
        if place == 0 {
            group.fill(simd, op, x, next, rest);
        }
        let (end, single) = (&ends[j], &mut block[j]);
        for c in (0..ROW).step_by(lanes) {
            let from = at(simd, op, x, here + c);
            let row = group.rows.get(simd, place + c);
            let (mut window, mut so_far) = (end.get(simd, c), row);
            if j > 0 {
                let (first, before) = (at(simd, op, x, next_block + c), begun.get(simd, c));
                window = op.join(window, before, first - from, across[j]);
                so_far = op.join(before, row, at(simd, op, x, next + c) - first, onward[j]);
            }
            begun.set(c, so_far);
            single.set(c, row);
            if rest > 0 {
                let rest = group.rests.get(simd, place + c);
                window = op.join(window, rest, at(simd, op, x, next + c) - from, with_rest);
            }
            if c < out.len() {
                op.finish(window, size).write(&mut out[c..]);
            }
        }
        j = if j + 1 == rows { 0 } else { j + 1 };
    }
}

/// Rows whose windows are made together.
const GROUP: usize = 16;
/// Elements that the windows at the starts of a group lie in.
const REACH: usize = (GROUP + 1) * ROW;
/// A vector more than that.
const LENGTH: usize = REACH + 16;

/// Summaries of windows at the starts of a group of rows.
#[repr(align(64))]
struct Windows<T, const F: usize>([[T; LENGTH]; F]);

impl<T: Lanes, const F: usize> Windows<T, F> {
    #[inline(always)]
    fn get<S: Simd>(&self, simd: S, i: usize) -> Vectors<T, S, F> {
        assert!(i < REACH);
        let mut window = [Vector::of(simd, T::default()); F];
        for k in 0..F {
            // SAFETY: 16 elements follow the last start, and no vector is longer.
            window[k] = unsafe { Vector::load(simd, self.0[k].as_ptr().add(i)) };
        }
        window
    }

    #[inline(always)]
    fn set<S: Simd>(&mut self, i: usize, window: Vectors<T, S, F>) {
        assert!(i < REACH);
        for k in 0..F {
            // SAFETY: as in `get`.
            unsafe { window[k].store(self.0[k].as_mut_ptr().add(i)) };
        }
    }
}

/// The elements and windows that the windows at the starts of [`GROUP`] rows are joined from.
struct Group<T, const F: usize> {
    /// The elements, where the series ends within the group.
    x: [T; LENGTH],
    /// Windows of a row.
    rows: Windows<T, F>,
    /// Windows of the rest.
    rests: Windows<T, F>,
}

impl<T: Lanes, const F: usize> Group<T, F> {
    fn new() -> Self {
        let none = [T::default(); LENGTH];
        Self { x: none, rows: Windows([none; F]), rests: Windows([none; F]) }
    }

    /// Summarises the windows of a row and of `rest` elements from `x[start]` on. Elements beyond the end count as
    /// zeros.
    #[inline(always)]
    fn fill<S: Simd>(&mut self, simd: S, op: impl Summary<T, F>, x: &[T], start: usize, rest: usize) {
        let lanes = T::lanes::<S>();
        assert!(lanes <= 16);
        let mut x = x.get(start..).unwrap_or(&[]);
        if x.len() < LENGTH {
            self.x[..x.len()].copy_from_slice(x);
            self.x[x.len()..].fill(T::default());
            x = &self.x;
        }
        let x: &[T; LENGTH] = x.first_chunk().expect("made as long");
        let load = |i: usize| {
            assert!(i < REACH);
            // SAFETY: 16 elements follow, and no vector is longer.
            unsafe { Vector::load(simd, x.as_ptr().add(i)) }
        };
        // Windows of `width` elements, a power of two, become those of twice as many. Where the rest has such a window,
        // it goes before what is there of the rest.
        let mut width = 1;
        while width < ROW {
            let sizes = Sizes::new(width, width);
            let (whole, after) = (rest & width > 0, rest & (width - 1));
            let with_after = Sizes::new(width, after);
            for i in (0..REACH - 2 * width + 1).step_by(lanes) {
                let (a, b) = (load(i), load(i + width));
                let (left, right) = match width {
                    1 => (op.one(a), op.one(b)),
                    _ => (self.rows.get(simd, i), self.rows.get(simd, i + width)),
                };
                if whole && after > 0 {
                    let after = self.rests.get(simd, i + width);
                    self.rests.set(i, op.join(left, after, b - a, with_after));
                } else if whole {
                    self.rests.set(i, left);
                }
                self.rows.set(i, op.join(left, right, b - a, sizes));
            }
            width *= 2;
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

/// The vector at `x[i]`, zeros standing for elements beyond the end; zeros where the summary knows no steps.
#[inline(always)]
fn at<T: Lanes, S: Simd, Op: Summary<T, F>, const F: usize>(
    simd: S,
    _: Op,
    x: &[T],
    i: usize,
) -> Vector<T, S> {
    match Op::STEPS {
        true => Vector::read(simd, x.get(i..).unwrap_or(&[])),
        false => Vector::of(simd, T::default()),
    }
}
