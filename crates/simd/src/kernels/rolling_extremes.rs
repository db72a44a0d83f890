//! Smallest and largest element of a moving window.

use super::rolling_joins::by_joins;
use super::rolling_summary::Extremum;
use crate::loops::same_len;
use crate::vector::Float;

/// `out[t]` is the smallest of the `window` elements up to and with `x[t]`; NaN for the first `window - 1`, where there are not
/// enough, as pandas' `rolling(window).min()`.
///
/// Exact. The work for an element grows with the logarithm of the window, up to 64 elements, and no further; scratch memory is a
/// few kilobytes, or four windows where that is more. A NaN makes the windows NaN that it is in, no others.
///
/// # Panics
/// If the slices differ in length, or if `window` is 0.
#[track_caller]
pub fn rolling_min<T: Float>(x: &[T], window: usize, out: &mut [T]) {
    rolling_extremum::<T, -1>(x, window, out);
}

/// `out[t]` is the largest of the `window` elements up to and with `x[t]`, otherwise as [`rolling_min`].
///
/// # Panics
/// If the slices differ in length, or if `window` is 0.
#[track_caller]
pub fn rolling_max<T: Float>(x: &[T], window: usize, out: &mut [T]) {
    rolling_extremum::<T, 1>(x, window, out);
}

#[track_caller]
fn rolling_extremum<T: Float, const SIGN: i8>(x: &[T], window: usize, out: &mut [T]) {
    same_len(x.len(), out.len());
    assert!(window > 0, "a window of 0 elements");
    let (unfilled, out) = out.split_at_mut(x.len().min(window - 1));
    unfilled.fill(T::from_f64(f64::NAN));
    by_joins(Extremum::<SIGN>, x, window, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at_every_level, for_every_length};

    const WINDOWS: [usize; 14] = [1, 2, 3, 5, 10, 31, 32, 63, 64, 65, 128, 191, 333, 1000];

    #[track_caller]
    fn check<T: Float>(x: &[T], window: usize, name: &str) {
        let mut least = vec![T::default(); x.len()];
        let mut most = least.clone();
        rolling_min(x, window, &mut least);
        rolling_max(x, window, &mut most);
        for t in 0..x.len() {
            let seen = x[(t + 1).saturating_sub(window)..=t].iter().map(|x| x.to_f64());
            let any_nan = t + 1 < window || seen.clone().any(f64::is_nan);
            let fold = |of: fn(f64, f64) -> f64| match any_nan {
                true => f64::NAN,
                false => seen.clone().reduce(of).expect("an element"),
            };
            let same = |found: T, expected: f64| {
                found.to_f64() == expected || found.to_f64().is_nan() && expected.is_nan()
            };
            assert!(same(least[t], fold(f64::min)), "{name}, window {window}: least at {t}");
            assert!(same(most[t], fold(f64::max)), "{name}, window {window}: most at {t}");
        }
    }

    #[test]
    fn equals_a_search_of_each_window() {
        for_every_length(|case| {
            if case.len > 1100 {
                return;
            }
            let (x, y) = (case.numbers::<f32>(), case.numbers::<f64>());
            for window in WINDOWS {
                check(&x, window, &case.name);
                check(&y, window, &case.name);
            }
        });
    }

    #[test]
    fn nan_and_infinities_are_forgotten_with_their_windows() {
        at_every_level(|level| {
            for window in WINDOWS {
                for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                    let mut x: Vec<f32> = (0..1200).map(|i| (i * 37 % 101) as f32).collect();
                    x[400] = bad;
                    check(&x, window, level);
                }
            }
        });
    }

    #[test]
    #[should_panic(expected = "a window of 0 elements")]
    fn an_empty_window_is_refused() {
        rolling_max(&[1.0f64], 0, &mut [0.0]);
    }
}
