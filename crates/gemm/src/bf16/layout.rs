//! How packed operands lie in memory.

use half::bf16;

use crate::plan::limits::bf16::TILE;

/// Rows of a tile and columns of a strip; and what the inner dimension is padded to with zeros, which add nothing.
pub(crate) const WIDTH: usize = TILE;
pub(crate) const DEPTH: usize = 32;

/// An inner dimension, padded. An empty one is padded too, so that there is a product to write.
pub(crate) fn depth(k: usize) -> usize {
    k.max(1).next_multiple_of(DEPTH)
}

/// The layout of a block of a strip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockLayout {
    /// `[16, 32]`: a tile of a left operand.
    Rows,
    /// `[16, 16, 2]`: pairs along the inner dimension, each of 16 columns of a right operand.
    Pairs,
}

/// How many bfloat16 numbers stand for a number of a packed operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Terms {
    /// One, to which it is rounded.
    One,
    /// Three, whose sum it is: see [`bf16x3`](super::bf16x3).
    Three,
}

impl Terms {
    pub(crate) const fn count(self) -> usize {
        match self {
            Self::One => 1,
            Self::Three => 3,
        }
    }
}

/// The layout of a row of a packed left operand, or of a column of a right one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// The inner dimension, padded.
    pub(crate) depth: usize,
    pub(crate) terms: Terms,
}

impl Layout {
    pub(crate) fn of(k: usize, terms: Terms) -> Self {
        Self { depth: depth(k), terms }
    }

    /// The numbers of a row, or of a column.
    pub(crate) fn len(self) -> usize {
        self.depth.saturating_mul(self.terms.count())
    }

    /// The numbers that `rows` rows take when packed: a single row is not padded to a tile, unless it is in pieces.
    pub(crate) fn panel_len(self, rows: usize) -> usize {
        match (rows, self.terms) {
            (1, Terms::One) => self.len(),
            _ => rows.next_multiple_of(WIDTH).saturating_mul(self.len()),
        }
    }

    /// Whether a panel holds a single row as it is, rather than tiles.
    pub(crate) fn is_row(self, panel: &[bf16]) -> bool {
        panel.len() == self.len()
    }
}
