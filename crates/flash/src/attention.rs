//! What an attention computes, and the checks of its arguments.

use foretell_gemm::{Rounding, pays_in_bf16};
use foretell_simd::Key;

use crate::pattern::Pattern;
use crate::sizes::{Operand, OperandMut, Sizes};
use crate::tiles::Tiles;
use crate::{backward, forward, small};

/// `out = dropout(softmax(scale Q K^T + mask)) V`, for each head of each window by itself (Vaswani et al. 2017, arXiv
/// 1706.03762, equation 1), computed tile by tile (Dao et al. 2022, arXiv 2205.14135).
///
/// A query that sees no key has zeros for its output, and passes no gradient on.
#[derive(Clone, Copy, Debug)]
pub struct Attention<'a> {
    /// The sizes of the operands.
    pub sizes: Sizes,
    /// The factor of the products of queries and keys.
    pub scale: f32,
    /// Which keys a query sees.
    pub pattern: Pattern<'a>,
    /// Added to the scores.
    pub mask: Option<Mask<'a>>,
    /// Keys that no query sees, `[batch, keys]`: true where there is only padding.
    pub key_padding: Option<&'a [bool]>,
    /// Dropout of the probabilities.
    pub dropout: Option<Dropout>,
    /// How it is computed.
    pub way: Algorithm,
    /// How the operands of its products are rounded; softmax and sums are not.
    pub rounding: Rounding,
}

/// A tensor that is added to the scores: element `(b, h, i, j)` is `data[b * batch + h * head + i * query + j]`. A stride of 0
/// repeats it.
#[derive(Clone, Copy, Debug)]
pub struct Mask<'a> {
    /// The elements. Minus infinity hides a key.
    pub data: &'a [f32],
    /// From a window to the next.
    pub batch: usize,
    /// From a head to the next.
    pub head: usize,
    /// From a query to the next.
    pub query: usize,
}

/// Dropout of probabilities. Which ones are dropped depends on the key and their place alone.
#[derive(Clone, Copy, Debug)]
pub struct Dropout {
    /// The share that is dropped, from 0 to 1; the rest is divided by `1 - rate`.
    pub rate: f32,
    /// The key that the mask is drawn from.
    pub key: Key,
}

/// How an attention is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// The fastest one by a measured rule: sixteen heads at a time where they are small and many, the whole matrix where a head
    /// has few scores, else tiles.
    #[default]
    Fastest,
    /// The whole matrix of a head's scores at once.
    Standard,
    /// Tiles of scores that stay in the cache. Without the feature `flash` as [`Algorithm::Standard`].
    Tiled,
}

/// What the backward pass reads of the forward pass.
#[derive(Clone, Copy, Debug)]
pub struct SavedForBackward<'a> {
    /// `[batch, heads, queries, dim]`, as in the forward pass; of fewer bits only where [`Attention::rounds_scores`].
    pub q: Operand<'a>,
    /// `[batch, heads, keys, dim]`, as the queries.
    pub k: Operand<'a>,
    /// `[batch, heads, keys, value_dim]`.
    pub v: Operand<'a>,
    /// What [`Attention::forward`] wrote, `[batch, heads, queries, value_dim]`.
    pub out: Operand<'a>,
    /// The `stats` that it wrote, `[batch, heads, queries]`.
    pub stats: &'a [f32],
}

/// The gradients that the backward pass writes; old contents are replaced.
#[derive(Debug)]
pub struct AttentionGradients<'a> {
    /// The gradient of the queries, shaped as `q`.
    pub q: OperandMut<'a>,
    /// The gradient of the keys, shaped as `k`.
    pub k: OperandMut<'a>,
    /// The gradient of the values, shaped as `v`.
    pub v: OperandMut<'a>,
    /// The gradient of the scores with the mask, `[batch, heads, queries, keys]`, if it is wanted: that of a mask,
    /// before it is summed over the dimensions in which the mask is repeated.
    pub scores: Option<&'a mut [f32]>,
}

impl<'a> Attention<'a> {
    /// Attention to all keys, scaled by `1 / sqrt(dim)`.
    pub fn new(sizes: Sizes) -> Self {
        Self {
            sizes,
            scale: 1.0 / (sizes.dim.max(1) as f32).sqrt(),
            pattern: Pattern::Full,
            mask: None,
            key_padding: None,
            dropout: None,
            way: Algorithm::Fastest,
            rounding: Rounding::None,
        }
    }

