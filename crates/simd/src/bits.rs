//! Operations on `f32` lanes that pulp lacks: rounding, conversion to integers, powers of two.

use std::ops::{Add, BitAnd, BitOr, Sub};

use crate::isa::Simd;

use crate::vector::{Vector, outlined_if_emulated};

/// A vector of `f32`.
pub(crate) type F32s<S> = Vector<f32, S>;

/// 1.5 * 2^23: added to a number below 2^22 in magnitude it leaves the nearest integer in the low
/// bits of the sum.
const MAGIC: f32 = 12_582_912.0;

/// The bit patterns of a vector of `f32`.
#[derive(Clone, Copy)]
pub(crate) struct Bits<S: Simd> {
    raw: S::u32s,
    simd: S,
}

impl<S: Simd> F32s<S> {
    #[inline(always)]
    pub(crate) fn to_bits(self) -> Bits<S> {
        Bits { raw: self.simd.transmute_u32s_f32s(self.raw), simd: self.simd }
    }

    /// `self * factor` rounded to the nearest integer, ties to even: as a number and as
    /// [`Bits`] that hold the integer plus [`Bits::ROUNDED`]. The product is below 2^22.
    #[inline(always)]
    pub(crate) fn round_product(self, factor: f32) -> (Self, Bits<S>) {
        let shifted = self.mul_add(factor, MAGIC);
        (shifted - MAGIC, shifted.to_bits())
    }

    /// The sum of `coefficients[k] * self^k`.
    #[inline(always)]
    pub(crate) fn polynomial<const N: usize>(self, coefficients: [f32; N]) -> Self {
        let mut sum = self.splat(coefficients[N - 1]);
        for k in (0..N - 1).rev() {
            sum = sum.mul_add(self, coefficients[k]);
        }
        sum
    }
}

impl<S: Simd> Bits<S> {
    /// The number that [`Vector::round_product`] adds to the integer.
    pub(crate) const ROUNDED: u32 = MAGIC.to_bits();

    /// The result of an operation of pulp's on these bits and others.
    #[inline(always)]
    fn with(self, operation: impl FnOnce(S, S::u32s) -> S::u32s) -> Self {
        let Self { raw, simd } = self;
        Self {
            raw: outlined_if_emulated::<S, _>(
                #[inline(always)]
                || operation(simd, raw),
            ),
            simd,
        }
    }

    #[inline(always)]
    pub(crate) fn to_f32(self) -> F32s<S> {
        Vector { raw: self.simd.transmute_f32s_u32s(self.raw), simd: self.simd }
    }

    #[inline(always)]
    pub(crate) fn shl(self, by: u32) -> Self {
        self.with(
            #[inline(always)]
            |simd, raw| simd.wrapping_dyn_shl_u32s(raw, simd.splat_u32s(by)),
        )
    }

    #[inline(always)]
    pub(crate) fn shr(self, by: u32) -> Self {
        self.with(
            #[inline(always)]
            |simd, raw| simd.wrapping_dyn_shr_u32s(raw, simd.splat_u32s(by)),
        )
    }

    /// The integers, below 2^22 in magnitude as two's complement, as numbers.
    #[inline(always)]
    pub(crate) fn int_to_f32(self) -> F32s<S> {
        (self + Self::ROUNDED).to_f32() - MAGIC
    }
}

/// Writes an operator with the same number in every lane.
macro_rules! with_number {
    ($($operator:ident $function:ident $operation:ident;)*) => { $(
        impl<S: Simd> $operator<u32> for Bits<S> {
            type Output = Self;

            #[inline(always)]
            fn $function(self, x: u32) -> Self {
                self.with(
                    #[inline(always)]
                    |simd, raw| simd.$operation(raw, simd.splat_u32s(x)),
                )
            }
        }
    )* };
}

with_number! {
    Add add add_u32s;
    Sub sub sub_u32s;
    BitAnd bitand and_u32s;
    BitOr bitor or_u32s;
}

impl<S: Simd> Sub for Bits<S> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.with(
            #[inline(always)]
            |simd, raw| simd.sub_u32s(raw, other.raw),
        )
    }
}
