//! Matrices as the products of a layer read them.

use std::ops::Range;

use foretell_gemm::{Accum, MatMut, MatRef, Options, Rhs, Rounding, WeightFormat, WeightMatrix, matmul};

use super::layer::Layer;

impl Layer {
    /// A product of the layer, rounded as the layer says.
    pub(super) fn product(&self, dst: MatMut<'_, f32>, lhs: MatRef<'_, f32>, rhs: Rhs<'_>, accum: Accum) {
        matmul(dst, lhs, rhs, Options::default().accum(accum).rounding(self.rounding));
    }

    /// U, or its transpose, packed once for the products of all steps, where that is worth it.
    pub(super) fn packed_state(&self, matrix: MatRef<'_, f32>) -> Option<WeightMatrix> {
        match self.rounding {
            Rounding::Bf16 => Some(WeightMatrix::new(matrix, WeightFormat::Bf16)),
            Rounding::None if self.packs() => Some(WeightMatrix::new(matrix, WeightFormat::F32)),
            _ => None,
        }
    }
}

/// The packed weights if there are any, else the matrix.
pub(super) fn packed_or<'a>(packed: Option<&'a WeightMatrix>, matrix: MatRef<'a, f32>) -> Rhs<'a> {
    packed.map_or(Rhs::F32(matrix), Rhs::Packed)
}

/// Some of the rows of a row-major matrix.
pub(super) fn part<'a>(all: &'a [f32], rows: &Range<usize>, columns: usize) -> &'a [f32] {
    &all[rows.start * columns..rows.end * columns]
}

/// [`part`] to write.
pub(super) fn part_mut<'a>(all: &'a mut [f32], rows: &Range<usize>, columns: usize) -> &'a mut [f32] {
    &mut all[rows.start * columns..rows.end * columns]
}
