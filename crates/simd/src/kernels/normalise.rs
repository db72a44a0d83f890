//! Affine maps to a common scale and back: z-score and min-max.
//!
//! Subtraction, then multiplication by a reciprocal: results are within 2 ULP of the exact
//! quotient of the rounded difference. A scale of zero counts as one, so a constant series
//! normalises to zeros. NaN and infinities behave as in the arithmetic.

use crate::isa::Simd;

use crate::loops::{Map, map};
use crate::vector::{Float, Lanes, Vectors};

/// `(x - shift) * factor`.
#[derive(Clone, Copy)]
struct Forward<T> {
    shift: T,
    factor: T,
}

impl<T: Lanes> Map<T, 1, 1> for Forward<T> {
    #[inline(always)]
    fn map<S: Simd>(self, [x]: Vectors<T, S, 1>, _: Vectors<T, S, 1>) -> Vectors<T, S, 1> {
        [(x - self.shift) * self.factor]
    }
}

/// `x * scale + shift`.
#[derive(Clone, Copy)]
struct Inverse<T> {
    shift: T,
    scale: T,
}

impl<T: Lanes> Map<T, 1, 1> for Inverse<T> {
    #[inline(always)]
    fn map<S: Simd>(self, [x]: Vectors<T, S, 1>, _: Vectors<T, S, 1>) -> Vectors<T, S, 1> {
        [x.mul_add(self.scale, x.splat(self.shift))]
    }
}

fn forward<T: Float>(shift: T, scale: f64) -> Forward<T> {
    Forward { shift, factor: T::from_f64(if scale == 0.0 { 1.0 } else { 1.0 / scale }) }
}

fn inverse<T: Float>(shift: T, scale: f64) -> Inverse<T> {
    Inverse { shift, scale: T::from_f64(if scale == 0.0 { 1.0 } else { scale }) }
}

/// The range rounded to `T`: `max - min` divided by it is then 1, not more.
fn range<T: Float>(min: T, max: T) -> f64 {
    T::from_f64(max.to_f64() - min.to_f64()).to_f64()
}

/// `out[i] = (x[i] - mean) / std`; a `std` of 0 counts as 1.
///
/// # Panics
/// If the slices differ in length.
#[track_caller]
pub fn normalise<T: Float>(x: &[T], mean: T, std: T, out: &mut [T]) {
    map(forward(mean, std.to_f64()), [x], [out]);
}

/// `out[i] = x[i] * std + mean`, the inverse of [`normalise`].
///
/// # Panics
/// If the slices differ in length.
#[track_caller]
pub fn denormalise<T: Float>(x: &[T], mean: T, std: T, out: &mut [T]) {
    map(inverse(mean, std.to_f64()), [x], [out]);
}

/// `out[i] = (x[i] - min) / (max - min)`: `min` becomes exactly 0, and nothing up to `max`
/// becomes more than 1. An empty range counts as 1.
///
/// # Panics
/// If the slices differ in length.
#[track_caller]
pub fn min_max_normalise<T: Float>(x: &[T], min: T, max: T, out: &mut [T]) {
    map(forward(min, range(min, max)), [x], [out]);
}

/// `out[i] = x[i] * (max - min) + min`, the inverse of [`min_max_normalise`].
///
/// # Panics
/// If the slices differ in length.
#[track_caller]
pub fn min_max_denormalise<T: Float>(x: &[T], min: T, max: T, out: &mut [T]) {
    map(inverse(min, range(min, max)), [x], [out]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_ulps, for_every_length};

    fn there_and_back<T: Float>() {
        for_every_length(|case| {
            let x = case.between::<T>(3.0, 9.0);
            let (low, high) = (T::from_f64(3.0), T::from_f64(9.0));
            let (mean, std) = (T::from_f64(1.5), T::from_f64(0.7));
            let mut unit = case.numbers::<T>();
            let mut back = case.numbers::<T>();

            normalise(&x, mean, std, &mut unit);
            let exact = |x: &T| (x.to_f64() - 1.5) / std.to_f64();
            assert_ulps(&unit, x.iter().map(exact), 2.0, &case.name);
            denormalise(&unit, mean, std, &mut back);
            let exact = |u: &T| u.to_f64().mul_add(std.to_f64(), 1.5);
            assert_ulps(&back, unit.iter().map(exact), 1.0, &case.name);

            min_max_normalise(&x, low, high, &mut unit);
            assert!(unit.iter().all(|u| (0.0..=1.0).contains(&u.to_f64())), "{}", case.name);
            let exact = |x: &T| (x.to_f64() - 3.0) / 6.0;
            assert_ulps(&unit, x.iter().map(exact), 2.0, &case.name);
            min_max_denormalise(&unit, low, high, &mut back);
            let exact = |u: &T| u.to_f64().mul_add(6.0, 3.0);
            assert_ulps(&back, unit.iter().map(exact), 1.0, &case.name);
        });
    }

    #[test]
    fn there_and_back_again() {
        there_and_back::<f32>();
        there_and_back::<f64>();
    }

    #[test]
    fn a_scale_of_zero_counts_as_one() {
        for_every_length(|case| {
            let x = case.between::<f32>(7.0, 7.0);
            let mut out = case.numbers::<f32>();
            normalise(&x, 7.0, 0.0, &mut out);
            assert!(out.iter().all(|&u| u == 0.0), "{}", case.name);
            let mut back = case.numbers::<f32>();
            denormalise(&out, 7.0, 0.0, &mut back);
            assert_eq!(*back, *x, "{}", case.name);
            min_max_normalise(&x, 7.0, 7.0, &mut out);
            assert!(out.iter().all(|&u| u == 0.0), "{}", case.name);
        });
    }

    #[test]
    fn the_largest_value_does_not_exceed_one() {
        for k in 1..5000 {
            let high = 1.0 + k as f32 * 0.37;
            let mut x = [0.0];
            min_max_normalise(&[high], 0.1, high, &mut x);
            assert!(x[0] <= 1.0 && x[0] >= 1.0 - f32::EPSILON, "{high} became {}", x[0]);
        }
    }
}
