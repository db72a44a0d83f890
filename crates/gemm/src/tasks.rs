//! Products in `f32` by vectors or by faer, cut into tasks: by their shape alone, so that the bits do not depend on the number of
//! threads.

use crate::batch::{BatchMut, BatchRef};
use crate::dispatch::multiply;
use crate::epilogue::Epilogue;
use crate::options::Options;
use crate::parts;
use crate::plan::cut::{self, Cut, Grid, work};
use crate::plan::kernel::{self, Kernel};
use crate::plan::limits::strips::row_stride;
use crate::plan::limits::tasks::{OVERHEAD, TASK};
use crate::product::Product;
use crate::strips::{self, PackedStrips};
use crate::tiny;
use crate::vector::Current;
use crate::view::{MatMut, MatRef};

/// A product whose shapes and bias fit together.
#[inline(always)]
pub(crate) fn one(dst: MatMut<'_, f32>, lhs: MatRef<'_, f32>, rhs: MatRef<'_, f32>, options: Options<'_>) {
    if !cut::is_one_task([dst.nrows(), lhs.ncols(), dst.ncols()]) {
        return batch(dst.into(), lhs.into(), rhs.into(), options);
    }
    // The grid of any smaller product is one task, and none is cut in parts.
    let Options { accum, alpha, bias, activation, .. } = options;
    let (product, epilogue) = (Product { dst, lhs, rhs, accum, alpha }, Epilogue { bias, activation });
    match product.dst.row_stride() < product.dst.col_stride() {
        true => multiply(product.t(), epilogue.t()),
        false => multiply(product, epilogue),
    }
}

/// Products whose shapes, counts and bias fit together.
pub(crate) fn batch(dst: BatchMut<'_>, lhs: BatchRef<'_>, rhs: BatchRef<'_>, options: Options<'_>) {
    // A destination whose rows are adjacent, rather than its columns: the grid is made for that.
    if dst.first.row_stride() < dst.first.col_stride() {
        let bias = options.bias.map(|bias| bias.t());
        return batch_by_rows(dst.t(), rhs.t(), lhs.t(), Options { bias, ..options });
    }
    batch_by_rows(dst, lhs, rhs, options);
}

fn batch_by_rows(dst: BatchMut<'_>, lhs: BatchRef<'_>, rhs: BatchRef<'_>, options: Options<'_>) {
    let Options { accum, alpha, bias, activation, .. } = options;
    let epilogue = Epilogue { bias, activation };
    let [m, k, n] = [dst.first.nrows(), lhs.first.ncols(), dst.first.ncols()];
    let grid = match cut::in_f32([m, k, n], dst.count == 1 && dst.first.col_stride() == 1) {
        Cut::Grid(grid) => grid,
        Cut::Parts(count) => {
            // SAFETY: the batch's only matrix is taken once.
            let mut whole = unsafe { dst.get(0) };
            let (lhs, rhs) = (lhs.get(0), rhs.get(0));
            parts::run(whole.reborrow(), lhs.ncols(), count, accum, |dst, inner, accum| {
                let (lhs, rhs) = (lhs.cols(inner.clone()), rhs.rows(inner));
                multiply(Product { dst, lhs, rhs, accum, alpha }, Epilogue::NONE);
            });
            return epilogue.run(whole);
        }
    };
    let work = work(m, n, k.saturating_add(OVERHEAD));
    let tasks = grid.len();
    let shared = tasks > 1 || dst.count.saturating_mul(work) >= TASK;
    if tasks == 1 {
        // Small products go in groups, so that taking one costs nothing to speak of.
        let group = (TASK / 8).div_ceil(work.max(1));
        return for_each(dst.count, group, shared, |index| {
            // SAFETY: each index is taken once, and matrices have no element in common.
            let dst = unsafe { dst.get(index) };
            multiply(Product { dst, lhs: lhs.get(index), rhs: rhs.get(index), accum, alpha }, epilogue);
        });
    }
    for_each(dst.count * tasks, 1, shared, |index| {
        let (index, task) = (index / tasks, index % tasks);
        let (rows, cols) = grid.task(task);
        let (lhs, rhs) = (lhs.get(index).rows(rows.clone()), rhs.get(index).cols(cols.clone()));
        // SAFETY: each index is taken once, and tasks have no element in common.
        let dst = unsafe { dst.get(index) }.rows(rows.clone()).cols(cols.clone());
        multiply(Product { dst, lhs, rhs, accum, alpha }, epilogue.part(rows, cols));
    });
}

/// Calls `one` with the index of each product of a batch whose inner dimension is `k`, in groups that are worth a task.
pub(crate) fn for_each_product(dst: &BatchMut<'_>, k: usize, one: impl Fn(usize) + Sync) {
    let work = work(dst.first.nrows(), dst.first.ncols(), k.saturating_add(OVERHEAD));
    let shared = dst.count.saturating_mul(work) >= TASK;
    for_each(dst.count, TASK.div_ceil(work.max(1)), shared, one);
}

/// A product with a right operand in strips.
pub(crate) fn packed(dst: MatMut<'_, f32>, lhs: MatRef<'_, f32>, strips: &[f32], options: Options<'_>) {
    let Options { accum, alpha, bias, activation, .. } = options;
    let (m, k, n) = (dst.nrows(), lhs.ncols(), dst.ncols());
    if let (Kernel::Tiny, Some(stride)) = (kernel::of_strips([m, k, n]), row_stride(k, n)) {
        let rhs = MatRef { data: strips, rows: k, cols: n, row_stride: stride, col_stride: 1 };
        let product = Product { dst, lhs, rhs, accum, alpha };
        return tiny::product(product, Epilogue { bias, activation }, Current::read());
    }
    let grid = Grid::of_packed(m, n, k);
    let dst = BatchMut::from(dst);
    for_each(grid.len(), 1, grid.len() > 1, |index| {
        let (rows, cols) = grid.task(index);
        // SAFETY: each index is taken once, and tasks have no element in common.
        let mut part = unsafe { dst.get(0) }.rows(rows.clone()).cols(cols.clone());
        let packed = PackedStrips { values: strips, cols: n, first: cols.start };
        strips::product_with_packed(part.reborrow(), lhs.rows(rows.clone()), packed, accum, alpha);
        Epilogue { bias, activation }.part(rows, cols).run(part);
    });
}

/// Calls `one` with each index below `count`, once; where it is `shared`, on several threads, `group` indices in a row.
fn for_each(count: usize, group: usize, shared: bool, one: impl Fn(usize) + Sync) {
    match shared {
        true => foretell_threads::for_each(count, group, one),
        false => (0..count).for_each(one),
    }
}
