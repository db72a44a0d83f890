//! Products in `f32` by vectors or by faer, cut into tasks: by their shape alone, so that the bits do not depend on the number of
//! threads.

use std::ops::Range;

use crate::batch::{BatchMut, BatchRef};
use crate::dispatch::multiply;
use crate::epilogue::epilogue;
use crate::options::Options;
use crate::parts;
use crate::product::Product;
use crate::strips::{self, PackedStrips, STRIP};
use crate::threads;
use crate::view::{MatMut, MatRef};

/// Multiply-adds that are worth a task of their own, some twenty microseconds: for fewer, a second thread
/// may cost more than it brings.
pub(crate) const TASK: usize = 3 << 19;

/// What an element of a product costs beside its multiplications, in such: loops that hardly begin, and its own reading and
/// writing. It counts where the inner dimension is short.
const OVERHEAD: usize = 16;

/// Products of fewer rows count as of so many: they take as long as reading the right operand from the third cache, and two cores
/// read that faster than one.
const FEW_ROWS: usize = 32;

/// The most tasks of a product.
const TASKS: usize = 16;

/// The least width and height of a task: what it reads of either operand is read from afar once. Where there are no more columns
/// than a kernel takes at a time, what is packed for them is little.
const WIDTH: usize = 256;
const HEIGHT: usize = 256;
const STRIP_HEIGHT: usize = 64;

/// The least multiply-adds of a task where the right operand is packed already, some microseconds: nothing is packed twice, and
/// forecasts of one window have no larger products. And its least height, where there are tasks side by side and where there
/// are not.
const PACKED_TASK: usize = 3 << 16;
const PACKED_HEIGHT: usize = 64;
const NARROW_HEIGHT: usize = 24;

/// The grid of tasks of one product.
#[derive(Clone, Copy, Debug)]
struct Grid {
    rows: usize,
    cols: usize,
    height: usize,
    width: usize,
}

