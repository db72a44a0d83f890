//! Scaling gradients back and finding those that are not finite, in one pass.

use crate::isa::Simd;

use crate::loops::{Fold, fold};
use crate::vector::{Float, Lanes, Vectors};

#[derive(Clone, Copy)]
struct ScaleFinite<T>(T);

/// Zero times a number is zero if it is finite and NaN otherwise, so the sum of these tells.
impl<T: Lanes> Fold<T, 0, 1, 1> for ScaleFinite<T> {
    #[inline(always)]
    fn step<S: Simd>(
        self,
        [acc]: Vectors<T, S, 1>,
        []: Vectors<T, S, 0>,
        [x]: Vectors<T, S, 1>,
    ) -> (Vectors<T, S, 1>, Vectors<T, S, 1>) {
        let x = x * self.0;
        ([acc + x * T::default()], [x])
    }
}

/// Multiplies `x` by `factor` and says whether all products are finite; yes if there are none.
pub fn scale_finite<T: Float>(x: &mut [T], factor: T) -> bool {
    let [sum] = fold::<4, T, 0, 1, 1>(ScaleFinite(factor), [], [x]);
    sum == T::default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::for_every_length;

    #[test]
    fn scales_and_finds_what_is_not_finite_at_every_place() {
        for_every_length(|case| {
            let plain = case.numbers::<f32>();
            let mut x = plain.to_vec();
            assert!(scale_finite(&mut x, 0.125), "{}", case.name);
            assert!(x.iter().zip(plain.iter()).all(|(x, plain)| *x == plain * 0.125), "{}", case.name);
            for at in (0..case.len).step_by(1 + case.len / 40) {
                for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX] {
                    let mut x = plain.to_vec();
                    x[at] = bad;
                    assert!(!scale_finite(&mut x, 2.0), "{}: {bad} at {at}", case.name);
                }
            }
        });
    }
}
