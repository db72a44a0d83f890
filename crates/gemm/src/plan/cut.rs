//! How a product is cut into tasks or parts: by its shape alone, so that the bits do not depend on the number of threads.

use std::ops::Range;

use super::limits::strips::STRIP;
use super::limits::tasks::*;
use super::limits::{self, bf16, bf16x3, int8};

/// The grid of tasks of one product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) height: usize,
    pub(crate) width: usize,
}

impl Grid {
    /// Every task packs the part of `rhs` that it reads, which is cheap against [`HEIGHT`] rows that use
    /// it. So columns are cut first, which packs nothing twice, then rows.
    pub(crate) fn of(m: usize, n: usize, k: usize) -> Self {
        let tasks = (work(m.max(FEW_ROWS), n, k.saturating_add(OVERHEAD)) / TASK).min(TASKS);
        if tasks <= 1 {
            return Self { rows: m, cols: n, height: m.max(1), width: n.max(1) };
        }
        let across = tasks.min(n / WIDTH).max(1);
        // Half-sized tasks make up for the coarse cut of narrow products.
        let least = if n <= STRIP { STRIP_HEIGHT } else { HEIGHT };
        let down = if across == 1 { 2 * tasks } else { tasks / across };
        let down = down.min(m / least).max(1);
        Self::cut([m, n], [down, across])
    }

    /// Where the right operand is packed already: columns are cut first too, so that a thread reads a part of it.
    pub(crate) fn of_packed(m: usize, n: usize, k: usize) -> Self {
        let tasks = (work(m, n, k) / PACKED_TASK).clamp(1, TASKS);
        let across = tasks.min(n / WIDTH).max(1);
        let least = if across == 1 { NARROW_HEIGHT } else { PACKED_HEIGHT };
        let down = (tasks / across).min(m / least).max(1);
        Self::cut([m, n], [down, across])
    }

    fn cut([m, n]: [usize; 2], [down, across]: [usize; 2]) -> Self {
        let width = n.div_ceil(across).next_multiple_of(STRIP).max(1);
        Self { rows: m, cols: n, height: m.div_ceil(down).max(1), width }
    }

    pub(crate) fn across(self) -> usize {
        self.cols.div_ceil(self.width)
    }

    pub(crate) fn len(self) -> usize {
        self.rows.div_ceil(self.height) * self.across()
    }

    /// The rows and columns of a task.
    pub(crate) fn task(self, index: usize) -> (Range<usize>, Range<usize>) {
        let top = index / self.across() * self.height;
        let left = index % self.across() * self.width;
        (top..self.rows.min(top + self.height), left..self.cols.min(left + self.width))
    }
}

/// Multiply-adds of a product.
pub(crate) fn work(m: usize, n: usize, k: usize) -> usize {
    m.saturating_mul(n).saturating_mul(k)
}

/// How a product in `f32` is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// This many parts of the inner dimension.
    Parts(usize),
    /// Tasks.
    Grid(Grid),
}

/// Whether a product is so small that its grid is one task, transposed or not, and it is not cut in parts.
#[inline(always)]
pub(crate) fn is_one_task([m, k, n]: [usize; 3]) -> bool {
    work(m.max(FEW_ROWS), n.max(FEW_ROWS), k.saturating_add(OVERHEAD)) < 2 * TASK
}

/// The cut of a product in `f32` whose rows are written one after the other: in parts if that is possible, as for a single product
/// whose rows are adjacent.
pub(crate) fn in_f32([m, k, n]: [usize; 3], may_have_parts: bool) -> Cut {
    match parts([m, k, n], TASK) {
        Some(count) if may_have_parts => Cut::Parts(count),
        _ => Cut::Grid(Grid::of(m, n, k)),
    }
}

/// In how many parts a product is computed, if in several: each is worth a task of this many multiply-adds.
#[inline]
pub(crate) fn parts([m, k, n]: [usize; 3], task: usize) -> Option<usize> {
    let result = m.saturating_mul(n);
    if result == 0 || result > limits::parts::RESULT || k / limits::parts::LONG < m.max(n) {
        return None;
    }
    let parts = limits::parts::PARTS.min(k / limits::parts::LEAST).min(result.saturating_mul(k) / task);
    (parts > 1).then_some(parts)
}

/// Tasks of a product of packed operands in bfloat16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PackedTasks {
    /// Rows and columns of a task.
    pub(crate) height: usize,
    pub(crate) width: usize,
    pub(crate) down: usize,
    pub(crate) across: usize,
}

/// The cut of a product of packed operands in bfloat16, or in bf16x3 if it is `split`: `depth` is the padded inner dimension. No two
/// tasks pack the same columns, so there are no rows of tasks where tasks pack what they read. A thread `alone` with tiles of AMX
/// goes through all rows block by block.
#[inline]
pub(crate) fn in_bf16([m, depth, n]: [usize; 3], split: bool, is_packed: bool, alone: bool) -> PackedTasks {
    // A few rows take as long as 16: the time goes into reading the weights.
    let work = work(m.max(bf16::TILE), n, depth);
    let (tasks, least_rows) = match split {
        false => (work / bf16::TASK, bf16::BLOCK_ROWS),
        true => {
            let fine = (work / bf16x3::FINE_TASK).min(bf16x3::FINE_TASKS);
            ((work / bf16::TASK).max(fine), (n / 4).clamp(2 * bf16::TILE, bf16x3::BLOCK_ROWS))
        }
    };
    let tasks = if alone && is_packed { 1 } else { tasks.clamp(1, bf16::TASKS) };
    let down = if is_packed { tasks.min(m / least_rows).max(1) } else { 1 };
    let across = (tasks / down).min(n / bf16::TASK_COLUMNS).max(1);
    let height = m.div_ceil(down).next_multiple_of(2 * bf16::TILE);
    let width = n.div_ceil(across).next_multiple_of(4 * bf16::TILE);
    PackedTasks { height, width, down: m.div_ceil(height), across: n.div_ceil(width) }
}

/// The cut of a product with weights in 8 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Int8Cut {
    One,
    /// Tasks of this many rows.
    Rows(usize),
    /// Tasks of this many blocks of columns.
    Blocks(usize),
}

/// Cuts a product of `m` rows with this many `weights`, in this many `blocks` of columns: by rows, or where there are too few of them by
/// columns. Sums are exact, so no cut changes a bit.
pub(crate) fn in_int8(m: usize, weights: usize, blocks: usize) -> Int8Cut {
    let (by_rows, by_weights) = (weights.saturating_mul(m) / int8::TASK, weights / int8::TASK_OF_WEIGHTS);
    if m >= 2 * int8::TASK_ROWS && by_rows > 1 {
        return Int8Cut::Rows(m.div_ceil(by_rows.min(int8::TASKS).min(m / int8::TASK_ROWS)));
    }
    match by_rows.max(by_weights).min(int8::TASKS).min(blocks) {
        0 | 1 => Int8Cut::One,
        tasks => Int8Cut::Blocks(blocks.div_ceil(tasks)),
    }
}
