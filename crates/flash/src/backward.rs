//! The backward pass: each tile of scores is computed again, with the saved logarithms of the sums of its rows.
//!
//! With probabilities `P`, their dropped form `D(P)`, and the output's gradient `G`: `dV = D(P)^T G`,
//! `dP = D(G V^T)`, `dS = P (dP - rowsum(G out))`, `dQ = scale dS K`, `dK = scale dS^T Q` (Dao et al. 2022, algorithm
//! 4).

use std::ops::Range;

use foretell_gemm::{Accum, MatMut, MatRef, Options, matmul};
use foretell_pool::Buffer;
use foretell_simd as simd;
use foretell_threads::for_each;

use crate::attention::{Attention, AttentionGradients, SavedForBackward};
use crate::pattern::Coverage;
use crate::shared::{Dense, Shared};
use crate::sizes::{Operand, Sizes};
use crate::tiles::{Head, Tiles, drop_out, product, score};

/// Where the gradients of all heads are written.
struct GradientOutputs<'a> {
    q: Shared<'a>,
    k: Shared<'a>,
    v: Shared<'a>,
    scores: Option<Dense<'a>>,
}

pub(crate) fn run(
    attention: &Attention<'_>,
    tiles: &Tiles,
    saved: SavedForBackward<'_>,
    grad: Operand<'_>,
    grad_scores: Option<&[f32]>,
    gradients: AttentionGradients<'_>,
) {
    let AttentionGradients { q, k, v, scores } = gradients;
    let outputs = GradientOutputs {
        q: Shared::of(q),
        k: Shared::of(k),
        v: Shared::of(v),
        scores: scores.map(Dense::of),
    };
    // An item is a whole head here.
    let whole = Tiles { queries: attention.sizes.queries.max(1), ..*tiles };
    let (all, group) = (attention.sizes.all_heads(), whole.group(&attention.sizes));
    let Sizes { queries, keys, dim, value_dim, .. } = attention.sizes;
    let at_once = queries <= tiles.queries && keys <= tiles.keys;
    let one = |first: usize| {
        let mut scratch = Scratch::new(tiles, attention.dropout.is_some(), grad_scores.is_some());
        for index in first * group..all.min((first + 1) * group) {
            let head = Head::of(&attention.sizes, index);
            if at_once && index + 1 < all {
                let next = Head::of(&attention.sizes, index + 1);
                next.prefetch(saved.q, queries, dim);
                next.prefetch(saved.k, keys, dim);
                next.prefetch(saved.v, keys, value_dim);
                next.prefetch(saved.out, queries, value_dim);
                next.prefetch(grad, queries, value_dim);
            }
            // SAFETY: each head is taken once.
            unsafe { backward_head(attention, tiles, saved, grad, grad_scores, &outputs, head, &mut scratch) }
        }
    };
    for_each(all.div_ceil(group), 1, one);
}

/// The buffers of a thread, for one head after the other.
struct Scratch {
    scores: Buffer<f32>,
    score_grads: Buffer<f32>,
    dropped: Buffer<f32>,
    upstream: Buffer<f32>,
    products: Buffer<f32>,
}

impl Scratch {
    fn new(tiles: &Tiles, dropout: bool, grad_scores: bool) -> Self {
        let [scores, score_grads, dropped, upstream] = [true, true, dropout, grad_scores]
            .map(|used| Buffer::stale(if used { tiles.scores() } else { 0 }));
        Self { scores, score_grads, dropped, upstream, products: Buffer::stale(tiles.queries) }
    }
}

/// The upstream gradient of a tile of scores, `[rows, keys]` of `[queries, all_keys]`, but for those that a mask hides: hidden
/// scores are minus infinity whatever queries and keys are.
fn of_shown_scores(
    upstream: &[f32],
    all_keys: usize,
    (rows, keys): (&Range<usize>, &Range<usize>),
    scores: &[f32],
    tile: &mut [f32],
) {
    let tiles = scores.chunks_exact(keys.len()).zip(tile.chunks_exact_mut(keys.len()));
    for (query, (scores, into)) in rows.clone().zip(tiles) {
        let upstream = &upstream[query * all_keys..][keys.clone()];
        for ((into, upstream), score) in into.iter_mut().zip(upstream).zip(scores) {
            *into = if *score == f32::NEG_INFINITY { 0.0 } else { *upstream };
        }
    }
}

