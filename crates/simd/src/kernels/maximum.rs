//! The larger of two numbers, element by element, and the way of the gradient to it: what max pooling is made of.

use crate::isa::Simd;

use crate::loops::{Map, map};
use crate::vector::Vectors;

/// `y = max(x, y)`.
#[derive(Clone, Copy)]
struct Larger;

impl Map<f32, 1, 1> for Larger {
    #[inline(always)]
    fn map<S: Simd>(self, [x]: Vectors<f32, S, 1>, [y]: Vectors<f32, S, 1>) -> Vectors<f32, S, 1> {
        [x.is_nan().select(x, y.at_least(x))]
    }
}

/// `y[i] = max(x[i], y[i])`; NaN is the largest.
///
/// # Panics
/// If the slices differ in length.
#[track_caller]
pub fn max_assign(x: &[f32], y: &mut [f32]) {
    map(Larger, [x], [y]);
}

/// `grad += left` and `left = 0` where `x` is the largest.
#[derive(Clone, Copy)]
struct ToLargest;

impl Map<f32, 2, 2> for ToLargest {
    #[inline(always)]
    fn map<S: Simd>(
        self,
        [x, largest]: Vectors<f32, S, 2>,
        [left, grad]: Vectors<f32, S, 2>,
    ) -> Vectors<f32, S, 2> {
        let found = x.equal(largest) | x.is_nan();
        [found.select(0.0, left), grad + found.select(left, 0.0)]
    }
}

/// Passes the gradient of `largest` on to those `x` that it was taken from: where `x[i]` equals `largest[i]`, or is NaN, it takes
/// what is `left[i]` of the gradient, and leaves nothing to later ones.
///
/// # Panics
/// If the slices differ in length.
#[track_caller]
pub fn max_assign_backward([x, largest]: [&[f32]; 2], left: &mut [f32], grad: &mut [f32]) {
    map(ToLargest, [x, largest], [left, grad]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::for_every_length;

    #[test]
    fn the_first_of_the_largest_takes_the_gradient() {
        for_every_length(|case| {
            let mut parts = [1, 2, 3]
                .map(|k| case.between::<f32>(-2.0, 2.0).iter().map(|x| (x * k as f32).round()).collect());
            let [a, b, c]: &mut [Vec<f32>; 3] = &mut parts;
            if let [first, ..] = &mut b[..] {
                *first = f32::NAN;
            }
            let mut largest = a.clone();
            max_assign(b, &mut largest);
            max_assign(c, &mut largest);
            let mut left = vec![1.0; a.len()];
            let mut grads = [0; 3].map(|_| vec![0.5; a.len()]);
            for (x, grad) in [&*a, b, c].into_iter().zip(&mut grads) {
                max_assign_backward([x, &largest], &mut left, grad);
            }
            for i in 0..a.len() {
                let all = [a[i], b[i], c[i]];
                let first = match all.iter().position(|x| x.is_nan()) {
                    Some(at) => at,
                    None => (0..3).find(|&k| all.iter().all(|x| *x <= all[k])).unwrap(),
                };
                assert!(
                    largest[i] == all[first] || largest[i].is_nan() && all[first].is_nan(),
                    "{}",
                    case.name
                );
                let expected = [0, 1, 2].map(|k| if k == first { 1.5 } else { 0.5 });
                assert_eq!([0, 1, 2].map(|k| grads[k][i]), expected, "{}: {all:?}", case.name);
            }
        });
    }
}
