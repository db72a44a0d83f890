//! The hyperbolic tangent: `tanh|x| = e / (e + 2)` with `e = e^(2|x|) - 1`; below 0.35 an odd polynomial, where
//! the roundings of `e` would weigh more.

use crate::isa::Simd;

use crate::bits::F32s;
use crate::kernels::exp::exp_m1_lanes;
use crate::kernels::unary::{Unary, unary, unary_in_place};

/// Of `(tanh(x) / x - 1) / x^2` in `x^2` up to 0.36^2, fitted at Chebyshev nodes; off by less than 2e-9 of `x`.
const NEAR: [f32; 5] = [-0.333_333_34, 0.133_333_25, -0.053_962_88, 0.021_751_652, -0.007_793_583_4];

/// `tanh x` within 2 ULP; NaN for NaN.
#[inline(always)]
pub(crate) fn tanh_lanes<S: Simd>(x: F32s<S>) -> F32s<S> {
    let size = x.abs();
    // From 9.02 on the result rounds to 1.
    let e = exp_m1_lanes(size.at_most(9.1) * 2.0);
    let far = e / (e + 2.0);
    let square = size * size;
    let near = size.mul_add(square * square.polynomial(NEAR), size);
    size.less(0.35).select(near, far).copy_sign(x)
}

#[derive(Clone, Copy)]
pub(crate) struct Tanh;

impl Unary for Tanh {
    #[inline(always)]
    fn call<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        tanh_lanes(x)
    }
}

/// `out[i] = tanh(x[i])`, within 2 ULP over all `f32`.
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
    #[ignore = "walks all 2^32 values of f32, minutes in a release build; within_two_ulp walks a sample of them always"]
    fn within_two_ulp_everywhere() {
        assert!(worst_ulps(1, tanh, f64::tanh) <= 2.0);
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
