//! The right operand of a product.

use half::bf16;

use crate::view::MatRef;
use crate::weights::WeightMatrix;

/// The right operand of [`matmul`](crate::matmul()), however its numbers are held; callers that multiply need not know which.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Rhs<'a> {
    /// Numbers that are rounded as the [`Options`](crate::Options) say.
    F32(MatRef<'a, f32>),
    /// Numbers that are rounded to bfloat16 already, and so the left operand is rounded to it too.
    Bf16(MatRef<'a, bf16>),
    /// Packed before; its format alone says in which numbers it is multiplied.
    Packed(&'a WeightMatrix),
}

impl<'a> From<MatRef<'a, f32>> for Rhs<'a> {
    #[inline(always)]
    fn from(matrix: MatRef<'a, f32>) -> Self {
        Self::F32(matrix)
    }
}

impl<'a> From<MatRef<'a, bf16>> for Rhs<'a> {
    fn from(matrix: MatRef<'a, bf16>) -> Self {
        Self::Bf16(matrix)
    }
}

impl<'a> From<&'a WeightMatrix> for Rhs<'a> {
    #[inline(always)]
    fn from(weights: &'a WeightMatrix) -> Self {
        Self::Packed(weights)
    }
}
