//! Products of bfloat16 numbers, summed up in `f32`.
//!
//! Operands come as `f32` and are rounded (to nearest, ties to even) as they are packed, or were rounded before
//! ([`Bf16Operand`]). Weights may be packed once, and take half their bytes from then on ([`PackedBf16`]). The
//! product of two such numbers is exact in `f32`; only the sums are rounded, in the order of the inner dimension, or part by
//! part where it is long ([`parts`]).
//!
//! The left operand is packed in tiles of 16 rows by 32 of the inner dimension: in blocks of 128 rows, or as a whole where
//! several tasks read the same rows; a single row is not packed. The right operand lies in strips of 16 columns. What
//! multiplies a tile by a strip depends on the machine: see [`kernel`].
//!
//! Where tiles of bfloat16 are multiplied at sixteen times the rate of `f32`, they serve `f32` too: see [`three`].

mod blocks;
mod kernel;
mod pack;
pub(crate) mod three;

use std::ops::Range;

use foretell_pool::Buffer;
use foretell_simd::Activation;
use half::bf16;
use half::slice::HalfBitsSliceExt;

use crate::epilogue::epilogue;
use crate::flops::count_products;
use crate::matmul::{assert_bias, assert_shapes};
use crate::options::{Bias, Options};
use crate::parts;
use crate::view::{MatMut, MatRef};
use blocks::run;
use kernel::Kernel;
use pack::Form;

/// Rows of a tile and columns of a strip; and what the inner dimension is padded to with zeros, which add nothing.
const WIDTH: usize = 16;
const DEPTH: usize = 32;

/// Multiply-adds that are worth a part of a long inner dimension, on which bits depend: see [`parts`].
const PART: usize = 8 << 20;

/// A right operand rounded to bfloat16 and packed, `rows` being the inner dimension.
///
/// Strips of 16 columns follow each other. A strip holds the numbers of rows `2p` and `2p + 1` side by side for each
/// of its columns, then the next two rows, so that one layout serves dot products of pairs and tiles of AMX. Columns
/// and rows are padded with zeros to multiples of 16 and 32.
#[derive(Clone, Copy, Debug)]
pub struct PackedBf16<'a> {
    values: &'a [bf16],
    rows: usize,
    cols: usize,
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
        pack::strips(matrix.t(), Form::Pairs, place);
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
    fn shape(self) -> (usize, usize) {
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

    fn rows(self, rows: Range<usize>) -> Self {
        match self {
            Self::Wide(matrix) => Self::Wide(matrix.rows(rows)),
            Self::Rounded(matrix) => Self::Rounded(matrix.rows(rows)),
        }
    }

    /// A single row in place of packed tiles, padded with zeros.
    fn row(self, place: &mut [bf16]) {
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
    fn strips(self, form: Form, place: &mut [bf16]) {
        match self {
            Self::Wide(matrix) => pack::strips(matrix, form, place),
            Self::Rounded(matrix) => pack::strips(matrix, form, place),
        }
    }
}

/// `dst = activation([dst +] alpha * lhs * rhs + bias)` with a left operand that is rounded to bfloat16 on the way and sums
/// in `f32`: `dst` is `[m, n]`, `lhs` `[m, k]` and `rhs` `[k, n]`.
///
/// With the operands as they are after rounding, an element differs from the exact sum by at most `k * 2^-23` times the
/// sum of the absolute products. Numbers below `2^-126` may count as zeros, as operands and as sums: machines that
/// multiply bfloat16 numbers do not compute with them.
///
/// # Panics
///
/// If the shapes do not fit together, or the bias does not have one value per row or column.
#[track_caller]
pub fn matmul_bf16<'a>(
    dst: MatMut<'_, f32>,
    lhs: impl Into<Bf16Operand<'a>>,
    rhs: PackedBf16<'_>,
    options: Options<'_>,
) {
    let lhs = lhs.into();
    check_and_count(&dst, lhs, (rhs.rows, rhs.cols), &options);
    run(Kernel::of_machine(), dst, lhs, rhs.into(), options);
}

/// [`matmul_bf16`] of two operands neither of which is packed.
///
/// # Panics
///
/// As [`matmul_bf16`].
#[track_caller]
pub fn matmul_as_bf16<'a, 'b>(
    dst: MatMut<'_, f32>,
    lhs: impl Into<Bf16Operand<'a>>,
    rhs: impl Into<Bf16Operand<'b>>,
    options: Options<'_>,
) {
    as_bf16(dst, lhs.into(), rhs.into(), options);
}

