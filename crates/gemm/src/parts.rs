//! Products whose inner dimension is long beside their result, such as the gradients of weights: cut along the inner
//! dimension, since the result has too few tasks for all threads. Like tasks, parts are cut by the shape alone.

use std::ops::Range;

use foretell_pool::Buffer;

use crate::batch::BatchMut;
use crate::options::Accum;
use crate::threads;
use crate::view::MatMut;

/// The most elements of a result that is computed in parts: about a task of `tasks.rs`. Each part but the first is summed
/// in a buffer of as many.
const RESULT: usize = 1 << 16;

/// How many times the longer side of the result the inner dimension must be.
const LONG: usize = 4;

/// The most parts.
const PARTS: usize = 8;

/// The least inner dimension of a part.
const LEAST: usize = 384;

/// Parts begin at multiples of this: kernels take as much of the inner dimension at a time.
const STEP: usize = 128;

/// In how many parts a product is computed, if in several: each is worth a task of so many multiply-adds.
pub(crate) fn count([m, k, n]: [usize; 3], task: usize) -> Option<usize> {
    let result = m.saturating_mul(n);
    if result == 0 || result > RESULT || k / LONG < m.max(n) {
        return None;
    }
    let parts = PARTS.min(k / LEAST).min(result.saturating_mul(k) / task);
    (parts > 1).then_some(parts)
}

/// Computes a product in [`count`] parts, on the threads that may be used, and adds them up in their order: `part` gets a
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
    threads::for_each(count, 1, |index| {
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
