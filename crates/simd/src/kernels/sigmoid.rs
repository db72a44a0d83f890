//! The logistic function.
//!
//! With `e^-x = 2^n (1 + t)` the denominator is `(1 + 2^n) + 2^n t`. What the first sum loses where `n`
//! is large goes into the second term, so the denominator is rounded once to speak of: just above a
//! power of two half an ULP of it is a whole one of the quotient. Numerator and denominator carry a
//! common factor of 2^-64 that keeps the denominator finite where the result is subnormal.

use crate::isa::Simd;

use crate::bits::{Bits, F32s};
use crate::kernels::exp::reduce;
use crate::kernels::unary::{Unary, unary};

const FACTOR: f32 = 1.0 / 18_446_744_073_709_551_616.0;

/// `1 / (1 + e^-x)` within 2 ULP; NaN for NaN.
#[inline(always)]
pub(crate) fn sigmoid_lanes<S: Simd>(x: F32s<S>) -> F32s<S> {
    // Beyond these the result is 0 or 1, and stays so.
    let (tail, n) = reduce(-x.at_least(-104.0).at_most(30.0));
    let power = (n - (Bits::<S>::ROUNDED - 127 + 64)).shl(23).to_f32();
    let sum = power + FACTOR;
    let lost = (power - sum) + FACTOR;
    power.splat(FACTOR) / (power.mul_add(tail, lost) + sum)
}

#[derive(Clone, Copy)]
pub(crate) struct Sigmoid;

impl Unary for Sigmoid {
    #[inline(always)]
    fn call<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        sigmoid_lanes(x)
    }
}

/// `out[i] = 1 / (1 + e^-x[i])`, within 2 ULP over all `f32`, subnormal results included.
///
/// # Panics
/// If the slices differ in length.
#[track_caller]
pub fn sigmoid(x: &[f32], out: &mut [f32]) {
    unary(Sigmoid, x, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{SAMPLE, assert_ulps, worst_ulps};

    fn exact(x: f64) -> f64 {
        if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) }
    }

    #[test]
    fn within_two_ulp() {
        assert!(worst_ulps(SAMPLE, sigmoid, exact) <= 2.0);
    }

    #[test]
    #[ignore = "walks all 2^32 values of f32, minutes in a release build; within_two_ulp walks a sample of them always"]
    fn within_two_ulp_everywhere() {
        assert!(worst_ulps(1, sigmoid, exact) <= 2.0);
    }

    /// There the denominator is about 1 + 2^24, which is no `f32`.
    #[test]
    fn where_one_is_half_a_unit_of_the_denominator() {
        crate::testing::at_every_level(|level| {
            let x: Vec<f32> = (0..4000).map(|i| -16.6 - i as f32 * 1e-4).collect();
            let mut y = vec![0.0; x.len()];
            sigmoid(&x, &mut y);
            assert_ulps(&y, x.iter().map(|&x| exact(x.into())), 2.0, level);
        });
    }

    #[test]
    fn special_values() {
        crate::testing::at_every_level(|level| {
            let x = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 1e-45, -110.0];
            let mut y = [0.0; 7];
            sigmoid(&x, &mut y);
            let expected: [f32; 7] = [f32::NAN, 1.0, 0.0, 0.5, 0.5, 0.5, 0.0];
            for i in 0..x.len() {
                let same = y[i].to_bits() == expected[i].to_bits();
                assert!(same || y[i].is_nan() && expected[i].is_nan(), "{level}: {} of {}", y[i], x[i]);
            }
        });
    }
}
