//! Attention of many small heads, sixteen at a time: each lane of a vector computes a head of its own, where one alone
//! would not fill the registers. The mathematics are those of [`crate::forward`] and [`crate::backward`] with all keys
//! in one tile.

use foretell_gemm::{Lines, count_products, deinterleave, interleave};
use foretell_pool::Buffer;
use foretell_simd as simd;
use foretell_simd::{INTERLEAVED, Interleaved};
use foretell_threads::for_each;

use crate::attention::{Algorithm, Attention, AttentionGradients, SavedForBackward};
use crate::pattern::Pattern;
use crate::shared::{Dense, Shared};
use crate::sizes::{Operand, OperandMut, Sizes};
use crate::tiles::Head;

/// Scores of a head up to which sixteen heads are computed at a time, and numbers of the rows of one operand: sixteen times as
/// many (32 KB) stay in the first cache. The bench `flash` measures this way beside the others: on a Zen 5, forwards and
/// backwards, 5.1 and 3.1 times as fast for 12 steps of 8 numbers, 1.6 and 1.1 for 7 of 64; twice as many numbers lose
/// backwards.
const MAX_SCORES: usize = 64 * 64;
const MAX_ROWS: usize = 512;

/// Bundles of sixteen heads in a task, which share its scratch: some tens of microseconds.
const GROUP: usize = 4;

/// Whether heads are computed so: nothing here rounds.
pub(crate) fn applies(attention: &Attention<'_>) -> bool {
    let Sizes { queries, keys, dim, value_dim, .. } = attention.sizes;
    let rows = queries.max(keys).saturating_mul(dim.max(value_dim));
    let small = queries.saturating_mul(keys) <= MAX_SCORES && rows <= MAX_ROWS;
    let filled = queries.min(keys).min(dim).min(value_dim) > 0 && attention.sizes.all_heads() >= INTERLEAVED;
    let plain = matches!(attention.pattern, Pattern::Full)
        && attention.key_padding.is_none()
        && attention.dropout.is_none()
        && ![dim, value_dim].into_iter().any(|dim| attention.rounds([queries, dim, keys]));
    cfg!(feature = "flash") && attention.way == Algorithm::Fastest && small && filled && plain
}

/// The buffers of a thread, for one bundle after the other; all of them are interleaved.
struct Scratch {
    /// Rows of queries, keys or values.
    rows: [Buffer<f32>; 4],
    scores: [Buffer<f32>; 3],
    stats: Buffer<f32>,
}

/// How many of each a pass needs.
const FORWARD: [usize; 2] = [2, 2];
const BACKWARD: [usize; 2] = [4, 3];

impl Scratch {
    fn new(sizes: &Sizes, [rows, scores]: [usize; 2]) -> Self {
        let [of_rows, of_scores, of_stats] = Self::lengths(sizes);
        Self {
            rows: std::array::from_fn(|i| Buffer::stale(if i < rows { of_rows } else { 0 })),
            scores: std::array::from_fn(|i| Buffer::stale(if i < scores { of_scores } else { 0 })),
            stats: Buffer::stale(of_stats),
        }
    }

    fn lengths(&Sizes { queries, keys, dim, value_dim, .. }: &Sizes) -> [usize; 3] {
        [queries.max(keys) * dim.max(value_dim), queries * keys, queries].map(|numbers| numbers * INTERLEAVED)
    }
}

/// Numbers that a thread needs, forwards and backwards.
pub(crate) fn scratch(sizes: &Sizes) -> [usize; 2] {
    let [of_rows, of_scores, of_stats] = Scratch::lengths(sizes);
    [FORWARD, BACKWARD].map(|[rows, scores]| rows * of_rows + scores * of_scores + of_stats)
}

/// Up to sixteen heads, one after another.
struct Bundle {
    heads: [Head; INTERLEAVED],
    count: usize,
}

