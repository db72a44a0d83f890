//! The exponential function.
//!
//! `x = n ln 2 + r` with `n` whole and `|r| <= ln(2) / 2`; then `e^x = 2^n e^r`, with
//! `e^r = 1 + r + r^2 q(r)` and `q` a polynomial of degree 5 fitted to the relative error of
//! `e^r - 1`. `ln 2` is split in two so that `n` times its first part is exact without a fused
//! instruction.

use crate::isa::Simd;

use crate::bits::{Bits, F32s};
use crate::kernels::unary::{Unary, unary};

const LN_2_HIGH: f32 = 355.0 / 512.0;
const LN_2_LOW: f32 = -2.121_944_4e-4;

const Q: [f32; 6] = [0.5, 0.166_666_66, 0.041_666_493, 0.008_333_543, 0.001_393_236_5, 1.976_433_1e-4];

/// `e^r - 1` and `n`, as [`Bits`] from [`F32s::round_product`].
#[inline(always)]
pub(crate) fn reduce<S: Simd>(x: F32s<S>) -> (F32s<S>, Bits<S>) {
    let (n, bits) = x.round_product(std::f32::consts::LOG2_E);
    let r = n.mul_add(-LN_2_LOW, n.mul_add(-LN_2_HIGH, x));
    ((r * r).mul_add(r.polynomial(Q), r), bits)
}

/// `e^x` for any `x`: within 2 ULP, subnormal results included; NaN for NaN.
#[inline(always)]
pub(crate) fn exp_lanes<S: Simd>(x: F32s<S>) -> F32s<S> {
    // Beyond these the result is 0 or infinity, and stays so.
    let (tail, bits) = reduce(x.at_least(-104.0).at_most(89.0));
    // 2^n does not exist at both ends, the product of its two halves does: the exponents of the
    // halves, with the bias of 127 each.
    let n = bits - (Bits::<S>::ROUNDED - 254);
    let half = n.shr(1);
    let (a, b) = (half.shl(23).to_f32(), (n - half).shl(23).to_f32());
    (tail + 1.0) * a * b
}

/// `e^x` for `x <= 80`, as [`exp_lanes`], but 0 below -87.7, where results are subnormal: with fewer steps, for weights
/// beside which the largest one is 1.
#[inline(always)]
pub(crate) fn exp_or_zero_lanes<S: Simd>(x: F32s<S>) -> F32s<S> {
    // From -88 on the exponent's bits are all 0, which makes 2^n zero.
    let (tail, bits) = reduce(x.at_least(-88.0));
    let power = (bits - (Bits::<S>::ROUNDED - 127)).shl(23).to_f32();
    power.mul_add(tail, power)
}

/// `e^x - 1` for `|x| <= 80`, with a small relative error near 0.
#[inline(always)]
pub(crate) fn exp_m1_lanes<S: Simd>(x: F32s<S>) -> F32s<S> {
    exp_plus(x, -1.0)
}

/// `e^x + 1` for `|x| <= 80`.
#[inline(always)]
pub(crate) fn exp_p1_lanes<S: Simd>(x: F32s<S>) -> F32s<S> {
    exp_plus(x, 1.0)
}

/// `e^x + number` for `|x| <= 80`: the power of two is added to first, which loses nothing near 0.
#[inline(always)]
fn exp_plus<S: Simd>(x: F32s<S>, number: f32) -> F32s<S> {
    let (tail, bits) = reduce(x);
    let power = (bits - (Bits::<S>::ROUNDED - 127)).shl(23).to_f32();
    power.mul_add(tail, power + number)
}

#[derive(Clone, Copy)]
struct Exp;

impl Unary for Exp {
    #[inline(always)]
    fn call<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        exp_lanes(x)
    }
}

/// `out[i] = e^x[i]`, within 2 ULP over all `f32`, subnormal results included.
///
/// # Panics
/// If the slices differ in length.
#[track_caller]
pub fn exp(x: &[f32], out: &mut [f32]) {
    unary(Exp, x, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{SAMPLE, worst_ulps};

    #[test]
    fn within_two_ulp() {
        assert!(worst_ulps(SAMPLE, exp, f64::exp) <= 2.0);
    }

    #[test]
    #[ignore = "walks all 2^32 values of f32, minutes in a release build; within_two_ulp walks a sample of them always"]
    fn within_two_ulp_everywhere() {
        assert!(worst_ulps(1, exp, f64::exp) <= 2.0);
    }

    #[derive(Clone, Copy)]
    struct ExpOrZero;

    impl Unary for ExpOrZero {
        #[inline(always)]
        fn call<S: Simd>(self, x: F32s<S>) -> F32s<S> {
            exp_or_zero_lanes(x)
        }
    }

    #[test]
    fn as_exact_down_to_the_smallest_normal_number_and_zero_below() {
        let worst = worst_ulps(
            SAMPLE,
            |x, out| {
                unary(ExpOrZero, x, out);
                // Outside of what it is for, the function that the sample compares with.
                let others = out.iter_mut().zip(x).filter(|(_, x)| !(-87.3..=80.0).contains(*x));
                others.for_each(|(out, x)| *out = f64::from(*x).exp() as f32);
            },
            f64::exp,
        );
        assert!(worst <= 2.0, "{worst}");
        crate::testing::at_every_level(|level| {
            let mut y = [0.0; 6];
            unary(ExpOrZero, &[f32::NEG_INFINITY, f32::MIN, -1e3, -88.0, 0.0, f32::NAN], &mut y);
            assert_eq!(
                y[..5].iter().map(|y| y.to_bits()).collect::<Vec<_>>(),
                [0, 0, 0, 0, 1f32.to_bits()],
                "{level}"
            );
            assert!(y[5].is_nan(), "{level}");
        });
    }

    #[test]
    fn special_values() {
        crate::testing::at_every_level(|level| {
            let x = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 1e-45, 89.0, -104.0];
            let mut y = [0.0; 8];
            exp(&x, &mut y);
            let expected: [f32; 8] = [f32::NAN, f32::INFINITY, 0.0, 1.0, 1.0, 1.0, f32::INFINITY, 0.0];
            for i in 0..x.len() {
                let same = y[i].to_bits() == expected[i].to_bits();
                assert!(same || y[i].is_nan() && expected[i].is_nan(), "{level}: {} of {}", y[i], x[i]);
            }
        });
    }
}