/// The product of each row of a head with the same row of another operand.
fn dot_rows(operands: [Operand<'_>; 2], head: Head, rows: Range<usize>, dim: usize, products: &mut [f32]) {
    for (step, product) in rows.zip(products) {
        let [a, b] = operands.map(|operand| {
            let start = operand.strides.at(head.batch, head.head) + step * operand.strides.step;
            // No numbers: the start may lie beyond the end.
            &operand.data.get(start..).unwrap_or_default()[..dim]
        });
        *product = simd::dot(a, b);
    }
}

/// The gradients of a head.
///
/// # Safety
/// No one else writes to this head.
unsafe fn backward_head(
    attention: &Attention<'_>,
    tiles: &Tiles,
    SavedForBackward { q, k, v, out, stats }: SavedForBackward<'_>,
    grad: Operand<'_>,
    grad_scores: Option<&[f32]>,
    outputs: &GradientOutputs<'_>,
    head: Head,
    scratch: &mut Scratch,
) {
    let Sizes { queries: all_queries, keys: all_keys, dim, value_dim, .. } = attention.sizes;
    let clear = |operand: &Shared<'_>, steps: Range<usize>, dim: usize| {
        // SAFETY: the caller's contract; one row at a time.
        steps.for_each(|step| unsafe { operand.row(head, step, dim) }.fill(0.0));
    };
    // With all keys in one tile each query is visited once, and its gradient is written at once.
    let keys_at_once = all_keys <= tiles.keys && all_keys > 0;
    if !keys_at_once {
        clear(&outputs.q, 0..all_queries, dim);
    }
    let accum = |begun: bool| (if begun { Accum::Add } else { Accum::Replace }, attention.rounding);
    let stats = &stats[head.index * all_queries..][..all_queries];
    let first = head.index * all_queries * all_keys;
    let of_head = first..first + all_queries * all_keys;
    // SAFETY: the caller's contract.
    let mut grad_of_mask = outputs.scores.as_ref().map(|all| unsafe { all.part(of_head) });
    grad_of_mask.iter_mut().for_each(|all| all.fill(0.0));

    let Scratch { scores, score_grads, dropped, upstream: upstream_tile, products } = scratch;
    for keys in Tiles::ranges(all_keys, tiles.keys) {
        let mut begun = false;
        for rows in Tiles::ranges(all_queries, tiles.queries) {
            let seen = attention.pattern.tile(&rows, &keys);
            if seen == Coverage::Nothing {
                if keys_at_once {
                    clear(&outputs.q, rows, dim);
                }
                continue;
            }
            let (place, width) = ((&rows, &keys), keys.len());
            let scores = &mut scores[..rows.len() * width];
            score(attention, head, [q, k], place, seen, scores);
            if let Some(upstream) = grad_scores {
                let upstream = &upstream[first..][..all_queries * all_keys];
                of_shown_scores(upstream, all_keys, place, scores, upstream_tile);
            }
            simd::exp_rows_in_place(scores, width, &stats[rows.clone()]);
            let grad_rows = head.rows(grad, rows.clone(), value_dim);

            let score_grads = &mut score_grads[..scores.len()];
            let dropped = &mut dropped[..if attention.dropout.is_some() { scores.len() } else { 0 }];
            if let Some(dropout) = attention.dropout {
                drop_out(attention, dropout, head, place, scores, dropped);
            }
            let kept = if dropped.is_empty() { &*scores } else { &*dropped };
            // SAFETY: the caller's contract; one view of it at a time.
            let values = unsafe { outputs.v.rows(head, keys.clone(), value_dim) };
            product(accum(begun), 1.0, values, MatRef::row_major(kept, rows.len(), width).t(), grad_rows);
            matmul(
                MatMut::row_major(score_grads, rows.len(), width),
                grad_rows,
                head.rows(v, keys.clone(), value_dim).t(),
                Options::default().rounding(attention.rounding),
            );
            if let Some(dropout) = attention.dropout {
                drop_out(attention, dropout, head, place, score_grads, dropped);
                score_grads.copy_from_slice(dropped);
            }
            let products = &mut products[..rows.len()];
            dot_rows([grad, out], head, rows.clone(), value_dim, products);
            simd::online_softmax_backward_rows(scores, width, products, score_grads);
            if grad_scores.is_some() {
                simd::add_assign(score_grads, &upstream_tile[..scores.len()]);
            }
            if let Some(all) = &mut grad_of_mask {
                for (query, score_grads) in rows.clone().zip(score_grads.chunks_exact(width)) {
                    all[query * all_keys..][keys.clone()].copy_from_slice(score_grads);
                }
            }
            let score_grads = MatRef::row_major(&*score_grads, rows.len(), width);
            let [q, k] = [head.rows(q, rows.clone(), dim), head.rows(k, keys.clone(), dim)];
            // SAFETY: as above.
            let [of_queries, of_keys] =
                unsafe { [outputs.q.rows(head, rows, dim), outputs.k.rows(head, keys.clone(), dim)] };
            product(accum(!keys_at_once), attention.scale, of_queries, score_grads, k);
            product(accum(begun), attention.scale, of_keys, score_grads.t(), q);
            begun = true;
        }
        if !begun {
            clear(&outputs.k, keys.clone(), dim);
            clear(&outputs.v, keys, value_dim);
        }
    }
}
