//! Operands of products in bfloat16.

use std::ops::Range;

use foretell_pool::Buffer;
use half::bf16;
use half::slice::HalfBitsSliceExt;

use crate::bf16::layout::{BlockLayout, Layout, Terms, WIDTH, depth};
use crate::bf16::pack;
use crate::view::MatRef;

/// A right operand rounded to bfloat16 and packed, `rows` being the inner dimension.
///
/// Strips of 16 columns follow each other. A strip holds the numbers of rows `2p` and `2p + 1` side by side for each
/// of its columns, then the next two rows, so that one layout serves dot products of pairs and tiles of AMX. Columns
/// and rows are padded with zeros to multiples of 16 and 32.
#[derive(Clone, Debug)]
pub(crate) struct PackedBf16 {
    /// The bits of the numbers.
    pub(crate) values: Buffer<u16>,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
}

impl PackedBf16 {
    /// The numbers that a matrix of this shape takes.
    pub(crate) fn len_of(rows: usize, cols: usize) -> usize {
        depth(rows).saturating_mul(cols.next_multiple_of(WIDTH))
    }

    fn stale(rows: usize, cols: usize) -> Self {
        Self { values: Buffer::stale(Self::len_of(rows, cols)), rows, cols }
    }

    /// Packs a matrix, and rounds it before if it is not rounded yet.
    pub(crate) fn new(matrix: Bf16Operand<'_>) -> Self {
        let (rows, cols) = matrix.shape();
        let mut packed = Self::stale(rows, cols);
        matrix.t().strips(BlockLayout::Pairs, packed.values.reinterpret_cast_mut());
        packed
    }

    /// A matrix and its transpose.
    pub(crate) fn both_ways(matrix: MatRef<'_, f32>) -> [Self; 2] {
        let (rows, cols) = (matrix.nrows(), matrix.ncols());
        let [mut packed, mut transposed] = [Self::stale(rows, cols), Self::stale(cols, rows)];
        pack::both_ways(
            matrix,
            transposed.values.reinterpret_cast_mut(),
            packed.values.reinterpret_cast_mut(),
        );
        [packed, transposed]
    }
}

/// An operand of a product in bfloat16: `f32` numbers that are rounded as they are packed, or numbers that are
/// rounded already.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bf16Operand<'a> {
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
    pub(crate) fn t(self) -> Self {
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

impl<'a> From<&'a PackedBf16> for RightOperand<'a> {
    fn from(packed: &'a PackedBf16) -> Self {
        let PackedBf16 { rows, cols, .. } = *packed;
        let values = Some(packed.values.reinterpret_cast());
        Self { values, rows, cols, terms: Terms::One, source: None }
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
