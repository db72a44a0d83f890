//! Sums of weighted stretches of a slice, all taken while a vector of the result is in a register.

use crate::isa::{Simd, WithSimd};

use crate::level::dispatch;
use crate::loops::same_len;
use crate::vector::{Lanes, Vector};

/// Vectors of the result that are summed at once, so that one addition need not wait for the other.
const WIDE: usize = 4;

struct Weighted<'a> {
    x: &'a [f32],
    starts: &'a [usize],
    weights: &'a [f32],
    y: &'a mut [f32],
}

impl WithSimd for Weighted<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { x, starts, weights, y } = self;
        let lanes = f32::lanes::<S>();
        let wide = y.len() / (WIDE * lanes) * WIDE * lanes;
        let (blocks, rest) = y.split_at_mut(wide);
        for (at, y) in blocks.chunks_exact_mut(WIDE * lanes).enumerate() {
            add::<S, WIDE>(simd, &x[at * WIDE * lanes..], starts, weights, y);
        }
        for (at, y) in rest.chunks_mut(lanes).enumerate() {
            add::<S, 1>(simd, &x[wide + at * lanes..], starts, weights, y);
        }
    }
}

/// Adds to `N` vectors of the result, or to what is left of one.
#[inline(always)]
fn add<S: Simd, const N: usize>(simd: S, x: &[f32], starts: &[usize], weights: &[f32], y: &mut [f32]) {
    let (lanes, len) = (f32::lanes::<S>(), y.len());
    let part = |k: usize| k * lanes..len.min((k + 1) * lanes);
    let mut sums = [Vector::of(simd, 0.0); N];
    for k in 0..N {
        sums[k] = Vector::read(simd, &y[part(k)]);
    }
    for (&start, &weight) in starts.iter().zip(weights) {
        let x = &x[start..][..len];
        for k in 0..N {
            sums[k] = Vector::read(simd, &x[part(k)]).mul_add(weight, sums[k]);
        }
    }
    for k in 0..N {
        sums[k].write(&mut y[part(k)]);
    }
}

/// `y[i] += Σ_k weights[k] x[starts[k] + i]`, in the order of k.
///
/// # Panics
/// If there is not one weight for each start, or a stretch of `y.len()` numbers does not lie within `x`.
#[track_caller]
pub fn add_weighted_rows(x: &[f32], starts: &[usize], weights: &[f32], y: &mut [f32]) {
    same_len(starts.len(), weights.len());
    let outside = starts.iter().find(|&&start| x.len() < start + y.len());
    assert!(outside.is_none(), "{} numbers from {outside:?} on of {}", y.len(), x.len());
    if !starts.is_empty() {
        dispatch(Weighted { x, starts, weights, y });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_within, for_every_length};

    #[test]
    fn equals_the_sum_of_each_stretch() {
        for_every_length(|case| {
            let y = case.between::<f32>(-3.0, 3.0);
            let x: Vec<f32> = (0..y.len() + 9).map(|i| (i * 37 % 19) as f32 - 9.0).collect();
            for starts in [&[][..], &[0], &[9, 0, 4, 4, 7]] {
                let weights = &[0.5, -1.5, 2.0, 0.25, 3.0][..starts.len()];
                let mut sums = y.to_vec();
                add_weighted_rows(&x, starts, weights, &mut sums);
                for (i, (sum, y)) in sums.iter().zip(y.iter()).enumerate() {
                    let terms = starts.iter().zip(weights);
                    let all: f64 = terms.map(|(&s, &w)| f64::from(w * x[s + i])).sum();
                    assert_within(*sum, f64::from(*y) + all, 2e-5, &case.name);
                }
            }
        });
    }

    #[test]
    #[should_panic(expected = "3 numbers from Some(2) on of 4")]
    fn stretches_lie_within() {
        add_weighted_rows(&[0.0; 4], &[1, 2], &[1.0; 2], &mut [0.0; 3]);
    }
}
