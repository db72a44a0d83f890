//! The forward pass: rows of queries go through the tiles of keys with a softmax that is updated from tile to tile.

use std::ops::Range;

use foretell_gemm::{Accum, MatRef};
use foretell_pool::Buffer;
use foretell_simd as simd;
use foretell_threads::for_each;

use crate::attention::Attention;
use crate::pattern::Coverage;
use crate::shared::{Dense, Shared};
use crate::sizes::{Operand, OperandMut, Sizes};
use crate::tiles::{Head, Tiles, drop_out, product, score};

/// A forward pass: what all heads read, and where their outputs are written.
struct Pass<'a> {
    attention: &'a Attention<'a>,
    tiles: &'a Tiles,
    /// Queries, keys and values.
    operands: [Operand<'a>; 3],
    out: Shared<'a>,
}

pub(crate) fn run(
    attention: &Attention<'_>,
    tiles: &Tiles,
    operands: [Operand<'_>; 3],
    out: OperandMut<'_>,
    stats: &mut [f32],
    scores: Option<&mut [f32]>,
) {
    let Sizes { queries, keys, dim, value_dim, .. } = attention.sizes;
    let blocks = queries.div_ceil(tiles.queries);
    let (stats, scores) = (Dense::of(stats), scores.map(Dense::of));
    let pass = Pass { attention, tiles, operands, out: Shared::of(out) };
    let all = attention.sizes.all_heads() * blocks;
    let group = tiles.group(&attention.sizes);
    let one = |first: usize| {
        let mut scratch = Scratch::new(tiles, attention.dropout.is_some());
        for item in first * group..all.min((first + 1) * group) {
            let head = Head::of(&attention.sizes, item / blocks);
            if blocks == 1 && item + 1 < all {
                let next = Head::of(&attention.sizes, item + 1);
                let [q, k, v] = operands;
                next.prefetch(q, queries, dim);
                next.prefetch(k, keys, dim);
                next.prefetch(v, keys, value_dim);
            }
            let start = item % blocks * tiles.queries;
            let rows = start..queries.min(start + tiles.queries);
            // SAFETY: each head and block of queries is taken once.
            let (stats, scores) = unsafe {
                let first = head.index * queries + rows.start;
                let stats = stats.part(first..first + rows.len());
                (stats, scores.as_ref().map(|all| all.part(first * keys..(first + rows.len()) * keys)))
            };
            // SAFETY: as above.
            unsafe { pass.block(head, rows, stats, scores, &mut scratch) };
        }
    };
    for_each(all.div_ceil(group), 1, one);
}

/// The buffers of a thread, for one block of queries after the other.
struct Scratch {
    scores: Buffer<f32>,
    dropped: Buffer<f32>,
    max: Buffer<f32>,
    sum: Buffer<f32>,
    correction: Buffer<f32>,
}

impl Scratch {
    fn new(tiles: &Tiles, dropout: bool) -> Self {
        let [scores, dropped] =
            [true, dropout].map(|used| Buffer::stale(if used { tiles.scores() } else { 0 }));
        let [max, sum, correction] = [(); 3].map(|()| Buffer::stale(tiles.queries));
        Self { scores, dropped, max, sum, correction }
    }
}

impl Pass<'_> {
    /// The output of some queries of a head, the logarithms of the sums of their `e^score`, and the scores, if they are `kept`.
    ///
    /// # Safety
    /// No one else writes these rows of `out`.
    unsafe fn block(
        &self,
        head: Head,
        rows: Range<usize>,
        stats: &mut [f32],
        mut kept: Option<&mut [f32]>,
        Scratch { scores, dropped, max, sum, correction }: &mut Scratch,
    ) {
        let Self { attention, tiles, operands: [q, k, v], ref out } = *self;
        let Sizes { keys: all_keys, value_dim, .. } = attention.sizes;
        let [max, sum, correction] = [max, sum, correction].map(|state| &mut state[..rows.len()]);
        max.fill(f32::NEG_INFINITY);
        sum.fill(0.0);
        let mut begun = false;
        for keys in Tiles::ranges(all_keys, tiles.keys) {
            let seen = attention.pattern.tile(&rows, &keys);
            if seen == Coverage::Nothing {
                if let Some(kept) = &mut kept {
                    let tile = kept.chunks_exact_mut(all_keys).map(|row| &mut row[keys.clone()]);
                    tile.for_each(|row| row.fill(f32::NEG_INFINITY));
                }
                continue;
            }
            let scores = &mut scores[..rows.len() * keys.len()];
            score(attention, head, [q, k], (&rows, &keys), seen, scores);
            if let Some(kept) = &mut kept {
                let tile = kept.chunks_exact_mut(all_keys).map(|row| &mut row[keys.clone()]);
                tile.zip(scores.chunks_exact(keys.len())).for_each(|(kept, row)| kept.copy_from_slice(row));
            }
            simd::online_softmax_rows(scores, keys.len(), max, sum, correction);
            let probabilities = match attention.dropout {
                None => &*scores,
                Some(dropout) => {
                    let dropped = &mut dropped[..scores.len()];
                    drop_out(attention, dropout, head, (&rows, &keys), scores, dropped);
                    &*dropped
                }
            };
            let probabilities = MatRef::row_major(probabilities, rows.len(), keys.len());
            let values = head.rows(v, keys.clone(), value_dim);
            if begun {
                for (step, &correction) in rows.clone().zip(correction.iter()) {
                    if correction != 1.0 {
                        // SAFETY: the caller's contract; one row at a time.
                        simd::scale(unsafe { out.row(head, step, value_dim) }, correction);
                    }
                }
            }
            // SAFETY: the caller's contract; one view at a time.
            let to = unsafe { out.rows(head, rows.clone(), value_dim) };
            let accum = if begun { Accum::Add } else { Accum::Replace };
            product((accum, attention.rounding), 1.0, to, probabilities, values);
            begun = true;
        }
        // Where there was nothing to see, the logarithm of no sum at all is minus infinity too.
        simd::ln(sum, stats);
        simd::add_assign(stats, max);
        for ((step, max), sum) in rows.zip(max.iter()).zip(sum.iter()) {
            // SAFETY: as above.
            let row = unsafe { out.row(head, step, value_dim) };
            match *max == f32::NEG_INFINITY || !begun {
                true => row.fill(0.0),
                false => simd::scale(row, 1.0 / sum),
            }
        }
    }
}
