//! How a product is cut: by its shape alone, so that the bits do not depend on the number of threads.

use crate::element::Element;
use crate::epilogue::epilogue;
use crate::options::Options;
use crate::product::product as multiply;
use crate::view::{MatMut, MatRef};

/// Multiply-adds that are worth a task of their own: some tens of microseconds.
const TASK: usize = 4 << 20;

/// Multiply-adds below which a second thread may cost more than it brings.
const WORTHWHILE: usize = 10 << 20;

/// The most tiles of a product.
const TASKS: usize = 16;

/// The least width and height of a tile.
const WIDTH: usize = 256;
const HEIGHT: usize = 256;

/// The height and width of a tile.
#[derive(Clone, Copy)]
struct Tile {
    rows: usize,
    cols: usize,
}

/// Multiply-adds of a product.
pub(crate) fn work(m: usize, n: usize, k: usize) -> usize {
    m.saturating_mul(n).saturating_mul(k)
}

/// As many threads as there is work for, and as there are.
pub(crate) fn useful_threads(threads: usize, work: usize) -> usize {
    if threads <= 1 || work < WORTHWHILE {
        return 1;
    }
    #[cfg(feature = "parallel")]
    return threads.min(rayon::current_num_threads()).min(work / TASK);
    #[cfg(not(feature = "parallel"))]
    1
}

/// Shares the threads between two pieces of work of about the same size.
pub(crate) fn join(threads: usize, left: impl FnOnce(usize) + Send, right: impl FnOnce(usize) + Send) {
    #[cfg(feature = "parallel")]
    if threads > 1 {
        // The caller works too, also one from outside the pool, which `rayon::join` would put to sleep.
        return rayon::in_place_scope(|scope| {
            scope.spawn(|_| right(threads / 2));
            left(threads.div_ceil(2));
        });
    }
    left(threads);
    right(threads);
}

/// The epilogue and all checked: computes `dst` tile by tile.
pub(crate) fn product<T: Element>(
    dst: MatMut<'_, T>,
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
    options: &Options<'_, T>,
    threads: usize,
) {
    // A destination whose rows are adjacent, as faer sees to itself.
    if dst.row_stride() < dst.col_stride() {
        let options = Options { bias: options.bias.map(|bias| bias.t()), ..*options };
        return product_by_rows(dst.t(), rhs.t(), lhs.t(), &options, threads);
    }
    product_by_rows(dst, lhs, rhs, options, threads);
}

fn product_by_rows<T: Element>(
    dst: MatMut<'_, T>,
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
    options: &Options<'_, T>,
    threads: usize,
) {
    let (m, n, k) = (dst.nrows(), dst.ncols(), lhs.ncols());
    let threads = useful_threads(threads, work(m, n, k));
    cut(dst, lhs, rhs, options, Tile::of(m, n, k), threads);
}

impl Tile {
    /// Every tile packs the part of `rhs` that it reads, which is cheap against [`HEIGHT`] rows that use
    /// it. So columns are cut first, which packs nothing twice, then rows.
    fn of(m: usize, n: usize, k: usize) -> Self {
        let tasks = (work(m, n, k) / TASK).clamp(1, TASKS);
        let across = tasks.min(n / WIDTH).max(1);
        let down = (tasks / across).min(m / HEIGHT).max(1);
        Self { rows: m.div_ceil(down).max(1), cols: n.div_ceil(across).next_multiple_of(64).max(1) }
    }
}

/// Halves the product until it is one tile.
fn cut<T: Element>(
    mut dst: MatMut<'_, T>,
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
    options: &Options<'_, T>,
    tile: Tile,
    threads: usize,
) {
    let m = dst.nrows();
    if m > tile.rows {
        let at = (m.div_ceil(tile.rows) / 2) * tile.rows;
        let (top, bottom) = dst.split_rows(at);
        let (top_bias, bottom_bias) = options.bias.map(|bias| bias.split_rows(at)).unzip();
        join(
            threads,
            |threads| cut(top, lhs.rows(0..at), rhs, &Options { bias: top_bias, ..*options }, tile, threads),
            |threads| cut(bottom, lhs.rows(at..m), rhs, &Options { bias: bottom_bias, ..*options }, tile, threads),
        );
    } else if dst.ncols() > tile.cols {
        // The columns of a product are the rows of the transposed one.
        let options = Options { bias: options.bias.map(|bias| bias.t()), ..*options };
        let tile = Tile { rows: tile.cols, cols: tile.rows };
        cut(dst.t(), rhs.t(), lhs.t(), &options, tile, threads);
    } else {
        multiply(dst.reborrow(), lhs, rhs, options.accum, options.alpha);
        epilogue(dst, options.bias, options.activation);
    }
}
