//! Arithmetic on whole slices.
//!
//! Each result is what one IEEE operation on the elements gives, except [`axpy`], [`mul_add`]
//! and [`mul_add_assign`], which round once where the level has a fused instruction and twice where it has not. NaN,
//! infinities and subnormal numbers behave as in that operation. Slices may have any length,
//! zero included, and any alignment.

use crate::isa::Simd;

use crate::loops::{Map, map};
use crate::vector::{Float, Lanes, Vectors};

/// Writes an operator of two slices as a kernel, a function with a third slice for the result,
/// and a function that overwrites the first slice.
macro_rules! binary {
    ($($kernel:ident $op:tt $name:ident $sign:literal, $assign:ident $assign_sign:literal;)*) => { $(
        #[derive(Clone, Copy)]
        struct $kernel;

        impl<T: Lanes> Map<T, 2, 1> for $kernel {
            #[inline(always)]
            fn map<S: Simd>(self, [a, b]: Vectors<T, S, 2>, _: Vectors<T, S, 1>) -> Vectors<T, S, 1> {
                [a $op b]
            }
        }

        impl<T: Lanes> Map<T, 1, 1> for $kernel {
            #[inline(always)]
            fn map<S: Simd>(self, [b]: Vectors<T, S, 1>, [a]: Vectors<T, S, 1>) -> Vectors<T, S, 1> {
                [a $op b]
            }
        }

        #[doc = concat!("`out[i] = a[i] ", $sign, " b[i]`.")]
        ///
        /// # Panics
        /// If the slices differ in length.
        #[track_caller]
        pub fn $name<T: Float>(a: &[T], b: &[T], out: &mut [T]) {
            map($kernel, [a, b], [out]);
        }

        #[doc = concat!("`dst[i] ", $assign_sign, " src[i]`.")]
        ///
        /// # Panics
        /// If the slices differ in length.
        #[track_caller]
        pub fn $assign<T: Float>(dst: &mut [T], src: &[T]) {
            map($kernel, [src], [dst]);
        }
    )* };
}

binary! {
    Sum + add "+", add_assign "+=";
    Difference - sub "-", sub_assign "-=";
    Product * mul "*", mul_assign "*=";
    Quotient / div "/", div_assign "/=";
}

#[derive(Clone, Copy)]
struct MulAdd;

impl<T: Lanes> Map<T, 3, 1> for MulAdd {
    #[inline(always)]
    fn map<S: Simd>(self, [a, b, c]: Vectors<T, S, 3>, _: Vectors<T, S, 1>) -> Vectors<T, S, 1> {
        [a.mul_add(b, c)]
    }
}

/// `out[i] = a[i] * b[i] + c[i]`.
///
/// # Panics
/// If the slices differ in length.
#[track_caller]
pub fn mul_add<T: Float>(a: &[T], b: &[T], c: &[T], out: &mut [T]) {
    map(MulAdd, [a, b, c], [out]);
}

impl<T: Lanes> Map<T, 2, 1> for MulAdd {
    #[inline(always)]
    fn map<S: Simd>(self, [a, b]: Vectors<T, S, 2>, [sum]: Vectors<T, S, 1>) -> Vectors<T, S, 1> {
        [a.mul_add(b, sum)]
    }
}

/// `sum[i] += a[i] * b[i]`.
///
/// # Panics
/// If the slices differ in length.
#[track_caller]
pub fn mul_add_assign<T: Float>(a: &[T], b: &[T], sum: &mut [T]) {
    map(MulAdd, [a, b], [sum]);
}

#[derive(Clone, Copy)]
struct Axpy<T>(T);

impl<T: Lanes> Map<T, 1, 1> for Axpy<T> {
    #[inline(always)]
    fn map<S: Simd>(self, [x]: Vectors<T, S, 1>, [y]: Vectors<T, S, 1>) -> Vectors<T, S, 1> {
        [x.mul_add(self.0, y)]
    }
}

/// `y[i] += alpha * x[i]`.
///
/// # Panics
/// If the slices differ in length.
#[track_caller]
pub fn axpy<T: Float>(alpha: T, x: &[T], y: &mut [T]) {
    map(Axpy(alpha), [x], [y]);
}