#[track_caller]
fn as_bf16(dst: MatMut<'_, f32>, lhs: Bf16Operand<'_>, rhs: Bf16Operand<'_>, options: Options<'_>) {
    check_and_count(&dst, lhs, rhs.shape(), &options);
    // Sums are written along rows.
    let (dst, lhs, rhs, options) = match dst.row_stride() < dst.col_stride() {
        true => (dst.t(), rhs.t(), lhs.t(), Options { bias: options.bias.map(Bias::t), ..options }),
        false => (dst, lhs, rhs, options),
    };
    in_parts(dst, lhs, rhs, options, packed_on_the_way);
}

/// Computes a product by `one`, in parts if its inner dimension is long beside its result.
fn in_parts(
    mut dst: MatMut<'_, f32>,
    lhs: Bf16Operand<'_>,
    rhs: Bf16Operand<'_>,
    options: Options<'_>,
    one: impl Fn(MatMut<'_, f32>, Bf16Operand<'_>, Bf16Operand<'_>, Options<'_>) + Sync,
) {
    let (k, n) = rhs.shape();
    match parts::count([dst.nrows(), k, n], PART) {
        Some(count) if dst.col_stride() == 1 => {
            let Options { bias, activation, .. } = options;
            let sums = Options { bias: None, activation: Activation::Identity, ..options };
            parts::run(dst.reborrow(), k, count, options.accum, |dst, inner, accum| {
                let (lhs, rhs) = (lhs.t().rows(inner.clone()).t(), rhs.rows(inner));
                one(dst, lhs, rhs, Options { accum, ..sums });
            });
            epilogue(dst, bias, activation);
        }
        _ => one(dst, lhs, rhs, options),
    }
}

/// Packs the right operand, then multiplies.
fn packed_on_the_way(dst: MatMut<'_, f32>, lhs: Bf16Operand<'_>, rhs: Bf16Operand<'_>, options: Options<'_>) {
    let (k, n) = rhs.shape();
    let mut place = Buffer::<u16>::stale(PackedBf16::len_of(k, n));
    let values: &mut [bf16] = place.reinterpret_cast_mut();
    rhs.t().strips(Form::Pairs, values);
    run(Kernel::of_machine(), dst, lhs, PackedBf16 { values, rows: k, cols: n }.into(), options);
}

/// Panics unless the shapes and the bias fit together, and counts the product.
#[track_caller]
fn check_and_count(
    dst: &MatMut<'_, f32>,
    lhs: Bf16Operand<'_>,
    (k, n): (usize, usize),
    options: &Options<'_>,
) {
    assert_shapes((dst.nrows(), dst.ncols()), lhs.shape(), (k, n));
    assert_bias(options.bias, dst.nrows(), dst.ncols());
    count_products(1, [dst.nrows(), k, dst.ncols()]);
}

/// Whether a product of `[m, k]` and `[k, n]` takes less time in bfloat16 than in `f32`, both operands yet to be
/// packed, on a machine with tiles: [`matmul`](crate::matmul()) rounds no others. It depends on the shape alone, so
/// that every machine rounds the same products.
///
/// Tiles are padded to 16 rows and columns and an inner dimension of 32, and packing an operand pays off only with
/// enough rows of the other. Measured on Sapphire Rapids in a development build, `f32` and bfloat16 in microseconds:
/// 16x64x64 2.6 and 1.3, 32x32x32 1.2 and 0.6, but 8x64x64 0.8 and 1.6, 64x8x512 11 and 15, 24x24x24 0.6 and 1.1.
pub fn pays_in_bf16([m, k, n]: [usize; 3]) -> bool {
    m.min(n).min(k) >= LEAST_SIDE && m.saturating_mul(k).saturating_mul(n) >= LEAST_WORK
}

/// Whether [`matmul_bf16`] gives the bits of [`matmul_as_bf16`] for `[m, k]` and `[k, n]`: the latter adds up a long inner
/// dimension beside a small result in parts, which a packed operand is not cut into.
pub fn packed_bf16_has_same_bits(shape: [usize; 3]) -> bool {
    parts::count(shape, PART).is_none()
}

/// See [`pays_in_bf16`].
const LEAST_SIDE: usize = 16;
const LEAST_WORK: usize = 1 << 14;

/// An inner dimension, padded. An empty one is padded too, so that there is a product to write.
fn depth(k: usize) -> usize {
    k.max(1).next_multiple_of(DEPTH)
}

#[cfg(test)]
#[path = "bf16_tests.rs"]
mod tests;
