//! Sums, means, products, extremes and norms of slices.
//!
//! Sums keep several accumulators over blocks of 32 vectors and join the blocks in pairs:
//! the error of a sum of `n` numbers is at most `(log2(n) + 8) * eps * sum(|x|)`, with `eps` half
//! an ULP of one. The result depends on the values, the length and the level only, not on the
//! address or on earlier calls. NaN spreads to every result; the sum of an empty slice is 0.

use crate::isa::{Simd, WithSimd};

use crate::level::dispatch;
use crate::loops::{Fold, fold, fold_in};
use crate::vector::{Float, Lanes, Vectors};

#[derive(Clone, Copy)]
pub(crate) struct Sum;

impl<T: Lanes> Fold<T, 1, 0, 1> for Sum {
    #[inline(always)]
    fn step<S: Simd>(
        self,
        [acc]: Vectors<T, S, 1>,
        [x]: Vectors<T, S, 1>,
        y: Vectors<T, S, 0>,
    ) -> (Vectors<T, S, 1>, Vectors<T, S, 0>) {
        ([acc + x], y)
    }
}

/// The sum of `x`; 0 if it is empty.
pub fn sum<T: Float>(x: &[T]) -> T {
    fold::<4, _, _, _, _>(Sum, [x], [])[0]
}

/// The arithmetic mean of `x`; NaN if it is empty.
pub fn mean<T: Float>(x: &[T]) -> T {
    T::from_f64(sum(x).to_f64() / x.len() as f64)
}

#[derive(Clone, Copy)]
pub(crate) struct Dot;

impl<T: Lanes> Fold<T, 2, 0, 1> for Dot {
    #[inline(always)]
    fn step<S: Simd>(
        self,
        [acc]: Vectors<T, S, 1>,
        [a, b]: Vectors<T, S, 2>,
        y: Vectors<T, S, 0>,
    ) -> (Vectors<T, S, 1>, Vectors<T, S, 0>) {
        ([a.mul_add(b, acc)], y)
    }
}

/// The sum of `a[i] * b[i]`; 0 if the slices are empty.
///
/// # Panics
/// If the slices differ in length.
#[track_caller]
pub fn dot<T: Float>(a: &[T], b: &[T]) -> T {
    fold::<4, _, _, _, _>(Dot, [a, b], [])[0]
}

/// The largest value (`SIGN` 1) or the smallest (`SIGN` -1), NaN winning over both.
#[derive(Clone, Copy)]
pub(crate) struct Extreme<const SIGN: i32>;

impl<T: Lanes, const SIGN: i32> Fold<T, 1, 0, 1> for Extreme<SIGN> {
    #[inline(always)]
    fn identity(self) -> [T; 1] {
        [T::from_f64(f64::NEG_INFINITY * f64::from(SIGN))]
    }

    #[inline(always)]
    fn step<S: Simd>(
        self,
        acc: Vectors<T, S, 1>,
        x: Vectors<T, S, 1>,
        y: Vectors<T, S, 0>,
    ) -> (Vectors<T, S, 1>, Vectors<T, S, 0>) {
        (self.merge(x, acc), y)
    }

    #[inline(always)]
    fn merge<S: Simd>(self, [a]: Vectors<T, S, 1>, [b]: Vectors<T, S, 1>) -> Vectors<T, S, 1> {
        // `at_least` keeps a NaN of its receiver only.
        let best = if SIGN > 0 { a.at_least(b) } else { a.at_most(b) };
        [b.is_nan().select(b, best)]
    }
}

/// The smallest value of `x`; NaN if one is NaN, infinity if `x` is empty.
pub fn min<T: Float>(x: &[T]) -> T {
    fold::<4, _, _, _, _>(Extreme::<-1>, [x], [])[0]
}

/// The largest value of `x`; NaN if one is NaN, minus infinity if `x` is empty.
pub fn max<T: Float>(x: &[T]) -> T {
    fold::<4, _, _, _, _>(Extreme::<1>, [x], [])[0]
}

