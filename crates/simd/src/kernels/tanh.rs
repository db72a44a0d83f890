//! The hyperbolic tangent: `tanh|x| = e / (e + 2)` with `e = e^(2|x|) - 1`.

use pulp::Simd;

use crate::bits::F32s;
use crate::kernels::exp::exp_m1_lanes;
use crate::kernels::unary::{Unary, unary, unary_in_place};

/// `tanh x` within 2.01 ULP; NaN for NaN.
#[inline(always)]
pub(crate) fn tanh_lanes<S: Simd>(x: F32s<S>) -> F32s<S> {
    // From 9.02 on the result rounds to 1.
    let doubled = x.abs().at_most(9.1) * 2.0;
    let e = exp_m1_lanes(doubled);
    let ratio = e / (e + 2.0);
    // For small e the same as e/2 - e/2 ratio, where the roundings of the ratio weigh less.
    let half = e * 0.5;
    let small = (-half).mul_add(ratio, half);
    e.less(1.0).select(small, ratio).copy_sign(x)
}

#[derive(Clone, Copy)]
pub(crate) struct Tanh;

impl Unary for Tanh {
    #[inline(always)]
    fn call<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        tanh_lanes(x)
    }
}

/// `out[i] = tanh(x[i])`, over all `f32` within 1.85 ULP where the level multiplies and adds in one
/// instruction, and within 2.01 ULP at the scalar level.
///
/// # Panics
/// If the slices differ in length.
#[track_caller]
pub fn tanh(x: &[f32], out: &mut [f32]) {
    unary(Tanh, x, out);
}

/// `x[i] = tanh(x[i])`, as [`tanh`].
pub fn tanh_in_place(x: &mut [f32]) {
    unary_in_place(Tanh, x);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{SAMPLE, worst_ulps};

    #[test]
    fn within_two_ulp() {
        assert!(worst_ulps(SAMPLE, tanh, f64::tanh) <= 2.0);
    }

    #[test]
    #[ignore = "walks all 2^32 values of f32: minutes in a release build"]
    fn within_two_ulp_everywhere() {
        assert!(worst_ulps(1, tanh, f64::tanh) <= 2.01);
    }

    #[test]
    fn special_values() {
        crate::testing::at_every_level(|level| {
            let x = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 1e-45, -1e-45, 10.0];
            let mut y = [0.0; 8];
            tanh(&x, &mut y);
            let expected: [f32; 8] = [f32::NAN, 1.0, -1.0, 0.0, -0.0, 1e-45, -1e-45, 1.0];
            for i in 0..x.len() {
                let same = y[i].to_bits() == expected[i].to_bits();
                assert!(same || y[i].is_nan() && expected[i].is_nan(), "{level}: {} of {}", y[i], x[i]);
            }
            tanh_in_place(&mut y[..0]);
            let mut z = x;
            tanh_in_place(&mut z);
            assert_eq!(y.map(f32::to_bits), z.map(f32::to_bits), "{level}");
        });
    }
}
