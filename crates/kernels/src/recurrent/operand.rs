//! Matrices as the products of a layer read them.

use std::ops::Range;

use foretell_gemm::{
    Accum, MatMut, MatRef, Options, Packed, PackedBf16, Rounding, WeightMatrix, matmul, matmul_bf16,
    matmul_packed, matmul_weights,
};
use foretell_pool::Buffer;
use half::slice::HalfBitsSliceExt;

use super::layer::Layer;

/// The right operand of a product: a matrix as it is, or packed once for the products of all steps or runs.
#[derive(Clone, Copy)]
pub(super) enum RightOperand<'a> {
    Matrix(MatRef<'a, f32>, Rounding),
    Packed(Packed<'a>),
    Bf16(PackedBf16<'a>),
    Held(&'a WeightMatrix),
}

impl RightOperand<'_> {
    /// The product of `lhs` and this.
    pub(super) fn multiply(self, dst: MatMut<'_, f32>, lhs: MatRef<'_, f32>, accum: Accum) {
        let options = Options { accum, ..Options::default() };
        match self {
            Self::Matrix(matrix, rounding) => matmul(dst, lhs, matrix, Options { rounding, ..options }),
            Self::Packed(packed) => matmul_packed(dst, lhs, packed, options),
            Self::Bf16(packed) => matmul_bf16(dst, lhs, packed, options),
            Self::Held(weights) => matmul_weights(dst, lhs, weights, options),
        }
    }
}

impl Layer {
    /// Memory for U in bfloat16; empty where the products are not rounded to it.
    pub(super) fn rounded_place(&self, matrix: MatRef<'_, f32>) -> Buffer<u16> {
        let rounds = self.rounding == Rounding::Bf16;
        Buffer::stale(if rounds { PackedBf16::len_of(matrix.nrows(), matrix.ncols()) } else { 0 })
    }

    /// U, or its transpose, as the products of all steps read it.
    pub(super) fn by<'a>(
        &self,
        matrix: MatRef<'a, f32>,
        packed: &'a mut [f32],
        rounded: &'a mut [u16],
    ) -> RightOperand<'a> {
        match self.rounding {
            Rounding::Bf16 => RightOperand::Bf16(PackedBf16::new(matrix, rounded.reinterpret_cast_mut())),
            Rounding::None if self.packs() => RightOperand::Packed(Packed::new(matrix, packed)),
            rounding => RightOperand::Matrix(matrix, rounding),
        }
    }
}

/// Some of the rows of a row-major matrix.
pub(super) fn part<'a>(all: &'a [f32], rows: &Range<usize>, columns: usize) -> &'a [f32] {
    &all[rows.start * columns..rows.end * columns]
}

/// [`part`] to write.
pub(super) fn part_mut<'a>(all: &'a mut [f32], rows: &Range<usize>, columns: usize) -> &'a mut [f32] {
    &mut all[rows.start * columns..rows.end * columns]
}
