//! The hyperbolic tangent of complex numbers: with `u = exp(-2|a|) - 1`, `e = u + 1` and `w = 1 + cos 2b`,
//! `tanh(a + ib) = (∓u (u + 2) + 2i e sin 2b) / (u² + 2 e w)`, the sign being that of a. Nothing overflows, and `u` and `w` are
//! exact where they are small: near the poles `i (π/2 + kπ)` as near 0.
//!
//! Sine and cosine are polynomials within a quarter of a turn around the nearest half.

use crate::isa::Simd;

use crate::bits::F32s;
use crate::kernels::exp::exp_m1_lanes;
use crate::loops::{Map, map};
use crate::vector::Vectors;

/// Half a turn in three parts, of which the first two have so few digits that whole multiples of them are exact.
const HALF_TURN: [f32; 3] = [3.140_625, 9.675_026e-4, 1.509_958e-7];

/// Of `(sin(x) / x - 1) / x²` in `x²`.
const SIN: [f32; 6] =
    [-0.166_666_67, 0.008_333_333, -1.984_127e-4, 2.755_731_9e-6, -2.505_210_8e-8, 1.605_904_4e-10];

/// Of `(cos(x) - 1 + x² / 2) / x⁴` in `x²`.
const COS: [f32; 6] =
    [0.041_666_668, -0.001_388_888_9, 2.480_158_7e-5, -2.755_732e-7, 2.087_675_7e-9, -1.147_074_6e-11];

/// `sin x` and `1 + cos x`, the latter exact where it is small; of angles up to about 10000 off by some 1e-7.
#[inline(always)]
fn sin_and_one_plus_cos<S: Simd>(x: F32s<S>) -> [F32s<S>; 2] {
    let (n, bits) = x.round_product(std::f32::consts::FRAC_1_PI);
    let r = n.mul_add(-HALF_TURN[2], n.mul_add(-HALF_TURN[1], n.mul_add(-HALF_TURN[0], x)));
    let square = r * r;
    let sin = (r * square).mul_add(square.polynomial(SIN), r);
    let one_less_cos = square * (square * square.polynomial(COS)).mul_add(-1.0, 0.5);
    // An odd number of half turns changes the signs of sine and cosine.
    let sign = (bits & 1).int_to_f32().mul_add(-2.0, 1.0);
    [sin * sign, one_less_cos.mul_add(-sign, sign + 1.0)]
}

#[derive(Clone, Copy)]
struct ComplexTanh;

impl Map<f32, 0, 2> for ComplexTanh {
    #[inline(always)]
    fn map<S: Simd>(self, _: Vectors<f32, S, 0>, [a, b]: Vectors<f32, S, 2>) -> Vectors<f32, S, 2> {
        // Beyond 20 the result is ±1 with an imaginary part below 1e-17.
        let u = exp_m1_lanes(a.abs().at_most(20.0) * -2.0);
        let [sin, one_plus_cos] = sin_and_one_plus_cos(b * 2.0);
        let twice = u.mul_add(2.0, 2.0);
        // A pole itself is no f32; should the rounded angle be one, the result is large but finite.
        let under = u.mul_add(u, twice * one_plus_cos).at_least(f32::MIN_POSITIVE);
        let re = u * (u + 2.0) / under;
        [(-re).copy_sign(a), twice * sin / under]
    }
}

/// The gradient of real and imaginary part, given that of the result: by `1 - t²`, the slope.
#[derive(Clone, Copy)]
struct PullComplexTanh;

impl Map<f32, 2, 2> for PullComplexTanh {
    #[inline(always)]
    fn map<S: Simd>(self, [re, im]: Vectors<f32, S, 2>, [g, h]: Vectors<f32, S, 2>) -> Vectors<f32, S, 2> {
        let u = im.mul_add(im, (re * re).mul_add(-1.0, 1.0));
        let v = re * im * -2.0;
        [g.mul_add(u, h * v), h.mul_add(u, g * v * -1.0)]
    }
}

/// `re + i im = tanh(re + i im)` in place: within 1e-6 of the larger part where the imaginary part is at most 1000 in
/// magnitude and the number not near a pole, `i (π/2 + kπ)`. Near the poles of the first turns it is within 1e-5, and
/// near all poles up to 10,000 in magnitude finite.
///
/// # Panics
/// If the slices differ in length.
#[track_caller]
pub fn complex_tanh_in_place(re: &mut [f32], im: &mut [f32]) {
    map(ComplexTanh, [], [re, im]);
}

