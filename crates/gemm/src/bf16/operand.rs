//! Operands of products in bfloat16.

use std::ops::Range;

use half::bf16;

use crate::bf16::layout::{BlockLayout, Layout, Terms, WIDTH, depth};
use crate::bf16::pack;
use crate::view::MatRef;

/// A right operand rounded to bfloat16 and packed, `rows` being the inner dimension.
///
/// Strips of 16 columns follow each other. A strip holds the numbers of rows `2p` and `2p + 1` side by side for each
/// of its columns, then the next two rows, so that one layout serves dot products of pairs and tiles of AMX. Columns
/// and rows are padded with zeros to multiples of 16 and 32.
#[derive(Clone, Copy, Debug)]
pub struct PackedBf16<'a> {
    pub(crate) values: &'a [bf16],
    pub(crate) rows: usize,
    pub(crate) cols: usize,
}

impl<'a> PackedBf16<'a> {
    /// The length of the place for a matrix of this shape, in numbers.
    pub fn len_of(rows: usize, cols: usize) -> usize {
        depth(rows).saturating_mul(cols.next_multiple_of(WIDTH))
    }

    /// Rounds and packs a matrix. The place is best aligned to 64 bytes.
    ///
    /// # Panics
    ///
    /// If the place is not as long as [`PackedBf16::len_of`] says.
    #[track_caller]
    pub fn new(matrix: MatRef<'_, f32>, place: &'a mut [bf16]) -> Self {
        let (rows, cols) = (matrix.nrows(), matrix.ncols());
        let len = Self::len_of(rows, cols);
        assert!(place.len() == len, "a place of {} for {rows}x{cols}, which takes {len}", place.len());
        pack::strips(matrix.t(), BlockLayout::Pairs, place);
        Self { values: place, rows, cols }
    }

    /// Packs a matrix into `place` and its transpose into `turned`.
    pub(crate) fn pack_both_ways(matrix: MatRef<'_, f32>, place: &mut [bf16], turned: &mut [bf16]) {
        pack::both_ways(matrix, turned, place);
    }

    /// A matrix of this shape that [`PackedBf16::new`] has packed before, wherever it was kept.
    ///
    /// # Panics
    ///
    /// If there are not as many values as [`PackedBf16::len_of`] says.
    #[track_caller]
    pub fn from_values(values: &'a [bf16], rows: usize, cols: usize) -> Self {
        let len = Self::len_of(rows, cols);
        assert!(values.len() == len, "{} values for {rows}x{cols}, which takes {len}", values.len());
        Self { values, rows, cols }
    }

    /// The number of rows: the inner dimension of a product.
    pub fn nrows(self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn ncols(self) -> usize {
        self.cols
    }
}

/// An operand of a product in bfloat16: `f32` numbers that are rounded as they are packed, or numbers that are
/// rounded already.
#[derive(Clone, Copy, Debug)]
pub enum Bf16Operand<'a> {
    /// Rounded as they are packed.
    Wide(MatRef<'a, f32>),
    /// Rounded already.
    Rounded(MatRef<'a, bf16>),
}

impl<'a> From<MatRef<'a, f32>> for Bf16Operand<'a> {
    fn from(matrix: MatRef<'a, f32>) -> Self {
        Self::Wide(matrix)
    }
}

impl<'a> From<MatRef<'a, bf16>> for Bf16Operand<'a> {
    fn from(matrix: MatRef<'a, bf16>) -> Self {
        Self::Rounded(matrix)
    }
}

impl Bf16Operand<'_> {
    pub(crate) fn shape(self) -> (usize, usize) {
        match self {
            Self::Wide(matrix) => (matrix.nrows(), matrix.ncols()),
            Self::Rounded(matrix) => (matrix.nrows(), matrix.ncols()),
        }
    }

    /// The transpose, at no cost.
    #[must_use]
    pub fn t(self) -> Self {
        match self {
            Self::Wide(matrix) => Self::Wide(matrix.t()),
            Self::Rounded(matrix) => Self::Rounded(matrix.t()),
        }
    }

    pub(crate) fn rows(self, rows: Range<usize>) -> Self {
        match self {
            Self::Wide(matrix) => Self::Wide(matrix.rows(rows)),
            Self::Rounded(matrix) => Self::Rounded(matrix.rows(rows)),
        }
    }

    /// A single row in place of packed tiles, padded with zeros.
    pub(crate) fn row(self, place: &mut [bf16]) {
        match self {
            Self::Wide(matrix) => pack::row(matrix, place),
            Self::Rounded(matrix) => {
                let (values, rest) = place.split_at_mut(matrix.ncols());
                for (p, value) in values.iter_mut().enumerate() {
                    *value = matrix.data()[p * matrix.col_stride()];
                }
                rest.fill(bf16::ZERO);
            }
        }
    }

    /// Packs the operand as a matrix `[outer, k]`.
    pub(crate) fn strips(self, form: BlockLayout, place: &mut [bf16]) {
        match self {
            Self::Wide(matrix) => pack::strips(matrix, form, place),
            Self::Rounded(matrix) => pack::strips(matrix, form, place),
        }
    }
}

/// A right operand, packed or to be packed.
#[derive(Clone, Copy)]
pub(crate) struct RightOperand<'a> {
    /// The packed numbers; `None` if the tasks are to pack the parts that they read.
    pub(crate) values: Option<&'a [bf16]>,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) terms: Terms,
    /// The matrix before it was cut into pieces, if it is at hand.
    pub(crate) source: Option<MatRef<'a, f32>>,
}

impl<'a> From<PackedBf16<'a>> for RightOperand<'a> {
    fn from(PackedBf16 { values, rows, cols }: PackedBf16<'a>) -> Self {
        Self { values: Some(values), rows, cols, terms: Terms::One, source: None }
    }
}

impl RightOperand<'_> {
    pub(crate) fn layout(&self) -> Layout {
        Layout::of(self.rows, self.terms)
    }

    /// Some of the columns, from a strip's first one on.
    pub(crate) fn columns(self, cols: Range<usize>) -> Self {
        let len = self.layout().len();
        Self {
            values: self
                .values
                .map(|values| &values[cols.start * len..cols.end.next_multiple_of(WIDTH) * len]),
            cols: cols.len(),
            source: self.source.map(|source| source.cols(cols)),
            ..self
        }
    }
}
