//! Products whose inner dimension is long beside their result, such as the gradients of weights: cut along the inner
//! dimension, since the result has too few tasks for all threads. Like tasks, parts are cut by the shape alone.

use std::ops::Range;

use foretell_pool::Buffer;

use crate::batch::BatchMut;
use crate::options::Accum;
use crate::plan::limits::parts::STEP;
use crate::view::MatMut;

/// Computes a product in [`plan::cut::parts`](crate::plan::cut::parts), on the threads that may be used, and adds them up in their order: `part` gets a
/// destination, its range of the inner dimension, and what to do with what the destination holds.
///
/// The rows of `dst` are adjacent elements.
pub(crate) fn run(
    mut dst: MatMut<'_, f32>,
    k: usize,
    count: usize,
    accum: Accum,
    part: impl Fn(MatMut<'_, f32>, Range<usize>, Accum) + Sync,
) {
    let (m, n) = (dst.nrows(), dst.ncols());
    let start = |part: usize| if part == count { k } else { part * k / count / STEP * STEP };
    let mut others = Buffer::<f32>::stale((count - 1) * m * n);
    let (first, rest) = (BatchMut::from(dst.reborrow()), BatchMut::row_major(&mut others, count - 1, m, n));
    foretell_threads::for_each(count, 1, |index| {
        let inner = start(index)..start(index + 1);
        // SAFETY: each index is taken once, and has a destination of its own.
        unsafe {
            match index {
                0 => part(first.get(0), inner, accum),
                _ => part(rest.get(index - 1), inner, Accum::Replace),
            }
        }
    });
    for other in others.chunks_exact(m * n) {
        for (i, row) in other.chunks_exact(n).enumerate() {
            foretell_simd::add_assign(dst.row_mut(i), row);
        }
    }
}