/// Replaces the gradient of real and imaginary part of [`complex_tanh_in_place`]'s result `re`, `im` by that of what went
/// in.
///
/// # Panics
/// If the slices differ in length.
#[track_caller]
pub fn complex_tanh_backward(re: &[f32], im: &[f32], grad_re: &mut [f32], grad_im: &mut [f32]) {
    map(PullComplexTanh, [re, im], [grad_re, grad_im]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::random::{Key, Stream};
    use crate::level::{Level, with_level};

    fn naive(a: f64, b: f64) -> [f64; 2] {
        // tanh a and tan b by the theorem of addition.
        let (t, u) = (a.tanh(), b.tan());
        let under = 1.0 + t * t * u * u;
        [t * (1.0 + u * u) / under, u * (1.0 - t * t) / under]
    }

    fn size(x: f64, y: f64) -> f64 {
        (x * x + y * y).sqrt()
    }

    fn numbers(len: usize, seed: u64, most: f64) -> Vec<f32> {
        let mut stream = Stream::new(Key::new(seed));
        (0..len).map(|_| ((2.0 * stream.uniform_f64() - 1.0) * most) as f32).collect()
    }

    #[test]
    fn agrees_with_double_precision() {
        for level in Level::available() {
            with_level(level, || {
                for (len, real, imaginary) in
                    [(0, 1.0, 1.0), (1, 1.0, 1.0), (1000, 3.0, 3.0), (1003, 0.01, 0.5), (999, 30.0, 1000.0)]
                {
                    let (a, b) = (numbers(len, 1, real), numbers(len, 2, imaginary));
                    let (mut re, mut im) = (a.clone(), b.clone());
                    complex_tanh_in_place(&mut re, &mut im);
                    for i in 0..len {
                        let (a, b) = (f64::from(a[i]), f64::from(b[i]));
                        let [x, y] = naive(a, b);
                        // How much the input's own rounding matters near a pole.
                        let slope = size(1.0 - x * x + y * y, 2.0 * x * y).max(1.0);
                        let far = (f64::from(re[i]) - x).abs().max((f64::from(im[i]) - y).abs());
                        let bound =
                            1e-6 * x.abs().max(y.abs()).max(1e-3) + 3e-7 * slope * (1.0 + b.abs() / 100.0);
                        assert!(
                            far < bound,
                            "{level}: tanh({a} + {b}i) is {} + {}i, not {x} + {y}i",
                            re[i],
                            im[i]
                        );
                    }
                }
            });
        }
    }

    #[test]
    fn numbers_near_a_pole_are_large_and_right() {
        for level in Level::available() {
            with_level(level, || {
                let half = std::f32::consts::FRAC_PI_2;
                for b in [half, -half, half + 1e-6, half - 1e-4, half + 3e-4, 3.0 * half, 0.0] {
                    for a in [0.0f32, 1e-30, -1e-7, 1e-5, -2e-4, 1e-3] {
                        let (mut re, mut im) = ([a; 5], [b; 5]);
                        complex_tanh_in_place(&mut re, &mut im);
                        let [x, y] = naive(f64::from(a), f64::from(b));
                        let far = size(f64::from(re[4]) - x, f64::from(im[4]) - y);
                        assert!(
                            far <= 1e-5 * size(x, y),
                            "{level}: tanh({a} + {b}i) is {} + {}i, not {x} + {y}i",
                            re[4],
                            im[4]
                        );
                    }
                }
            });
        }
    }

    #[test]
    fn numbers_next_to_poles_up_to_10_000_are_finite() {
        for level in Level::available() {
            with_level(level, || {
                for a in [0.0f32, 1e-38, -1e-30, 1e-20, 1e-10] {
                    let (mut re, mut im) = (vec![a; 3183], Vec::new());
                    im.extend((0..3183).map(|k| ((f64::from(k) + 0.5) * std::f64::consts::PI) as f32));
                    complex_tanh_in_place(&mut re, &mut im);
                    assert!(re.iter().chain(&im).all(|x| x.is_finite()), "{level}: a real part of {a}");
                }
            });
        }
    }

    #[test]
    fn the_gradient_is_that_of_differences() {
        let (a, b) = (numbers(100, 1, 2.0), numbers(100, 2, 0.7));
        let (mut re, mut im) = (a.clone(), b.clone());
        complex_tanh_in_place(&mut re, &mut im);
        let (g, h) = (numbers(100, 3, 1.0), numbers(100, 4, 1.0));
        let (mut da, mut db) = (g.clone(), h.clone());
        complex_tanh_backward(&re, &im, &mut da, &mut db);
        for i in 0..100 {
            let (a, b) = (f64::from(a[i]), f64::from(b[i]));
            let loss = |a: f64, b: f64| {
                let [x, y] = naive(a, b);
                x * f64::from(g[i]) + y * f64::from(h[i])
            };
            let step = 1e-5;
            let expected = [
                (loss(a + step, b) - loss(a - step, b)) / (2.0 * step),
                (loss(a, b + step) - loss(a, b - step)) / (2.0 * step),
            ];
            assert!((f64::from(da[i]) - expected[0]).abs() < 1e-4 * expected[0].abs().max(1.0), "{a} + {b}i");
            assert!((f64::from(db[i]) - expected[1]).abs() < 1e-4 * expected[1].abs().max(1.0), "{a} + {b}i");
        }
    }
}