impl Grid {
    /// Every task packs the part of `rhs` that it reads, which is cheap against [`HEIGHT`] rows that use
    /// it. So columns are cut first, which packs nothing twice, then rows.
    fn of(m: usize, n: usize, k: usize) -> Self {
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
    fn of_packed(m: usize, n: usize, k: usize) -> Self {
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

    fn across(self) -> usize {
        self.cols.div_ceil(self.width)
    }

    fn len(self) -> usize {
        self.rows.div_ceil(self.height) * self.across()
    }

    /// The rows and columns of a task.
    fn task(self, index: usize) -> (Range<usize>, Range<usize>) {
        let top = index / self.across() * self.height;
        let left = index % self.across() * self.width;
        (top..self.rows.min(top + self.height), left..self.cols.min(left + self.width))
    }
}

/// Multiply-adds of a product.
fn work(m: usize, n: usize, k: usize) -> usize {
    m.saturating_mul(n).saturating_mul(k)
}

/// A product whose shapes and bias fit together.
#[inline(always)]
pub(crate) fn one(dst: MatMut<'_, f32>, lhs: MatRef<'_, f32>, rhs: MatRef<'_, f32>, options: Options<'_>) {
    let inner = lhs.ncols().saturating_add(OVERHEAD);
    if work(dst.nrows().max(FEW_ROWS), dst.ncols().max(FEW_ROWS), inner) >= 2 * TASK {
        return batch(dst.into(), lhs.into(), rhs.into(), options);
    }
    // The grid of any smaller product is one task, and none is cut in parts.
    let Options { accum, alpha, bias, activation, .. } = options;
    let (mut dst, lhs, rhs, bias) = match dst.row_stride() < dst.col_stride() {
        true => (dst.t(), rhs.t(), lhs.t(), bias.map(|bias| bias.t())),
        false => (dst, lhs, rhs, bias),
    };
    multiply(Product { dst: dst.reborrow(), lhs, rhs, accum, alpha });
    epilogue(dst, bias, activation);
}

/// Products whose shapes, counts and bias fit together.
pub(crate) fn batch(dst: BatchMut<'_>, lhs: BatchRef<'_>, rhs: BatchRef<'_>, options: Options<'_>) {
    // A destination whose rows are adjacent, rather than its columns: the grid is made for that.
    if dst.row_stride < dst.col_stride {
        let bias = options.bias.map(|bias| bias.t());
        return batch_by_rows(dst.t(), rhs.t(), lhs.t(), Options { bias, ..options });
    }
    batch_by_rows(dst, lhs, rhs, options);
}

fn batch_by_rows(dst: BatchMut<'_>, lhs: BatchRef<'_>, rhs: BatchRef<'_>, options: Options<'_>) {
    let Options { accum, alpha, bias, activation, .. } = options;
    if dst.count == 1
        && dst.col_stride == 1
        && let Some(count) = parts::count([dst.rows, lhs.cols, dst.cols], TASK)
    {
        // SAFETY: the batch's only matrix is taken once.
        let mut whole = unsafe { dst.get(0) };
        let (lhs, rhs) = (lhs.get(0), rhs.get(0));
        parts::run(whole.reborrow(), lhs.ncols(), count, accum, |dst, inner, accum| {
            multiply(Product { dst, lhs: lhs.cols(inner.clone()), rhs: rhs.rows(inner), accum, alpha });
        });
        return epilogue(whole, bias, activation);
    }
    let work = work(dst.rows, dst.cols, lhs.cols.saturating_add(OVERHEAD));
    let grid = Grid::of(dst.rows, dst.cols, lhs.cols);
    let tasks = grid.len();
    let shared = tasks > 1 || dst.count.saturating_mul(work) >= TASK;
    if tasks == 1 {
        // Small products go in groups, so that taking one costs nothing to speak of.
        let group = (TASK / 8).div_ceil(work.max(1));
        return for_each(dst.count, group, shared, |index| {
            // SAFETY: each index is taken once, and matrices have no element in common.
            let mut whole = unsafe { dst.get(index) };
            multiply(Product {
                dst: whole.reborrow(),
                lhs: lhs.get(index),
                rhs: rhs.get(index),
                accum,
                alpha,
            });
            epilogue(whole, bias, activation);
        });
    }
    for_each(dst.count * tasks, 1, shared, |index| {
        let (index, task) = (index / tasks, index % tasks);
        let (rows, cols) = grid.task(task);
        let (lhs, rhs) = (lhs.get(index).rows(rows.clone()), rhs.get(index).cols(cols.clone()));
        // SAFETY: each index is taken once, and tasks have no element in common.
        let mut part = unsafe { dst.get(index) }.rows(rows.clone()).cols(cols.clone());
        multiply(Product { dst: part.reborrow(), lhs, rhs, accum, alpha });
        epilogue(part, bias.map(|bias| bias.part(rows, cols)), activation);
    });
}

/// Calls `one` with the index of each product of a batch whose inner dimension is `k`, in groups that are worth a task.
pub(crate) fn for_each_product(dst: &BatchMut<'_>, k: usize, one: impl Fn(usize) + Sync) {
    let work = work(dst.rows, dst.cols, k.saturating_add(OVERHEAD));
    let shared = dst.count.saturating_mul(work) >= TASK;
    for_each(dst.count, TASK.div_ceil(work.max(1)), shared, one);
}

/// A product with a right operand in strips.
pub(crate) fn packed(dst: MatMut<'_, f32>, lhs: MatRef<'_, f32>, strips: &[f32], options: Options<'_>) {
    let Options { accum, alpha, bias, activation, .. } = options;
    let (m, n) = (dst.nrows(), dst.ncols());
    let grid = Grid::of_packed(m, n, lhs.ncols());
    let dst = BatchMut::from(dst);
    for_each(grid.len(), 1, grid.len() > 1, |index| {
        let (rows, cols) = grid.task(index);
        // SAFETY: each index is taken once, and tasks have no element in common.
        let mut part = unsafe { dst.get(0) }.rows(rows.clone()).cols(cols.clone());
        let packed = PackedStrips { values: strips, cols: n, first: cols.start };
        strips::product_with_packed(part.reborrow(), lhs.rows(rows.clone()), packed, accum, alpha);
        epilogue(part, bias.map(|bias| bias.part(rows, cols)), activation);
    });
}

/// Calls `one` with each index below `count`, once; where it is `shared`, on several threads, `group` indices in a row.
fn for_each(count: usize, group: usize, shared: bool, one: impl Fn(usize) + Sync) {
    match shared {
        true => threads::for_each(count, group, one),
        false => (0..count).for_each(one),
    }
}