/// Visits all bundles, several in a task, with scratch of the task's.
fn for_each_bundle(sizes: &Sizes, used: [usize; 2], visit: impl Fn(&Bundle, &mut Scratch) + Sync) {
    let all = sizes.all_heads();
    let bundles = all.div_ceil(INTERLEAVED);
    let one = |task: usize| {
        let mut scratch = Scratch::new(sizes, used);
        for bundle in task * GROUP..bundles.min((task + 1) * GROUP) {
            let first = bundle * INTERLEAVED;
            let heads = std::array::from_fn(|lane| Head::of(sizes, all.min(first + lane + 1) - 1));
            visit(&Bundle { heads, count: INTERLEAVED.min(all - first) }, &mut scratch);
        }
    };
    for_each(bundles.div_ceil(GROUP), 1, one);
}

impl Bundle {
    /// Reads rows of an operand: `[steps, dim, 16]`.
    fn take<'a>(&self, operand: Operand<'_>, steps: usize, into: &'a mut [f32]) -> Interleaved<'a> {
        let starts = self.heads.map(|head| operand.strides.at(head.batch, head.head));
        let len = into.len() / INTERLEAVED / steps;
        let lines = Lines { starts: &starts[..self.count], step: operand.strides.step, len };
        interleave(operand.data, lines, into);
        Interleaved::row_major(into, steps)
    }

    /// Writes rows of an operand.
    ///
    /// # Safety
    /// No one else writes to these heads.
    unsafe fn put(&self, from: &[f32], steps: usize, operand: &Shared<'_>) {
        let dim = from.len() / INTERLEAVED / steps;
        for (step, from) in from.chunks_exact(dim * INTERLEAVED).enumerate() {
            // SAFETY: the caller's contract; a head is in one lane only, and lanes that stand for none are not used.
            let mut rows = self.lanes(|head| unsafe { operand.row(head, step, dim) });
            deinterleave(from, &mut rows[..self.count]);
        }
    }

    /// Reads what each head has of a dense array, `[numbers, 16]`.
    fn take_dense(&self, all: &[f32], into: &mut [f32]) {
        let len = into.len() / INTERLEAVED;
        let starts = self.heads.map(|head| head.index * len);
        interleave(all, Lines { starts: &starts[..self.count], step: 0, len }, into);
    }

    /// Writes what each head has of a dense array.
    ///
    /// # Safety
    /// As [`Bundle::put`].
    unsafe fn put_dense(&self, from: &[f32], all: &Dense<'_>) {
        let len = from.len() / INTERLEAVED;
        // SAFETY: as in `put`.
        let mut rows = self.lanes(|head| unsafe { all.part(head.index * len..(head.index + 1) * len) });
        deinterleave(from, &mut rows[..self.count]);
    }

    /// Something of each head, nothing of lanes that stand for none.
    fn lanes<'a>(&self, of: impl Fn(Head) -> &'a mut [f32]) -> [&'a mut [f32]; INTERLEAVED] {
        std::array::from_fn(|lane| if lane < self.count { of(self.heads[lane]) } else { Default::default() })
    }

    /// The scaled products of queries and keys, with the mask, for which `tile` is scratch.
    fn score(
        &self,
        attention: &Attention<'_>,
        [q, k]: [Interleaved<'_>; 2],
        scores: &mut [f32],
        tile: &mut [f32],
    ) {
        simd::interleaved_products(attention.scale, q, k.t(), scores);
        if let Some(mask) = attention.mask {
            let strides = crate::Strides { batch: mask.batch, head: mask.head, step: mask.query };
            self.take(Operand { data: mask.data, strides }, attention.sizes.queries, tile);
            simd::add_assign(scores, tile);
        }
    }
}

