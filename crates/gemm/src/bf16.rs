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
//! Where tiles of bfloat16 are multiplied at sixteen times the rate of `f32`, they serve `f32` too: see [`bf16x3`].

pub(crate) mod bf16x3;
mod kernel;
mod layout;
mod operand;
mod pack;
mod split_operands;
mod tasks;

use foretell_pool::Buffer;
use half::bf16;
use half::slice::HalfBitsSliceExt;

use crate::check::{assert_bias, assert_shapes};
use crate::options::{Bias, Options};
use crate::plan::kernel::{Numbers, Operands, Strides};
use crate::plan::{Request, RightLayout};
use crate::record::note;
use crate::view::MatMut;
use kernel::Kernel;
pub(crate) use kernel::fast_pairs;
use layout::BlockLayout;
pub use operand::{Bf16Operand, PackedBf16};
use tasks::{in_parts, run};

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
    check_and_note(&dst, lhs, (rhs.rows, rhs.cols), RightLayout::PackedBf16, &options);
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
    check_and_note(&dst, lhs, rhs.shape(), RightLayout::RowMajor, &options);
    // Sums are written along rows.
    let (dst, lhs, rhs, options) = match dst.row_stride() < dst.col_stride() {
        true => (dst.t(), rhs.t(), lhs.t(), Options { bias: options.bias.map(Bias::t), ..options }),
        false => (dst, lhs, rhs, options),
    };
    in_parts(dst, lhs, rhs, options, packed_on_the_way);
}

/// Packs the right operand, then multiplies.
fn packed_on_the_way(dst: MatMut<'_, f32>, lhs: Bf16Operand<'_>, rhs: Bf16Operand<'_>, options: Options<'_>) {
    let (k, n) = rhs.shape();
    let mut place = Buffer::<u16>::stale(PackedBf16::len_of(k, n));
    let values: &mut [bf16] = place.reinterpret_cast_mut();
    rhs.t().strips(BlockLayout::Pairs, values);
    run(Kernel::of_machine(), dst, lhs, PackedBf16 { values, rows: k, cols: n }.into(), options);
}

/// Panics unless the shapes and the bias fit together, and notes the product for those who watch.
#[track_caller]
fn check_and_note(
    dst: &MatMut<'_, f32>,
    lhs: Bf16Operand<'_>,
    (k, n): (usize, usize),
    layout: RightLayout,
    options: &Options<'_>,
) {
    assert_shapes((dst.nrows(), dst.ncols()), lhs.shape(), (k, n));
    assert_bias(options.bias, dst.nrows(), dst.ncols());
    note(1, || Request {
        operands: Operands::with_packed(dst, Strides { row: k, col: 1 }, k),
        rhs: layout,
        numbers: Numbers::Bf16,
        is_single: true,
        threads: foretell_threads::count(),
        fast_pairs: fast_pairs(),
    });
}

#[cfg(test)]
#[path = "bf16_tests.rs"]
mod tests;
