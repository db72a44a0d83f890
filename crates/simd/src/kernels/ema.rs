//! The exponential moving average, vectorised as a scan.
//!
//! With `b = 1 - alpha`, the recurrence `y[t] = y[t-1] + alpha (x[t] - y[t-1])` within one vector
//! is a sum over the earlier lanes weighted by powers of `b`, built in log2(lanes) shifted
//! additions. The value carried from vector to vector is corrected by the difference of two such
//! sums, so it waits for two operations only, and the weights add up to one: a constant series
//! stays constant however small `alpha` is.

use crate::isa::{Simd, WithSimd};

use crate::level::dispatch;
use crate::loops::same_len;
use crate::vector::{Float, Lanes, Mask, Vector};

/// More lanes than any level has.
const MOST_LANES: usize = 16;

struct Ema<'a, T> {
    x: &'a [T],
    alpha: f64,
    out: &'a mut [T],
}

impl<T: Lanes> WithSimd for Ema<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (Some((&first, x)), Some((head, out))) = (self.x.split_first(), self.out.split_first_mut())
        else {
            return;
        };
        *head = first;

        let lanes = T::lanes::<S>();
        let alpha = T::from_f64(self.alpha);
        let mut decay = 1.0;
        let powers: [T; MOST_LANES] = std::array::from_fn(|_| {
            decay *= 1.0 - self.alpha;
            T::from_f64(decay)
        });
        // The weights of all earlier lanes together: the sum for a series of ones.
        let ones = scan(Vector::of(simd, alpha), &powers);
        let ones_last = ones.splat(ones.lane(lanes - 1));

        let mut carry = Vector::of(simd, first);
        for (x, out) in x.chunks(lanes).zip(out.chunks_mut(lanes)) {
            let sum = scan(Vector::read(simd, x) * alpha, &powers);
            let last = sum.splat(sum.lane(lanes - 1));
            (carry + ones.mul_add(-carry, sum)).write(out);
            carry = carry + ones_last.mul_add(-carry, last);
        }
    }
}

/// `sum[i] = x[i] + b sum[i - 1]` over the lanes, with `powers[k]` the power `k + 1` of `b`.
#[inline(always)]
fn scan<T: Lanes, S: Simd>(x: Vector<T, S>, powers: &[T; MOST_LANES]) -> Vector<T, S> {
    let mut sum = x;
    let mut by = 1;
    while by < T::lanes::<S>() {
        let earlier = Mask::first(x.simd, by).select(T::default(), sum.rotate(by));
        sum = earlier.mul_add(powers[by - 1], sum);
        by *= 2;
    }
    sum
}

/// `out[0] = x[0]`, then `out[t] = alpha * x[t] + (1 - alpha) * out[t - 1]`: pandas'
/// `ewm(alpha, adjust=False).mean()`.
///
/// The roundings of the last `1 / alpha` elements add up: within `8 + min(t, 1 / alpha) / 2` ULP
/// of the largest `|x|` so far. A NaN or an infinity reaches every later element.
///
/// # Panics
/// If the slices differ in length, or unless `0 < alpha <= 1`.
#[track_caller]
pub fn ema<T: Float>(x: &[T], alpha: T, out: &mut [T]) {
    same_len(x.len(), out.len());
    let alpha = alpha.to_f64();
    assert!(alpha > 0.0 && alpha <= 1.0, "the weight {alpha} is not above 0 and at most 1");
    dispatch(Ema { x, alpha, out });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_within, at_every_level, for_every_length};

    fn against_the_recurrence<T: Float>() {
        let eps = if size_of::<T>() == 4 { f64::from(f32::EPSILON) } else { f64::EPSILON };
        for_every_length(|case| {
            let x = case.between::<T>(-1.0, 3.0);
            for alpha in [1e-4, 0.1, 0.3, 0.9, 1.0] {
                let mut out = case.numbers::<T>();
                ema(&x, T::from_f64(alpha), &mut out);
                let alpha = T::from_f64(alpha).to_f64();
                let mut exact = f64::NAN;
                for t in 0..case.len {
                    let x = x[t].to_f64();
                    exact = if t == 0 { x } else { alpha * x + (1.0 - alpha) * exact };
                    let room = 3.0 * eps * (8.0 + (1.0 / alpha).min(t as f64) / 2.0);
                    assert_within(out[t], exact, room, &format!("{} {alpha}", case.name));
                }
            }
        });
    }

    #[test]
    fn equals_the_recurrence() {
        against_the_recurrence::<f32>();
        against_the_recurrence::<f64>();
    }

    #[test]
    fn a_constant_stays_constant() {
        at_every_level(|level| {
            for alpha in [1e-6, 1e-3, 0.2] {
                let mut out = vec![0.0; 20_000];
                ema(&[0.1f32; 20_000], alpha, &mut out);
                assert!(out.iter().all(|y| (y - 0.1).abs() <= 1e-8), "{level} {alpha}");
            }
        });
    }

    #[test]
    fn the_first_element_is_exact_and_nan_stays() {
        at_every_level(|level| {
            let mut x = [0.1f32; 50];
            x[20] = f32::NAN;
            let mut out = [0.0; 50];
            ema(&x, 0.3, &mut out);
            assert_eq!(out[0], 0.1);
            assert!(out[..20].iter().all(|y| (y - 0.1).abs() < 1e-6), "{level}");
            assert!(out[20..].iter().all(|y| y.is_nan()), "{level}");
            ema(&x[..0], 0.3, &mut out[..0]);
        });
    }

    #[test]
    #[should_panic(expected = "the weight 0 is not above 0")]
    fn a_weight_of_zero_is_refused() {
        ema(&[1.0f64], 0.0, &mut [0.0]);
    }
}
