//! The square root.

use crate::isa::Simd;

use crate::bits::F32s;
use crate::kernels::unary::{Unary, unary};

#[derive(Clone, Copy)]
struct Sqrt;

impl Unary for Sqrt {
    #[inline(always)]
    fn call<S: Simd>(self, x: F32s<S>) -> F32s<S> {
        x.sqrt()
    }
}

/// `out[i] = sqrt(x[i])`, rounded correctly; NaN below zero.
///
/// # Panics
/// If the slices differ in length.
#[track_caller]
pub fn sqrt(x: &[f32], out: &mut [f32]) {
    unary(Sqrt, x, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::for_every_length;

    #[test]
    fn rounded_correctly() {
        for_every_length(|case| {
            let x = case.hard::<f32>();
            let mut y = case.numbers::<f32>();
            sqrt(&x, &mut y);
            for (x, y) in x.iter().zip(&*y) {
                let exact = x.sqrt();
                let same = y.to_bits() == exact.to_bits() || y.is_nan() && exact.is_nan();
                assert!(same, "{}: {y} of {x}", case.name);
            }
        });
    }
}
