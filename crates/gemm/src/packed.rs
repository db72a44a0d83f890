//! A right operand of several products, packed once.

use crate::bf16::bf16x3;
use crate::check::{assert_bias, assert_shapes};
use crate::matmul::matmul;
use crate::options::{Options, Rounding};
use crate::plan::kernel::{Numbers, Operands};
use crate::plan::{Request, RightLayout};
use crate::record::note;
use crate::strips;
use crate::tasks;
use crate::view::{MatMut, MatRef};

/// A matrix laid out as the kernel for vectors of 512 bits reads it, or as tiles of AMX do at the level of that name; row-major
/// where neither kernel runs, or where neither its rows nor its columns are adjacent.
///
/// A product packs its right operand itself, which for 64 rows takes some 6 % of its time. Packing once pays for
/// weights that a network multiplies with again in each step.
#[derive(Clone, Copy, Debug)]
pub struct Packed<'a> {
    values: &'a [f32],
    rows: usize,
    cols: usize,
    form: Form,
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

impl<'a> Packed<'a> {
    /// The length of the place for a matrix of this shape.
    pub fn len_of(rows: usize, cols: usize) -> usize {
        bf16x3::packed_len(rows, cols).unwrap_or_else(|| strips::packed_len(rows, cols))
    }

    /// A matrix of this shape that [`Packed::new`] has packed before, wherever it was kept.
    ///
    /// # Panics
    ///
    /// If there are not as many values as [`Packed::len_of`] says.
    #[track_caller]
    pub(crate) fn from_values(values: &'a [f32], rows: usize, cols: usize, form: Form) -> Self {
        let len = Self::len_of(rows, cols);
        assert!(values.len() == len, "{} values for {rows}x{cols}, which takes {len}", values.len());
        Self { values, rows, cols, form }
    }

    /// How its numbers lie.
    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// Packs a matrix.
    ///
    /// # Panics
    ///
    /// If the place is not as long as [`Packed::len_of`] says.
    #[track_caller]
    pub fn new(matrix: MatRef<'_, f32>, place: &'a mut [f32]) -> Self {
        let (rows, cols) = (matrix.nrows(), matrix.ncols());
        let len = Self::len_of(rows, cols);
        assert!(place.len() == len, "a place of {} for {rows}x{cols}, which takes {len}", place.len());
        if bf16x3::packed_len(rows, cols).is_some() && bf16x3::pack(matrix, place) {
            return Self { values: place, rows, cols, form: Form::Bf16x3 };
        }
        let in_strips = strips::pack(matrix, &mut place[..strips::packed_len(rows, cols)]);
        if !in_strips {
            for (i, row) in place.chunks_exact_mut(cols.max(1)).take(rows).enumerate() {
                for (j, value) in row.iter_mut().enumerate() {
                    *value = matrix.data()[i * matrix.row_stride() + j * matrix.col_stride()];
                }
            }
        }
        Self { values: place, rows, cols, form: if in_strips { Form::Strips } else { Form::RowMajor } }
    }
}

/// [`matmul`] with a packed right operand. The columns of the destination's rows must be adjacent. Operands are not
/// rounded: [`matmul_bf16`](crate::matmul_bf16) is the product that does.
///
/// # Panics
///
/// As [`matmul`]; if the columns of the destination's rows are not adjacent; and if the matrix was packed in strips, with
/// AVX-512, or in tiles, with AMX, at another [`level`](foretell_simd::level), which only [`with_level`](foretell_simd::with_level) brings about.
#[track_caller]
pub fn matmul_packed(dst: MatMut<'_, f32>, lhs: MatRef<'_, f32>, rhs: Packed<'_>, options: Options<'_>) {
    let Packed { values, rows, cols, form } = rhs;
    let options = Options { rounding: Rounding::None, ..options };
    assert!(dst.ncols() < 2 || dst.col_stride() == 1, "a destination whose rows are not adjacent");
    // The kernel writes nothing where there is nothing to add up.
    if form == Form::RowMajor || rows == 0 {
        return matmul(dst, lhs, MatRef::row_major(&values[..rows * cols], rows, cols), options);
    }
    assert_shapes((dst.nrows(), dst.ncols()), (lhs.nrows(), lhs.ncols()), (rows, cols));
    assert_bias(options.bias, dst.nrows(), dst.ncols());
    note(1, || Request {
        operands: Operands::with_packed(&dst, lhs.into(), rows),
        rhs: RightLayout::PackedF32,
        numbers: Numbers::F32,
        is_single: true,
        threads: foretell_threads::count(),
        fast_pairs: false,
    });
    match form {
        Form::Bf16x3 => bf16x3::product_packed(dst, lhs, values, options),
        _ => tasks::packed(dst, lhs, &values[..strips::packed_len(rows, cols)], options),
    }
}
