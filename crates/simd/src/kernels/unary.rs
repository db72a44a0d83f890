//! Functions of one number, applied to a slice.

use crate::isa::Simd;

use crate::bits::F32s;
use crate::loops::{Map, map};
use crate::vector::Vectors;

/// A function of one number.
pub(crate) trait Unary: Copy {
    fn call<S: Simd>(self, x: F32s<S>) -> F32s<S>;
}

/// The derivative of such a function, as a function of what was saved: its argument or its result.
pub(crate) trait Slope: Unary {
    fn slope<S: Simd>(self, saved: F32s<S>) -> F32s<S>;
}

#[derive(Clone, Copy)]
struct Out<F>(F);

impl<F: Unary> Map<f32, 1, 1> for Out<F> {
    #[inline(always)]
    fn map<S: Simd>(self, [x]: Vectors<f32, S, 1>, _: Vectors<f32, S, 1>) -> Vectors<f32, S, 1> {
        [self.0.call(x)]
    }
}

#[derive(Clone, Copy)]
struct InPlace<F>(F);

impl<F: Unary> Map<f32, 0, 1> for InPlace<F> {
    #[inline(always)]
    fn map<S: Simd>(self, _: Vectors<f32, S, 0>, [x]: Vectors<f32, S, 1>) -> Vectors<f32, S, 1> {
        [self.0.call(x)]
    }
}

#[track_caller]
pub(crate) fn unary(f: impl Unary, x: &[f32], out: &mut [f32]) {
    map(Out(f), [x], [out]);
}

pub(crate) fn unary_in_place(f: impl Unary, x: &mut [f32]) {
    map(InPlace(f), [], [x]);
}