    /// Writes the attention's output to `out`, and to `stats [batch, heads, queries]` the logarithms of the sums of
    /// `e^score`, minus infinity where a query sees no key: from these the backward pass computes the scores again.
    /// `scores [batch, heads, queries, keys]` gets the scores with the mask, if they are wanted (as the residual of
    /// the next layer, He et al. 2020, arXiv 2012.11747).
    ///
    /// # Panics
    /// If a slice is too short for its strides or of another length than it should be, elements of `out` overlap, the
    /// rate of dropout is not between 0 and 1, or the pattern is invalid.
    #[track_caller]
    pub fn forward(
        &self,
        [q, k, v]: [Operand<'_>; 3],
        out: OperandMut<'_>,
        stats: &mut [f32],
        scores: Option<&mut [f32]>,
    ) {
        let Sizes { batch, heads, queries, value_dim, .. } = self.sizes;
        self.check(q, k, v);
        out.strides.check_distinct("the output", out.data.len(), [batch, heads, queries, value_dim]);
        assert_eq!(stats.len(), self.sizes.rows(), "the statistics of rows");
        self.check_scores(scores.as_deref());
        if small::applies(self) {
            return small::forward(self, [q, k, v], out, stats, scores);
        }
        forward::run(self, &self.tiles(), [q, k, v], out, stats, scores);
    }

    /// Writes the gradients of queries, keys and values from that of the output, `grad [batch, heads, queries, value_dim]`, and
    /// from that of the scores, if they were used.
    ///
    /// # Panics
    /// If a slice is too short for its strides or of another length than it should be, elements of a gradient overlap, the
    /// rate of dropout is not between 0 and 1, or the pattern is invalid.
    #[track_caller]
    pub fn backward(
        &self,
        saved: SavedForBackward<'_>,
        grad: Operand<'_>,
        grad_scores: Option<&[f32]>,
        gradients: AttentionGradients<'_>,
    ) {
        let Sizes { batch, heads, queries, keys, dim, value_dim } = self.sizes;
        let SavedForBackward { q, k, v, out, stats } = saved;
        self.check(q, k, v);
        out.strides.check("the output", out.data.len(), [batch, heads, queries, value_dim]);
        grad.strides.check("the output's gradient", grad.data.len(), [batch, heads, queries, value_dim]);
        assert_eq!(stats.len(), self.sizes.rows(), "the statistics of rows");
        self.check_scores(grad_scores);
        self.check_scores(gradients.scores.as_deref());
        let outs = [
            ("the queries' gradient", &gradients.q, [batch, heads, queries, dim]),
            ("the keys' gradient", &gradients.k, [batch, heads, keys, dim]),
            ("the values' gradient", &gradients.v, [batch, heads, keys, value_dim]),
        ];
        for (what, operand, sizes) in outs {
            operand.strides.check_distinct(what, operand.data.len(), sizes);
        }
        if small::applies(self) {
            return small::backward(self, saved, grad, grad_scores, gradients);
        }
        backward::run(self, &self.tiles(), saved, grad, grad_scores, gradients);
    }

    /// Bytes of memory that each thread needs beside the operands, forwards and backwards, without what `foretell-gemm`
    /// packs for a product. Tiles need the same whatever the length. A backward pass that is given a gradient of the
    /// scores takes a tile of scores more.
    pub fn scratch_bytes(&self) -> [usize; 2] {
        let (tiles, dropout) = (self.tiles(), self.dropout.is_some());
        let numbers = match small::applies(self) {
            true => small::scratch(&self.sizes),
            false => [tiles.forward_scratch(dropout), tiles.backward_scratch(dropout)],
        };
        numbers.map(|numbers| numbers * size_of::<f32>())
    }

    /// Whether each product of queries and keys is of operands rounded as [`Attention::rounding`] says: to bfloat16 the small
    /// ones are not. Only then may the backward pass get queries and keys that were rounded before: it computes the scores
    /// again, and must find those whose sums were saved.
    pub fn rounds_scores(&self) -> bool {
        let Sizes { queries, keys, dim, .. } = self.sizes;
        let Tiles { queries: height, keys: width } = self.tiles();
        // Of the last tiles, which are the smallest.
        let last = |steps: usize, tile: usize| if steps.is_multiple_of(tile) { tile } else { steps % tile };
        self.rounds([last(queries, height), dim, last(keys, width)])
    }

    /// Whether `foretell-gemm` rounds the operands of a product of `[m, k, n]`.
    pub(crate) fn rounds(&self, size: [usize; 3]) -> bool {
        match self.rounding {
            Rounding::None => false,
            Rounding::Bf16 => pays_in_bf16(size),
            Rounding::F16 => true,
        }
    }

    fn tiles(&self) -> Tiles {
        Tiles::of(&self.sizes, self.way)
    }

    #[track_caller]
    fn check(&self, q: Operand<'_>, k: Operand<'_>, v: Operand<'_>) {
        let Sizes { batch, heads, queries, keys, dim, value_dim } = self.sizes;
        q.strides.check("the queries", q.data.len(), [batch, heads, queries, dim]);
        k.strides.check("the keys", k.data.len(), [batch, heads, keys, dim]);
        v.strides.check("the values", v.data.len(), [batch, heads, keys, value_dim]);
        self.pattern.check();
        if let Some(mask) = self.mask {
            let strides = crate::Strides { batch: mask.batch, head: mask.head, step: mask.query };
            strides.check("the mask", mask.data.len(), [batch, heads, queries, keys]);
        }
        if let Some(padding) = self.key_padding {
            assert_eq!(padding.len(), batch * keys, "the padding of keys");
        }
        if let Some(Dropout { rate, .. }) = self.dropout {
            assert!((0.0..=1.0).contains(&rate), "dropout rate {rate} is not between 0 and 1");
        }
    }

    #[track_caller]
    fn check_scores(&self, scores: Option<&[f32]>) {
        if let Some(scores) = scores {
            assert_eq!(scores.len(), self.sizes.all_scores(), "the scores");
        }
    }
}
