//! The forward pass: rows of queries go through the tiles of keys with a softmax that goes on from tile to tile.

use std::ops::Range;

use foretell_gemm::{MatRef, Options, matmul};
use foretell_pool::Buffer;
use foretell_simd as simd;
use foretell_threads::for_each;

use crate::attention::Attention;
use crate::pattern::Seen;
use crate::shared::{Dense, Shared};
use crate::sizes::{Operand, OperandMut, Sizes};
use crate::tiles::{Head, Tiles, add_product, drop_out, score};

pub(crate) fn run(
    attention: &Attention<'_>,
    tiles: &Tiles,
    operands: [Operand<'_>; 3],
    out: OperandMut<'_>,
    stats: &mut [f32],
    scores: Option<&mut [f32]>,
) {
    let Sizes { queries, keys, .. } = attention.sizes;
    let blocks = queries.div_ceil(tiles.queries);
    let (out, stats, scores) = (Shared::of(out), Dense::of(stats), scores.map(Dense::of));
    for_each(attention.sizes.all_heads() * blocks, 1, |item| {
        let head = Head::of(&attention.sizes, item / blocks);
        let start = item % blocks * tiles.queries;
        let rows = start..queries.min(start + tiles.queries);
        // SAFETY: each head and block of queries is taken once.
        let (stats, scores) = unsafe {
            let first = head.index * queries + rows.start;
            let stats = stats.part(first..first + rows.len());
            (stats, scores.as_ref().map(|all| all.part(first * keys..(first + rows.len()) * keys)))
        };
        // SAFETY: as above.
        unsafe { block(attention, tiles, operands, head, rows, &out, stats, scores) };
    });
}

/// The output of some queries of a head.
///
/// # Safety
/// Nobody else writes these rows of `out`.
unsafe fn block(
    attention: &Attention<'_>,
    tiles: &Tiles,
    [q, k, v]: [Operand<'_>; 3],
    head: Head,
    rows: Range<usize>,
    out: &Shared<'_>,
    stats: &mut [f32],
    mut kept: Option<&mut [f32]>,
) {
    let Sizes { keys: all_keys, value_dim, .. } = attention.sizes;
    let mut scores = Buffer::<f32>::zeroed(tiles.scores());
    let mut dropped = Buffer::<f32>::zeroed(if attention.dropout.is_some() { tiles.scores() } else { 0 });
    let mut max = Buffer::filled(rows.len(), f32::NEG_INFINITY);
    let mut sum = Buffer::<f32>::zeroed(rows.len());
    let mut correction = Buffer::<f32>::zeroed(rows.len());
    let mut begun = false;
    for keys in Tiles::ranges(all_keys, tiles.keys) {
        let seen = attention.pattern.tile(&rows, &keys);
        if seen == Seen::Nothing {
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
        simd::online_softmax_rows(scores, keys.len(), &mut max, &mut sum, &mut correction);
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
            // SAFETY: as above.
            add_product(1.0, unsafe { out.rows(head, rows.clone(), value_dim) }, probabilities, values);
        } else {
            // SAFETY: as above.
            let to = unsafe { out.rows(head, rows.clone(), value_dim) };
            matmul(to, probabilities, values, Options::default());
            begun = true;
        }
    }
    for (((step, max), sum), stat) in rows.zip(max.iter()).zip(sum.iter()).zip(stats) {
        // SAFETY: as above.
        let row = unsafe { out.row(head, step, value_dim) };
        if *max == f32::NEG_INFINITY || !begun {
            row.fill(0.0);
            *stat = f32::NEG_INFINITY;
        } else {
            simd::scale(row, 1.0 / sum);
            *stat = max + sum.ln();
        }
    }
}
