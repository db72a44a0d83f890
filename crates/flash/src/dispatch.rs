//! Chooses by which algorithm an attention is computed, and runs it: sixteen heads at a time, or tiles.

use crate::attention::{Attention, AttentionGradients, SavedForBackward};
use crate::sizes::{Operand, OperandMut, Sizes};
use crate::tiles::Tiles;
use crate::{backward, forward, small};

impl Attention<'_> {
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
    /// packs for a product. Tiles need the same whatever the length. A backward pass that gets a gradient of the
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

    fn tiles(&self) -> Tiles {
        Tiles::of(&self.sizes, self.way)
    }
}
