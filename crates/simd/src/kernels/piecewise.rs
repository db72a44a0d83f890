//! Activations that are pieces of lines and parabolas, with PyTorch's default bounds and its derivatives at the kinks.

use crate::isa::Simd;

use crate::bits::F32s;
use crate::kernels::unary::{Slope, Unary};

/// What [`Hardshrink`] and [`Softshrink`] take for nothing.
const SHRINK: f32 = 0.5;

#[derive(Clone, Copy)]
pub(crate) struct Hardshrink;

impl Unary for Hardshrink {
    #[inline(always)]
    fn call<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        x * x.abs().greater(SHRINK).select(1.0, x.splat(0.0))
    }
}

impl Slope for Hardshrink {
    #[inline(always)]
    fn slope<S: Simd>(self, output: F32s<S>) -> F32s<S> {
        output.equal(0.0).select(0.0, output.splat(1.0))
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Softshrink;

impl Unary for Softshrink {
    #[inline(always)]
    fn call<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        x - x.at_least(-SHRINK).at_most(SHRINK)
    }
}

impl Slope for Softshrink {
    #[inline(always)]
    fn slope<S: Simd>(self, output: F32s<S>) -> F32s<S> {
        Hardshrink.slope(output)
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Hardtanh;

impl Unary for Hardtanh {
    #[inline(always)]
    fn call<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        x.at_least(-1.0).at_most(1.0)
    }
}

impl Slope for Hardtanh {
    #[inline(always)]
    fn slope<S: Simd>(self, output: F32s<S>) -> F32s<S> {
        output.abs().less(1.0).select(1.0, output.splat(0.0))
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Hardswish;

impl Unary for Hardswish {
    #[inline(always)]
    fn call<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        x * ((x + 3.0).at_least(0.0).at_most(6.0) / 6.0)
    }
}

impl Slope for Hardswish {
    #[inline(always)]
    fn slope<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        let between = x.mul_add(1.0 / 3.0, 0.5);
        let below_upper = x.less(3.0).select(between, x.splat(1.0));
        x.greater(-3.0).select(below_upper, x.splat(0.0))
    }
}
