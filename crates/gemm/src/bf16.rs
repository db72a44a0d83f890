//! Products of bfloat16 numbers, summed up in `f32`.
//!
//! Operands come as `f32` and are rounded (to nearest, ties to even) as they are packed, or were rounded before
//! ([`Bf16Operand`]). Weights may be packed once, and take half their bytes from then on ([`PackedBf16`]). The
//! product of two such numbers is exact in `f32`; only the sums are rounded, in the order of the inner dimension, or part by
//! part where it is long ([`parts`]). With the operands as they are after rounding, an element differs from the exact sum by at
//! most `k * 2^-23` times the sum of the absolute products.
//!
//! The left operand is packed in tiles of 16 rows by 32 of the inner dimension: in blocks of 128 rows, or as a whole where
//! several tasks read the same rows; a single row is not packed. The right operand is in strips of 16 columns. What
//! multiplies a tile by a strip depends on the machine: see [`kernel`].
//!
//! Machines without instructions for it round or widen both operands before ([`widened_operands`]) and multiply in `f32`, where there are
//! many rows and columns: so a step takes hardly longer than in `f32`, with the numbers and the memory of one in bfloat16.
//!
//! Where tiles of bfloat16 are multiplied at sixteen times the rate of `f32`, they serve `f32` too: see [`bf16x3`].

pub(crate) mod bf16x3;
mod kernel;
mod layout;
mod operand;
mod pack;
mod split_operands;
mod tasks;
mod widened_operands;

use crate::options::{Bias, Options};
use crate::view::MatMut;
use kernel::Kernel;
pub(crate) use operand::{Bf16Operand, PackedBf16};
use tasks::{in_parts, run};

/// A product with a right operand that was packed before.
pub(crate) fn product_packed(
    dst: MatMut<'_, f32>,
    lhs: Bf16Operand<'_>,
    rhs: &PackedBf16,
    options: Options<'_>,
) {
    let kernel = Kernel::of_machine();
    match kernel.widens_before(dst.nrows(), dst.ncols()) {
        true => widened_operands::product_packed(dst, lhs, rhs, options),
        false => run(kernel, dst, lhs, rhs.into(), options),
    }
}

/// A product of two operands neither of which is packed.
pub(crate) fn product(
    dst: MatMut<'_, f32>,
    lhs: Bf16Operand<'_>,
    rhs: Bf16Operand<'_>,
    options: Options<'_>,
) {
    if Kernel::of_machine().widens_before(dst.nrows(), dst.ncols()) {
        return widened_operands::product(dst, lhs, rhs, options);
    }
    // Sums are written along rows.
    let (dst, lhs, rhs, options) = match dst.row_stride() < dst.col_stride() {
        true => (dst.t(), rhs.t(), lhs.t(), Options { bias: options.bias.map(Bias::t), ..options }),
        false => (dst, lhs, rhs, options),
    };
    in_parts(dst, lhs, rhs, options, |dst, lhs, rhs, options| {
        product_packed(dst, lhs, &PackedBf16::new(rhs), options);
    });
}

#[cfg(test)]
#[path = "bf16_tests.rs"]
mod tests;
