//! A right operand in `f32` that is packed once for several products.

use foretell_pool::Buffer;

use crate::bf16::bf16x3;
use crate::strips;
use crate::view::MatRef;

/// A matrix laid out as the kernel for vectors of 512 bits reads it, or as tiles of AMX do at the level of that name; row-major
/// where neither kernel runs, or where neither its rows nor its columns are adjacent.
///
/// A product packs its right operand itself, which for 64 rows takes some 6 % of its time. Packing once pays for
/// weights that a network multiplies with again in each step.
#[derive(Clone, Debug)]
pub(crate) struct PackedF32 {
    pub(crate) values: Buffer<f32>,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) form: Form,
}

/// How the numbers of a packed matrix lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    RowMajor,
    /// For vectors of 512 bits.
    Strips,
    /// For tiles of AMX.
    Bf16x3,
}

impl PackedF32 {
    /// The numbers that a matrix of this shape takes at the current level.
    pub(crate) fn len_of(rows: usize, cols: usize) -> usize {
        bf16x3::packed_len(rows, cols).unwrap_or_else(|| strips::packed_len(rows, cols))
    }

    pub(crate) fn new(matrix: MatRef<'_, f32>) -> Self {
        let (rows, cols) = (matrix.nrows(), matrix.ncols());
        let mut values = Buffer::stale(Self::len_of(rows, cols));
        let form = if bf16x3::packed_len(rows, cols).is_some() && bf16x3::pack(matrix, &mut values) {
            Form::Bf16x3
        // The kernel writes nothing where there is nothing to add up.
        } else if rows > 0 && strips::pack(matrix, &mut values[..strips::packed_len(rows, cols)]) {
            Form::Strips
        } else {
            for (i, row) in values.chunks_exact_mut(cols.max(1)).take(rows).enumerate() {
                for (j, value) in row.iter_mut().enumerate() {
                    *value = matrix.data()[i * matrix.row_stride() + j * matrix.col_stride()];
                }
            }
            Form::RowMajor
        };
        Self { values, rows, cols, form }
    }

    /// The matrix, if it is row-major.
    pub(crate) fn as_rows(&self) -> MatRef<'_, f32> {
        debug_assert_eq!(self.form, Form::RowMajor);
        MatRef::row_major(&self.values[..self.rows * self.cols], self.rows, self.cols)
    }
}
