//! The definition of attention, and the checks of its arguments.

use foretell_gemm::Rounding;
use foretell_simd::Key;

use crate::pattern::Pattern;
use crate::sizes::{Operand, OperandMut, Sizes, Strides};

/// `out = dropout(softmax(scale Q K^T + mask)) V`, for each head of each window by itself (Vaswani et al. 2017, arXiv
/// 1706.03762, equation 1), computed tile by tile (Dao et al. 2022, arXiv 2205.14135).
///
/// A query that sees no key has zeros for its output, and passes no gradient on.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
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
#[non_exhaustive]
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

/// The results of the forward pass that the backward pass reads.
#[derive(Clone, Copy, Debug)]
pub struct SavedForBackward<'a> {
    /// `[batch, heads, queries, dim]`, as in the forward pass; of fewer bits only where [`Attention::rounds_scores`].
    pub q: Operand<'a>,
    /// `[batch, heads, keys, dim]`, as the queries.
    pub k: Operand<'a>,
    /// `[batch, heads, keys, value_dim]`.
    pub v: Operand<'a>,
    /// The output of [`Attention::forward`], `[batch, heads, queries, value_dim]`.
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

    /// Another factor of the products of queries and keys.
    #[must_use]
    pub fn scale(self, scale: f32) -> Self {
        Self { scale, ..self }
    }

    /// Which keys a query sees.
    #[must_use]
    pub fn pattern(self, pattern: Pattern<'a>) -> Self {
        Self { pattern, ..self }
    }

    /// Adds this to the scores.
    #[must_use]
    pub fn mask(self, mask: impl Into<Option<Mask<'a>>>) -> Self {
        Self { mask: mask.into(), ..self }
    }

    /// Hides these keys from all queries, `[batch, keys]`: true where there is only padding.
    #[must_use]
    pub fn key_padding(self, key_padding: impl Into<Option<&'a [bool]>>) -> Self {
        Self { key_padding: key_padding.into(), ..self }
    }

    /// Drops some of the probabilities.
    #[must_use]
    pub fn dropout(self, dropout: impl Into<Option<Dropout>>) -> Self {
        Self { dropout: dropout.into(), ..self }
    }

    /// How it is computed.
    #[must_use]
    pub fn way(self, way: Algorithm) -> Self {
        Self { way, ..self }
    }

    /// Rounds the operands of its products.
    #[must_use]
    pub fn rounding(self, rounding: Rounding) -> Self {
        Self { rounding, ..self }
    }

    /// Whether `foretell-gemm` rounds the operands of a product of `[m, k, n]`.
    pub(crate) fn rounds(&self, size: [usize; 3]) -> bool {
        self.rounding.of_product(size) != Rounding::None
    }

    /// # Panics
    /// If an operand is too short for its strides, or the mask, the padding, the pattern or the rate of dropout is invalid.
    #[track_caller]
    pub(crate) fn check(&self, q: Operand<'_>, k: Operand<'_>, v: Operand<'_>) {
        let Sizes { batch, heads, queries, keys, dim, value_dim } = self.sizes;
        q.strides.check("the queries", q.data.len(), [batch, heads, queries, dim]);
        k.strides.check("the keys", k.data.len(), [batch, heads, keys, dim]);
        v.strides.check("the values", v.data.len(), [batch, heads, keys, value_dim]);
        self.pattern.check();
        if let Some(mask) = self.mask {
            let strides = Strides { batch: mask.batch, head: mask.head, step: mask.query };
            strides.check("the mask", mask.data.len(), [batch, heads, queries, keys]);
        }
        if let Some(padding) = self.key_padding {
            assert_eq!(padding.len(), batch * keys, "the padding of keys");
        }
        if let Some(Dropout { rate, .. }) = self.dropout {
            assert!((0.0..=1.0).contains(&rate), "dropout rate {rate} is not between 0 and 1");
        }
    }

    /// # Panics
    /// If there is not one score for each query and key of all heads.
    #[track_caller]
    pub(crate) fn check_scores(&self, scores: Option<&[f32]>) {
        if let Some(scores) = scores {
            assert_eq!(scores.len(), self.sizes.all_scores(), "the scores");
        }
    }
}
