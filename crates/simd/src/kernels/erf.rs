//! The error function: below 1 an odd polynomial, above `1 - e^q(|x|)` with `q` fitted to the
//! logarithm of the complementary error function.

use crate::isa::Simd;

use crate::bits::F32s;
use crate::kernels::exp::exp_lanes;
use crate::kernels::unary::{Unary, unary};

/// `erf(x) / x - 1` in powers of `x^2`, for `|x| <= 1`.
const NEAR: [f32; 7] =
    [0.128_379_17, -0.376_126_26, 0.112_835_79, -0.026_853_347, 0.005_187_162, -7.997_853e-4, 7.806_903e-5];

/// `ln(1 - erf(x))` in powers of `x`, for `1 <= x <= 4`.
const FAR: [f32; 7] =
    [-3.415_228_6e-4, -1.127_089_1, -0.638_145, -0.103_106_61, 0.021_838, -0.002_947_649_2, 1.863_797_1e-4];

/// `erf x` within 2 ULP; NaN for NaN.
#[inline(always)]
pub(crate) fn erf_lanes<S: Simd>(x: F32s<S>) -> F32s<S> {
    // From 3.92 on the result rounds to 1.
    let size = x.abs().at_most(4.0);
    let near = x.mul_add((size * size).polynomial(NEAR), x);
    let far = (-exp_lanes(size.polynomial(FAR)) + 1.0).copy_sign(x);
    size.less(1.0).select(near, far)
}

#[derive(Clone, Copy)]
struct Erf;

impl Unary for Erf {
    #[inline(always)]
    fn call<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        erf_lanes(x)
    }
}

/// `out[i] = erf(x[i])`, within 2 ULP over all `f32`.
///
/// # Panics
/// If the slices differ in length.
#[track_caller]
pub fn erf(x: &[f32], out: &mut [f32]) {
    unary(Erf, x, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{SAMPLE, worst_ulps};

    #[test]
    fn within_two_ulp() {
        assert!(worst_ulps(SAMPLE, erf, crate::testing::erf) <= 2.0);
    }

    #[test]
    #[ignore = "walks all 2^32 values of f32, minutes in a release build; within_two_ulp walks a sample of them always"]
    fn within_two_ulp_everywhere() {
        assert!(worst_ulps(1, erf, crate::testing::erf) <= 2.0);
    }

    #[test]
    fn special_values() {
        crate::testing::at_every_level(|level| {
            let x = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 1e-45, 4.0];
            let mut y = [0.0; 7];
            erf(&x, &mut y);
            let expected: [f32; 7] = [f32::NAN, 1.0, -1.0, 0.0, -0.0, 1e-45, 1.0];
            for i in 0..x.len() {
                let same = y[i].to_bits() == expected[i].to_bits();
                assert!(same || y[i].is_nan() && expected[i].is_nan(), "{level}: {} of {}", y[i], x[i]);
            }
        });
    }
}