pub(crate) fn forward(
    attention: &Attention<'_>,
    [q, k, v]: [Operand<'_>; 3],
    out: OperandMut<'_>,
    stats: &mut [f32],
    scores: Option<&mut [f32]>,
) {
    let Sizes { queries, keys, dim, value_dim, .. } = attention.sizes;
    count_products(attention.sizes.all_heads(), [queries, dim, keys]);
    count_products(attention.sizes.all_heads(), [queries, keys, value_dim]);
    let (out, all_stats, all_scores) = (Shared::of(out), Dense::of(stats), scores.map(Dense::of));
    for_each_bundle(&attention.sizes, FORWARD, |bundle, Scratch { rows, scores, stats }| {
        let ([x, y, ..], [p, tile, _]) = (rows, scores);
        let operands = [
            bundle.take(q, queries, &mut x[..queries * dim * INTERLEAVED]),
            bundle.take(k, keys, &mut y[..keys * dim * INTERLEAVED]),
        ];
        bundle.score(attention, operands, p, tile);
        if let Some(all) = &all_scores {
            // SAFETY: each head is in one bundle, which is visited once; so below.
            unsafe { bundle.put_dense(p, all) };
        }
        simd::interleaved_softmax(p, stats);
        // SAFETY: as above.
        unsafe { bundle.put_dense(stats, &all_stats) };
        let v = bundle.take(v, keys, &mut y[..keys * value_dim * INTERLEAVED]);
        let output = &mut x[..queries * value_dim * INTERLEAVED];
        simd::interleaved_products(1.0, Interleaved::row_major(p, queries), v, output);
        // SAFETY: as above.
        unsafe { bundle.put(output, queries, &out) };
    });
}

pub(crate) fn backward(
    attention: &Attention<'_>,
    saved: SavedForBackward<'_>,
    grad: Operand<'_>,
    grad_scores: Option<&[f32]>,
    gradients: AttentionGradients<'_>,
) {
    let Sizes { queries, keys, dim, value_dim, .. } = attention.sizes;
    let AttentionGradients { q, k, v, scores } = gradients;
    // Scores, and the gradients of queries and keys; those of probabilities and values.
    count_products(3 * attention.sizes.all_heads(), [queries, dim, keys]);
    count_products(2 * attention.sizes.all_heads(), [queries, value_dim, keys]);
    let (grad_q, grad_k, grad_v) = (Shared::of(q), Shared::of(k), Shared::of(v));
    let grad_mask = scores.map(Dense::of);
    for_each_bundle(&attention.sizes, BACKWARD, |bundle, Scratch { rows, scores, stats }| {
        let ([q, k, grad_rows, x], [p, score_grads, upstream]) = (rows, scores);
        let q = bundle.take(saved.q, queries, &mut q[..queries * dim * INTERLEAVED]);
        let k = bundle.take(saved.k, keys, &mut k[..keys * dim * INTERLEAVED]);
        bundle.score(attention, [q, k], p, upstream);
        if let Some(all) = grad_scores {
            bundle.take_dense(all, upstream);
            // Hidden scores are minus infinity whatever queries and keys are.
            let hidden = upstream.iter_mut().zip(&**p).filter(|(_, score)| **score == f32::NEG_INFINITY);
            hidden.for_each(|(upstream, _)| *upstream = 0.0);
        }
        bundle.take_dense(saved.stats, stats);
        simd::interleaved_softmax_again(p, stats);
        let probabilities = Interleaved::row_major(p, queries);

        let grad = bundle.take(grad, queries, &mut grad_rows[..queries * value_dim * INTERLEAVED]);
        let values = &mut x[..keys * value_dim * INTERLEAVED];
        simd::interleaved_products(1.0, probabilities.t(), grad, values);
        // SAFETY: each head is in one bundle, which is visited once; so below.
        unsafe { bundle.put(values, keys, &grad_v) };
        let v = bundle.take(saved.v, keys, values);
        simd::interleaved_products(1.0, grad, v.t(), score_grads);
        simd::interleaved_softmax_backward(queries, p, score_grads);
        if grad_scores.is_some() {
            simd::add_assign(score_grads, upstream);
        }
        if let Some(all) = &grad_mask {
            // SAFETY: as above.
            unsafe { bundle.put_dense(score_grads, all) };
        }
        let score_grads = Interleaved::row_major(score_grads, queries);
        for (product, other, steps, to) in
            [(score_grads, k, queries, &grad_q), (score_grads.t(), q, keys, &grad_k)]
        {
            let product_sums = &mut x[..steps * dim * INTERLEAVED];
            simd::interleaved_products(attention.scale, product, other, product_sums);
            // SAFETY: as above.
            unsafe { bundle.put(product_sums, steps, to) };
        }
    });
}
