//! The natural logarithm.
//!
//! `x = 2^k (1 + f)` with `1 + f` between `sqrt(1/2)` and `sqrt(2)`; then
//! `ln x = k ln 2 + f - f^2/2 + f^3 p(f)`, summed from the small terms to the large ones.

use crate::isa::Simd;

use crate::bits::F32s;
use crate::kernels::unary::{Unary, unary};

/// `ln 2` in two parts: multiples of the first by up to 256 are exact.
const LN_2_HIGH: f32 = 355.0 / 512.0;
const LN_2_LOW: f32 = -2.121_944_4e-4;

const P: [f32; 9] = [
    0.333_333_13, -0.250_000_1, 0.200_020_72, -0.166_679_9, 0.142_203_63, -0.124_062_08, 0.118_834_71,
    -0.116_701_834, 0.067_495_406,
];

/// `k ln 2 + ln(1 + f)` for `1 + f` between `sqrt(1/2)` and `sqrt(2)`.
#[inline(always)]
fn sum<S: Simd>(k: F32s<S>, f: F32s<S>) -> F32s<S> {
    let square = f * f;
    let small = (square * f).mul_add(f.polynomial(P), k * LN_2_LOW);
    let small = square.mul_add(-0.5, small);
    k.mul_add(LN_2_HIGH, small + f)
}

/// `ln x` within 2 ULP; -infinity for 0, NaN below 0 and for NaN.
#[inline(always)]
pub(crate) fn ln_lanes<S: Simd>(x: F32s<S>) -> F32s<S> {
    // Subnormal numbers are brought into the normal range.
    let tiny = x.less(f32::MIN_POSITIVE);
    let scaled = tiny.select(x * 8_388_608.0, x);
    let offset = tiny.select(-23.0, x.splat(0.0));
    // Adding 1 - sqrt(1/2) in bits carries into the exponent where the fraction is above sqrt(2).
    const HALF_ROOT: u32 = std::f32::consts::FRAC_1_SQRT_2.to_bits();
    let bits = scaled.to_bits() + (1.0f32.to_bits() - HALF_ROOT);
    let k = (bits.shr(23) - 127).int_to_f32() + offset;
    let fraction = ((bits & 0x007f_ffff) + HALF_ROOT).to_f32();
    let y = sum(k, fraction - 1.0);
    // Infinity stays, NaN stays, below zero is NaN, zero is -infinity.
    let y = x.less(f32::INFINITY).select(y, x);
    let y = x.less(0.0).select(f32::NAN, y);
    x.equal(0.0).select(f32::NEG_INFINITY, y)
}

/// `ln(1 + x)` for `0 <= x <= 1`, with a small relative error near 0.
#[inline(always)]
pub(crate) fn ln_1p_unit_lanes<S: Simd>(x: F32s<S>) -> F32s<S> {
    let upper = x.greater(std::f32::consts::SQRT_2 - 1.0);
    // (1 + x) / 2 - 1 is exact, as is x itself.
    let f = upper.select(x.mul_add(0.5, -0.5), x);
    sum(upper.select(1.0, x.splat(0.0)), f)
}

#[derive(Clone, Copy)]
struct Ln;

impl Unary for Ln {
    #[inline(always)]
    fn call<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        ln_lanes(x)
    }
}

/// `out[i] = ln(x[i])`, within 2 ULP over all `f32`: -infinity for zero of either sign, NaN below.
///
/// # Panics
/// If the slices differ in length.
#[track_caller]
pub fn ln(x: &[f32], out: &mut [f32]) {
    unary(Ln, x, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{SAMPLE, worst_ulps};

    #[test]
    fn within_two_ulp() {
        assert!(worst_ulps(SAMPLE, ln, f64::ln) <= 2.0);
    }

    #[test]
    #[ignore = "walks all 2^32 values of f32, minutes in a release build; within_two_ulp walks a sample of them always"]
    fn within_two_ulp_everywhere() {
        assert!(worst_ulps(1, ln, f64::ln) <= 2.0);
    }

    #[test]
    fn special_values() {
        crate::testing::at_every_level(|level| {
            let x = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 1.0, -1e-45, -1.0];
            let mut y = [0.0; 8];
            ln(&x, &mut y);
            let expected: [f32; 8] = [
                f32::NAN,
                f32::INFINITY,
                f32::NAN,
                f32::NEG_INFINITY,
                f32::NEG_INFINITY,
                0.0,
                f32::NAN,
                f32::NAN,
            ];
            for i in 0..x.len() {
                let same = y[i].to_bits() == expected[i].to_bits();
                assert!(same || y[i].is_nan() && expected[i].is_nan(), "{level}: {} of {}", y[i], x[i]);
            }
        });
    }
}
