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

/// A backward pass: what all heads read, and where their gradients are written.
struct Pass<'a> {
    attention: &'a Attention<'a>,
    tiles: &'a Tiles,
    saved: SavedForBackward<'a>,
    grad: Operand<'a>,
    grad_scores: Option<&'a [f32]>,
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
    let pass = Pass {
        attention,
        tiles,
        saved,
        grad,
        grad_scores,
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
            unsafe { pass.head(head, &mut scratch) }
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

impl Pass<'_> {
    /// The gradients of a head.
    ///
    /// # Safety
    /// No one else writes to this head.
    unsafe fn head(&self, head: Head, scratch: &mut Scratch) {
        let Sizes { queries, keys: all_keys, dim, value_dim, .. } = self.attention.sizes;
        let clear = |gradient: &Shared<'_>, steps: Range<usize>, dim: usize| {
            // SAFETY: the caller's contract; one row at a time.
            steps.for_each(|step| unsafe { gradient.row(head, step, dim) }.fill(0.0));
        };
        let keys_at_once = self.keys_at_once();
        if !keys_at_once {
            clear(&self.q, 0..queries, dim);
        }
        let first = head.index * queries * all_keys;
        // SAFETY: the caller's contract.
        let mut grad_of_mask =
            self.scores.as_ref().map(|all| unsafe { all.part(first..first + queries * all_keys) });
        grad_of_mask.iter_mut().for_each(|all| all.fill(0.0));
        for keys in Tiles::ranges(all_keys, self.tiles.keys) {
            let mut begun = false;
            for rows in Tiles::ranges(queries, self.tiles.queries) {
                match self.attention.pattern.tile(&rows, &keys) {
                    Coverage::Nothing if keys_at_once => clear(&self.q, rows, dim),
                    Coverage::Nothing => {}
                    seen => {
                        let grad_of_mask = grad_of_mask.as_deref_mut();
                        // SAFETY: the caller's contract.
                        unsafe { self.tile(head, (&rows, &keys), seen, begun, grad_of_mask, scratch) };
                        begun = true;
                    }
                }
            }
            if !begun {
                clear(&self.k, keys.clone(), dim);
                clear(&self.v, keys, value_dim);
            }
        }
    }

    /// With all keys in one tile each query is visited once, and its gradient is written at once.
    fn keys_at_once(&self) -> bool {
        let all_keys = self.attention.sizes.keys;
        all_keys <= self.tiles.keys && all_keys > 0
    }

    /// What a tile of scores adds to the gradients of its queries, keys and values; those of keys and values are written anew unless
    /// an earlier tile has `begun` them. `grad_of_mask` is that of all scores of the head, if it is wanted.
    ///
    /// # Safety
    /// No one else writes to this head.
    unsafe fn tile(
        &self,
        head: Head,
        place @ (rows, keys): (&Range<usize>, &Range<usize>),
        seen: Coverage,
        begun: bool,
        grad_of_mask: Option<&mut [f32]>,
        Scratch { scores, score_grads, dropped, upstream: upstream_tile, products }: &mut Scratch,
    ) {
        let Self { attention, saved: SavedForBackward { q, k, v, out, stats }, grad, .. } = *self;
        let Sizes { queries, keys: all_keys, dim, value_dim, .. } = attention.sizes;
        let accum = |begun: bool| (if begun { Accum::Add } else { Accum::Replace }, attention.rounding);
        let width = keys.len();
        let scores = &mut scores[..rows.len() * width];
        score(attention, head, [q, k], place, seen, scores);
        if let Some(upstream) = self.grad_scores {
            let upstream = &upstream[head.index * queries * all_keys..][..queries * all_keys];
            of_shown_scores(upstream, all_keys, place, scores, upstream_tile);
        }
        simd::exp_rows_in_place(scores, width, &stats[head.index * queries..][rows.clone()]);
        let grad_rows = head.rows(grad, rows.clone(), value_dim);

        let score_grads = &mut score_grads[..scores.len()];
        let dropped = &mut dropped[..if attention.dropout.is_some() { scores.len() } else { 0 }];
        if let Some(dropout) = attention.dropout {
            drop_out(attention, dropout, head, place, scores, dropped);
        }
        let kept = if dropped.is_empty() { &*scores } else { &*dropped };
        // SAFETY: the caller's contract; one view of it at a time.
        let values = unsafe { self.v.rows(head, keys.clone(), value_dim) };
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
        if self.grad_scores.is_some() {
            simd::add_assign(score_grads, &upstream_tile[..scores.len()]);
        }
        if let Some(all) = grad_of_mask {
            for (query, score_grads) in rows.clone().zip(score_grads.chunks_exact(width)) {
                all[query * all_keys..][keys.clone()].copy_from_slice(score_grads);
            }
        }
        let score_grads = MatRef::row_major(&*score_grads, rows.len(), width);
        let [q, k] = [head.rows(q, rows.clone(), dim), head.rows(k, keys.clone(), dim)];
        // SAFETY: as above.
        let [of_queries, of_keys] =
            unsafe { [self.q.rows(head, rows.clone(), dim), self.k.rows(head, keys.clone(), dim)] };
        product(accum(!self.keys_at_once()), attention.scale, of_queries, score_grads, k);
        product(accum(begun), attention.scale, of_keys, score_grads.t(), q);
    }
}