/// The sum of `((x - shift) * scale)^2`.
#[derive(Clone, Copy)]
pub(crate) struct Squares<T> {
    pub(crate) shift: T,
    pub(crate) scale: T,
}

impl<T: Lanes> Fold<T, 1, 0, 1> for Squares<T> {
    #[inline(always)]
    fn step<S: Simd>(
        self,
        [acc]: Vectors<T, S, 1>,
        [x]: Vectors<T, S, 1>,
        y: Vectors<T, S, 0>,
    ) -> (Vectors<T, S, 1>, Vectors<T, S, 0>) {
        let d = (x - self.shift) * self.scale;
        ([d.mul_add(d, acc)], y)
    }
}

/// The Euclidean norm of `x`, without overflow or underflow on the way; 0 if `x` is empty.
pub fn l2_norm<T: Float>(x: &[T]) -> T {
    let squares = dot(x, x).to_f64();
    // Outside of this range some square has overflowed or lost bits.
    let (low, high) = if size_of::<T>() == 4 { (1e-25, 1e38) } else { (1e-270, 1e307) };
    if (low..high).contains(&squares) {
        return T::from_f64(squares.sqrt());
    }
    let largest = max(x).to_f64().max(-min(x).to_f64());
    if !(largest > 0.0 && largest.is_finite()) {
        // All zero, infinite, or NaN (which the comparison above must not swallow).
        return T::from_f64(if squares.is_nan() { f64::NAN } else { largest.max(0.0) });
    }
    // A power of two scales without rounding.
    let most = if size_of::<T>() == 4 { 126.0 } else { 1022.0 };
    let scale = T::from_f64((-largest.log2().floor()).clamp(-most, most).exp2());
    let shift = T::default();
    let squares = fold::<4, _, _, _, _>(Squares { shift, scale }, [x], [])[0];
    T::from_f64(squares.to_f64().sqrt() / scale.to_f64())
}

/// The biased variance of `x` about a given `mean`; NaN if `x` is empty.
pub fn variance<T: Float>(x: &[T], mean: T) -> T {
    let scale = T::from_f64(1.0);
    let squares = fold::<4, _, _, _, _>(Squares { shift: mean, scale }, [x], [])[0];
    T::from_f64(squares.to_f64() / x.len() as f64)
}

/// The sums of `x - shift` and of its square.
#[derive(Clone, Copy)]
struct Moments<T>(T);

impl<T: Lanes> Fold<T, 1, 0, 2> for Moments<T> {
    #[inline(always)]
    fn step<S: Simd>(
        self,
        [sum, squares]: Vectors<T, S, 2>,
        [x]: Vectors<T, S, 1>,
        y: Vectors<T, S, 0>,
    ) -> (Vectors<T, S, 2>, Vectors<T, S, 0>) {
        let d = x - self.0;
        ([sum + d, d.mul_add(d, squares)], y)
    }
}

/// Elements that share a shift, after the first few.
const BLOCK: usize = 4096;

struct MeanVariance<'a, T>(&'a [T]);

impl<T: Lanes> WithSimd for MeanVariance<'_, T> {
    type Output = (f64, f64);

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> (f64, f64) {
        let (mut count, mut mean, mut squares) = (0.0, self.0[0].to_f64(), 0.0);
        let mut rest = self.0;
        while !rest.is_empty() {
            let size = if count == 0.0 { 64 } else { BLOCK };
            let (block, later) = rest.split_at(size.min(rest.len()));
            // The shift is part of the data or their mean so far. Were it far from the mean of
            // the block, the distance would be part of the variance: the cancellation below
            // costs no more than the digits that the variance does not have.
            let shift = T::from_f64(if mean.is_finite() { mean } else { 0.0 });
            let [d, d2] = fold_in::<4, _, _, _, _, _>(simd, Moments(shift), [block], []);
            let (d, n) = (d.to_f64(), block.len() as f64);
            let centre = shift.to_f64() + d / n;
            // Chan, Golub and LeVeque (1979): join the moments of two parts.
            let (delta, all) = (centre - mean, count + n);
            squares += d2.to_f64() - d * d / n;
            if count > 0.0 {
                squares += delta * delta * (count * n / all);
                // An infinite mean stays, or meets its opposite and is NaN.
                mean += if mean.is_finite() { delta * (n / all) } else { centre };
            } else {
                mean = centre;
            }
            (count, rest) = (all, later);
        }
        // Rounding may leave less than nothing; a NaN passes.
        (mean, if squares < 0.0 { 0.0 } else { squares / count })
    }
}

