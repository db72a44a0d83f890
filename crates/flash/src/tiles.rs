//! The sizes of the tiles that scores are computed in, and the computation of one tile.

use std::ops::Range;

use foretell_gemm::{Accum, MatMut, MatRef, Options, Rounding, matmul};
use foretell_simd as simd;

use crate::attention::{Algorithm, Attention, Dropout};
use crate::pattern::Coverage;
use crate::sizes::{Operand, Sizes, Strides};

/// The size of the tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tiles {
    pub(crate) queries: usize,
    pub(crate) keys: usize,
}

/// Tiles whose scores (128 KB) stay in the second cache with the rows of queries, keys and values that make them.
const TILED: Tiles = Tiles { queries: 128, keys: 256 };

/// Where products go by tiles of AMX, which pack the rows of a tile's queries, keys and values anew for each tile; the second cache
/// of such machines has room for its scores (512 KB). 8 heads of 64 at 1024 steps take 12.1 instead of 14.8 ms forward, 46.6
/// instead of 59.2 forward and backward (Granite Rapids).
const TILED_BY_AMX: Tiles = Tiles { queries: 512, keys: 256 };

/// How many tiles have as many scores as are computed at once. The bench `flash` measures the two ways.
const UNTILED: usize = 4;

/// Multiply-adds of a task: with the softmax some ten or twenty microseconds.
const TASK_WORK: usize = 1 << 20;

impl Tiles {
    pub(crate) fn of(sizes: &Sizes, way: Algorithm) -> Self {
        let all = Self { queries: sizes.queries.max(1), keys: sizes.keys.max(1) };
        let most = if simd::level() == simd::Level::Amx { TILED_BY_AMX } else { TILED };
        let tiled = Self { queries: most.queries.min(all.queries), keys: most.keys.min(all.keys) };
        match way {
            _ if !cfg!(feature = "flash") => all,
            Algorithm::Standard => all,
            Algorithm::Tiled => tiled,
            Algorithm::Fastest if all.queries.saturating_mul(all.keys) <= UNTILED * most.scores() => all,
            Algorithm::Fastest => tiled,
        }
    }

    /// The number of blocks of queries in a task, which share its scratch: the smaller they are, the more.
    pub(crate) fn group(&self, sizes: &Sizes) -> usize {
        let numbers = (sizes.dim + sizes.value_dim).max(1);
        let work = self.queries.saturating_mul(sizes.keys.max(1)).saturating_mul(numbers);
        TASK_WORK.div_ceil(work)
    }

    /// Numbers of a tile of scores.
    pub(crate) fn scores(&self) -> usize {
        self.queries * self.keys
    }

    /// Numbers that a thread needs in the forward pass.
    pub(crate) fn forward_scratch(&self, dropout: bool) -> usize {
        self.scores() * (1 + usize::from(dropout)) + 3 * self.queries
    }

    /// Numbers that a thread needs in the backward pass.
    pub(crate) fn backward_scratch(&self, dropout: bool) -> usize {
        self.scores() * (2 + usize::from(dropout)) + self.queries
    }

    /// The ranges of the tiles of `steps` steps.
    pub(crate) fn ranges(steps: usize, tile: usize) -> impl Iterator<Item = Range<usize>> {
        (0..steps).step_by(tile).map(move |start| start..steps.min(start + tile))
    }
}

/// One head of one window.
#[derive(Clone, Copy)]
pub(crate) struct Head {
    pub(crate) batch: usize,
    pub(crate) head: usize,
    /// Its number among all heads of all windows.
    pub(crate) index: usize,
}

impl Head {
    pub(crate) fn of(sizes: &Sizes, index: usize) -> Self {
        Self { batch: index / sizes.heads, head: index % sizes.heads, index }
    }

    /// Rows of an operand.
    pub(crate) fn rows<'a>(&self, operand: Operand<'a>, steps: Range<usize>, dim: usize) -> MatRef<'a, f32> {
        let Strides { step, .. } = operand.strides;
        let start = operand.strides.at(self.batch, self.head) + steps.start * step;
        // No rows or no numbers: the start may lie beyond the end.
        MatRef::new(operand.data.get(start..).unwrap_or_default(), steps.len(), dim, step, 1)
    }

    /// Prefetches the rows of an operand: a head that is computed at once reads each of them for the first time, and
    /// they lie far apart.
    pub(crate) fn prefetch(&self, operand: Operand<'_>, steps: usize, dim: usize) {
        if dim == 0 {
            return;
        }
        let start = operand.strides.at(self.batch, self.head);
        for step in 0..steps {
            simd::prefetch(&operand.data[start + step * operand.strides.step..][..dim]);
        }
    }
}

/// Writes the scores of a tile, `[queries, keys]`: scaled products, with the mask, minus infinity where a key is not seen.
pub(crate) fn score(
    attention: &Attention<'_>,
    head: Head,
    [q, k]: [Operand<'_>; 2],
    (queries, keys): (&Range<usize>, &Range<usize>),
    seen: Coverage,
    scores: &mut [f32],
) {
    let Sizes { dim, keys: all_keys, .. } = attention.sizes;
    let width = keys.len();
    matmul(
        MatMut::row_major(scores, queries.len(), width),
        head.rows(q, queries.clone(), dim),
        head.rows(k, keys.clone(), dim).t(),
        Options::default().alpha(attention.scale).rounding(attention.rounding),
    );
    if let Some(mask) = attention.mask {
        let start = head.batch * mask.batch + head.head * mask.head + keys.start;
        for (query, row) in queries.clone().zip(scores.chunks_exact_mut(width)) {
            simd::add_assign(row, &mask.data[start + query * mask.query..][..width]);
        }
    }
    if seen == Coverage::Something {
        for (query, row) in queries.clone().zip(scores.chunks_exact_mut(width)) {
            attention.pattern.mask_scores(query, keys, row);
        }
    }
    if let Some(padding) = attention.key_padding {
        let padding = &padding[head.batch * all_keys..][keys.clone()];
        if padding.contains(&true) {
            for row in scores.chunks_exact_mut(width) {
                let padded = row.iter_mut().zip(padding).filter(|(_, padding)| **padding);
                padded.for_each(|(score, _)| *score = f32::NEG_INFINITY);
            }
        }
    }
}

/// Drops elements of a tile as the mask of its place says.
pub(crate) fn drop_out(
    attention: &Attention<'_>,
    Dropout { rate, key }: Dropout,
    head: Head,
    (queries, keys): (&Range<usize>, &Range<usize>),
    from: &[f32],
    to: &mut [f32],
) {
    let Sizes { queries: all_queries, keys: all_keys, .. } = attention.sizes;
    let place = |query: usize| ((head.index * all_queries + query) * all_keys + keys.start) as u64;
    if keys.len() == all_keys {
        return simd::dropout(key, place(queries.start), rate, from, to);
    }
    let rows = from.chunks_exact(keys.len()).zip(to.chunks_exact_mut(keys.len()));
    for (query, (from, to)) in queries.clone().zip(rows) {
        simd::dropout(key, place(query), rate, from, to);
    }
}

/// `dst = [dst +] alpha lhs rhs`.
pub(crate) fn product(
    (accum, rounding): (Accum, Rounding),
    alpha: f32,
    dst: MatMut<'_, f32>,
    lhs: MatRef<'_, f32>,
    rhs: MatRef<'_, f32>,
) {
    matmul(dst, lhs, rhs, Options::default().accum(accum).alpha(alpha).rounding(rounding));
}