#[derive(Clone, Copy)]
pub(crate) struct Scale<T>(pub(crate) T);

impl<T: Lanes> Map<T, 0, 1> for Scale<T> {
    #[inline(always)]
    fn map<S: Simd>(self, _: Vectors<T, S, 0>, [x]: Vectors<T, S, 1>) -> Vectors<T, S, 1> {
        [x * self.0]
    }
}

/// `x[i] *= alpha`.
pub fn scale<T: Float>(x: &mut [T], alpha: T) {
    map(Scale(alpha), [], [x]);
}

#[cfg(test)]
mod tests {
    use std::ops::{Add, Div, Mul, Sub};

    use super::*;
    use crate::testing::{assert_ulps, for_every_length};

    /// Asserts the same bits, or NaN for NaN.
    #[track_caller]
    fn assert_same<T: Float>(actual: &[T], expected: impl Iterator<Item = T>, name: &str) {
        for (i, (a, b)) in actual.iter().zip(expected).enumerate() {
            let (x, y) = (a.to_f64(), b.to_f64());
            let same = x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan();
            assert!(same, "{name}: element {i} is {a:?}, expected {b:?}");
        }
    }

    fn operators<T>()
    where
        T: Float + Add<Output = T> + Sub<Output = T> + Mul<Output = T> + Div<Output = T>,
    {
        type Operator<T> = (&'static str, fn(T, T) -> T, fn(&[T], &[T], &mut [T]), fn(&mut [T], &[T]));
        let all: [Operator<T>; 4] = [
            ("add", |a, b| a + b, add, add_assign),
            ("sub", |a, b| a - b, sub, sub_assign),
            ("mul", |a, b| a * b, mul, mul_assign),
            ("div", |a, b| a / b, div, div_assign),
        ];
        for_every_length(|case| {
            let (a, b) = (case.hard::<T>(), case.hard::<T>());
            for (name, naive, out_of, assign) in all {
                let name = format!("{name}, {}", case.name);
                let expected = || a.iter().zip(&*b).map(|(&a, &b)| naive(a, b));
                let mut out = case.numbers::<T>();
                out_of(&a, &b, &mut out);
                assert_same(&out, expected(), &name);
                let mut left = a.clone();
                assign(&mut left, &b);
                assert_same(&left, expected(), &name);
            }
            let mut x = a.clone();
            scale(&mut x, T::from_f64(0.3));
            assert_same(&x, a.iter().map(|&a| a * T::from_f64(0.3)), &case.name);
        });
    }

    #[test]
    fn operators_are_those_of_ieee() {
        operators::<f32>();
        operators::<f64>();
    }

    fn multiply_and_add<T: Float>() {
        for_every_length(|case| {
            let (a, b, c) = (case.numbers::<T>(), case.numbers::<T>(), case.numbers::<T>());
            // Rounded once or twice: the error is counted in units of the larger term.
            let shift = T::from_f64(8.0);
            let c: Vec<T> = c.iter().map(|c| T::from_f64(c.to_f64() + shift.to_f64())).collect();
            let mut out = case.numbers::<T>();
            mul_add(&a, &b, &c, &mut out);
            let exact = |i: usize| a[i].to_f64().mul_add(b[i].to_f64(), c[i].to_f64());
            assert_ulps(&out, (0..case.len).map(exact), 1.5, &case.name);
            let mut sum = c.clone();
            mul_add_assign(&a, &b, &mut sum);
            assert_eq!(sum, &*out, "{}", case.name);

            let mut y = c.clone();
            axpy(T::from_f64(0.7), &a, &mut y);
            let alpha = T::from_f64(0.7).to_f64();
            let exact = |i: usize| alpha.mul_add(a[i].to_f64(), c[i].to_f64());
            assert_ulps(&y, (0..case.len).map(exact), 1.5, &case.name);
        });
    }

    #[test]
    fn multiply_and_add_round_twice_at_most() {
        multiply_and_add::<f32>();
        multiply_and_add::<f64>();
    }
}