/// The mean and the biased variance of `x` in one pass over memory; NaN both if `x` is empty.
///
/// Stable where the mean is large beside the spread: blocks are summed about the mean so far and
/// joined by the formula of Chan, Golub and LeVeque (1979) in `f64`.
pub fn mean_variance<T: Float>(x: &[T]) -> (T, T) {
    if x.is_empty() {
        return (T::from_f64(f64::NAN), T::from_f64(f64::NAN));
    }
    let (mean, variance) = dispatch(MeanVariance(x));
    (T::from_f64(mean), T::from_f64(variance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_within, at_every_level, exact_sum, for_every_length};

    fn eps<T>() -> f64 {
        if size_of::<T>() == 4 { f64::from(f32::EPSILON) / 2.0 } else { f64::EPSILON / 2.0 }
    }

    /// The stated bound for a sum of `n` terms.
    fn bound<T>(n: usize, absolute: f64) -> f64 {
        ((n.max(1) as f64).log2() + 8.0) * eps::<T>() * absolute
    }

    fn check<T: Float>(a: &[T], b: &[T], name: &str) {
        let n = a.len();
        let wide = |x: &[T]| x.iter().map(|x| x.to_f64()).collect::<Vec<f64>>();
        let (x, y) = (wide(a), wide(b));

        let total = exact_sum(x.iter().copied());
        let absolute = exact_sum(x.iter().map(|x| x.abs()));
        assert_within(sum(a), total, bound::<T>(n, absolute), name);
        let exact = total / n as f64;
        let room = bound::<T>(n, absolute) / n as f64 + eps::<T>() * exact.abs();
        assert_within(mean(a), exact, room, name);

        let products = || x.iter().zip(&y).map(|(x, y)| x * y);
        let absolute = exact_sum(products().map(f64::abs));
        assert_within(dot(a, b), exact_sum(products()), bound::<T>(n, absolute) * 1.2, name);

        let squares = exact_sum(x.iter().map(|x| x * x));
        assert_within(l2_norm(a), squares.sqrt(), bound::<T>(n, squares.sqrt()), name);

        assert_eq!(min(a).to_f64(), x.iter().copied().fold(f64::INFINITY, f64::min), "{name}");
        assert_eq!(max(a).to_f64(), x.iter().copied().fold(f64::NEG_INFINITY, f64::max), "{name}");

        let (centre, spread) = mean_variance(a);
        let about = |m: f64| exact_sum(x.iter().map(|x| (x - m).powi(2))) / n as f64;
        assert_within(centre, exact, room + eps::<T>() * exact.abs(), name);
        assert_within(spread, about(exact), bound::<T>(n, about(exact)) * 2.0, name);
        let mean = T::from_f64(0.25);
        assert_within(variance(a, mean), about(0.25), bound::<T>(n, about(0.25)) * 2.0, name);
    }

    #[test]
    fn within_the_stated_bounds() {
        for_every_length(|case| {
            check(&case.numbers::<f32>(), &case.numbers::<f32>(), &case.name);
            check(&case.numbers::<f64>(), &case.numbers::<f64>(), &case.name);
            check(&case.between::<f32>(0.0, 1.0), &case.numbers::<f32>(), &case.name);
        });
    }

    #[test]
    fn long_sums_keep_the_bound() {
        let n = 3_000_017;
        let x: Vec<f32> = (0..n).map(|i| 0.1 + (i % 7) as f32).collect();
        let total = exact_sum(x.iter().map(|&x| x.into()));
        at_every_level(|level| assert_within(sum(&x), total, bound::<f32>(n, total), level));
    }

    #[test]
    fn a_common_level_does_not_spoil_the_variance() {
        for_every_length(|case| {
            let noise = case.numbers::<f64>();
            let x: Vec<f64> = noise.iter().map(|e| 1e9 + e).collect();
            let n = x.len() as f64;
            let mean = exact_sum(x.iter().copied()) / n;
            let exact = exact_sum(x.iter().map(|x| (x - mean).powi(2))) / n;
            assert_within(mean_variance(&x).1, exact, 1e-6 * exact + 1e-12, &case.name);

            let x: Vec<f32> = noise.iter().map(|&e| 1e4 + e as f32).collect();
            let mean = exact_sum(x.iter().map(|&x| x.into())) / n;
            let exact = exact_sum(x.iter().map(|&x| (f64::from(x) - mean).powi(2))) / n;
            assert_within(mean_variance(&x).1, exact, 1e-5 * exact + 1e-6, &case.name);
        });
    }

    #[test]
    fn norms_neither_overflow_nor_underflow() {
        at_every_level(|level| {
            for (size, tolerance) in [(1e30, 1e-6), (1e-30, 1e-6), (1e-42, 1e-3), (3e38, 1e-6)] {
                let x = [size as f32; 1];
                assert_within(l2_norm(&x), x[0].into(), tolerance * size, level);
                let x = vec![size as f32 / 4.0; 13];
                let exact = f64::from(x[0]) * 13f64.sqrt();
                assert_within(l2_norm(&x), exact, tolerance * exact, level);
            }
            for size in [1e200, 1e-200, 1e-310] {
                let exact = size * 5f64.sqrt();
                assert_within(l2_norm(&[size; 5]), exact, exact * 1e-12, level);
            }
            assert_eq!(l2_norm(&[f32::INFINITY, 1.0]), f32::INFINITY, "{level}");
            assert_eq!(l2_norm(&[0.0f32; 3]), 0.0, "{level}");
            assert!(l2_norm(&[f32::NAN, f32::INFINITY]).is_nan(), "{level}");
        });
    }

    #[test]
    fn empty_slices_and_special_values() {
        at_every_level(|level| {
            let none: [f32; 0] = [];
            assert_eq!((sum(&none), dot(&none, &none), l2_norm(&none)), (0.0, 0.0, 0.0));
            assert_eq!((min(&none), max(&none)), (f32::INFINITY, f32::NEG_INFINITY));
            assert!(mean(&none).is_nan() && variance(&none, 0.0).is_nan());
            assert!(mean_variance(&none).0.is_nan() && mean_variance(&none).1.is_nan());
            for len in 1..70 {
                for at in [0, len / 2, len - 1] {
                    let mut x = vec![1.0f32; len];
                    x[at] = f32::NAN;
                    let name = format!("{level}, NaN at {at} of {len}");
                    let (m, v) = mean_variance(&x);
                    for result in [sum(&x), mean(&x), min(&x), max(&x), l2_norm(&x), m, v] {
                        assert!(result.is_nan(), "{name}");
                    }
                    x[at] = f32::NEG_INFINITY;
                    let (m, v) = mean_variance(&x);
                    assert!(m == f32::NEG_INFINITY && v.is_nan(), "{name}: {m}, {v}");
                    assert_eq!((sum(&x), min(&x)), (f32::NEG_INFINITY, f32::NEG_INFINITY), "{name}");
                    assert_eq!(max(&x), if len > 1 { 1.0 } else { f32::NEG_INFINITY }, "{name}");
                }
            }
        });
    }

    #[test]
    fn the_address_does_not_matter() {
        for_every_length(|case| {
            let x = case.numbers::<f32>();
            let copy = x.to_vec();
            assert_eq!(sum(&x).to_bits(), sum(&copy).to_bits(), "{}", case.name);
            assert_eq!(dot(&x, &copy).to_bits(), dot(&copy, &x).to_bits(), "{}", case.name);
        });
    }
}
