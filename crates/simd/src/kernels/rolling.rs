//! Mean and standard deviation of a moving window, whose result is exact whatever went before: no running sum, see
//! `rolling_summary.rs`.

use super::rolling_blocks::rolling_sum;
use super::rolling_joins::by_joins;
use super::rolling_summary::Deviation;
use crate::loops::same_len;
use crate::vector::Float;

/// `out[t]` is the mean of the `window` elements up to and with `x[t]`; NaN for the first
/// `window - 1`, where there are not enough, as pandas' `rolling(window).mean()`.
///
/// The work for an element does not grow with the window; scratch memory is a few kilobytes, or four windows where that is
/// more. The error is at most `(8 + window / 64) * eps * mean(|x|)` over the
/// window, and typically a few ULP. NaN and infinities affect the windows they are in, no others.
///
/// # Panics
/// If the slices differ in length, or if `window` is 0.
#[track_caller]
pub fn rolling_mean<T: Float>(x: &[T], window: usize, out: &mut [T]) {
    same_len(x.len(), out.len());
    assert!(window > 0, "a window of 0 elements");
    rolling_sum(x, window, T::from_f64(1.0 / window as f64), out);
    out[..x.len().min(window - 1)].fill(T::from_f64(f64::NAN));
}

/// `out[t]` is the standard deviation of the `window` elements up to and with `x[t]`, its square
/// being the sum of squared deviations over `window - ddof`; NaN for the first `window - 1`, as
/// pandas' `rolling(window).std(ddof)`, and everywhere unless `window > ddof`.
///
/// Exact to a relative `(16 + window / 64) * eps` for any common level that the data have beside
/// their spread: only differences of elements enter. Cost, scratch memory and NaN as in
/// [`rolling_mean`]; an infinity makes its windows NaN.
///
/// # Panics
/// If the slices differ in length, or if `window` is 0.
#[track_caller]
pub fn rolling_std<T: Float>(x: &[T], window: usize, ddof: usize, out: &mut [T]) {
    same_len(x.len(), out.len());
    assert!(window > 0, "a window of 0 elements");
    let unfilled = if window <= ddof { x.len() } else { x.len().min(window - 1) };
    let (unfilled, out) = out.split_at_mut(unfilled);
    unfilled.fill(T::from_f64(f64::NAN));
    by_joins(Deviation { ddof }, x, window, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_within, at_every_level, exact_sum, for_every_length};

    const WINDOWS: [usize; 18] = [1, 2, 3, 5, 10, 20, 31, 63, 64, 65, 95, 127, 128, 129, 191, 192, 333, 1000];

    /// Mean and standard deviation of one window from the distances to its first element, with
    /// compensated sums.
    fn naive<T: Float>(window: &[T]) -> (f64, f64) {
        let n = window.len() as f64;
        let first = window[0].to_f64();
        let distances = || window.iter().map(|x| x.to_f64() - first);
        let mean = exact_sum(distances()) / n;
        let squares = exact_sum(distances().map(|d| (d - mean).powi(2)));
        (exact_sum(window.iter().map(|x| x.to_f64())) / n, (squares / (n - 1.0)).sqrt())
    }

    #[track_caller]
    fn check<T: Float>(x: &[T], window: usize, name: &str) {
        let eps = if size_of::<T>() == 4 { f64::from(f32::EPSILON) } else { f64::EPSILON };
        let name = format!("{name}, window {window}");
        let mut mean = vec![T::default(); x.len()];
        let mut std = mean.clone();
        rolling_mean(x, window, &mut mean);
        rolling_std(x, window, 1, &mut std);
        for t in 0..x.len() {
            if t + 1 < window {
                assert!(mean[t].to_f64().is_nan() && std[t].to_f64().is_nan(), "{name} at {t}");
                continue;
            }
            let seen = &x[t + 1 - window..=t];
            let (m, s) = naive(seen);
            let size = seen.iter().map(|x| x.to_f64().abs()).sum::<f64>() / window as f64;
            let room = 8.0 + window as f64 / 64.0;
            assert_within(mean[t], m, room * eps * size, &format!("{name}: mean at {t}"));
            assert_within(std[t], s, (room + 8.0) * eps * s, &format!("{name}: std at {t}"));
        }
    }

    #[test]
    fn equals_two_passes_over_each_window() {
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
    fn long_series() {
        at_every_level(|level| {
            let x: Vec<f64> = (0..9001).map(|i| (i as f64 * 0.37).sin() * i as f64).collect();
            for window in [10, 33, 100, 128, 500, 1777] {
                check(&x, window, level);
            }
        });
    }

    #[test]
    fn a_common_level_does_no_harm() {
        at_every_level(|level| {
            let noise = |i: u64| crate::Key::new(5).bits(i) as f64 / u64::MAX as f64;
            let x: Vec<f64> = (0..1500).map(|i| 1e9 + noise(i)).collect();
            let y: Vec<f32> = (0..1500).map(|i| 1e5 + noise(i) as f32 * 10.0).collect();
            for window in [2, 10, 20, 100, 150, 700] {
                check(&x, window, level);
                check(&y, window, level);
            }
        });
    }

    #[test]
    fn outliers_and_nan_are_forgotten() {
        at_every_level(|level| {
            for window in [3, 10, 64, 130, 300] {
                for bad in [f64::NAN, f64::INFINITY, 1e30] {
                    let mut x: Vec<f64> = (0..1200).map(|i| (i % 5) as f64).collect();
                    x[400] = bad;
                    let (mut mean, mut std) = (vec![0.0; 1200], vec![0.0; 1200]);
                    rolling_mean(&x, window, &mut mean);
                    rolling_std(&x, window, 1, &mut std);
                    for t in window - 1..1200 {
                        let name = format!("{level}, window {window}, {bad} at 400, {t}");
                        if (400..400 + window).contains(&t) {
                            let (m, s) = (mean[t], std[t]);
                            assert!(m > 1e27 || m.is_nan() && bad.is_nan(), "{name}: {m}");
                            assert!(s > 1e27 || s.is_nan() && !bad.is_finite(), "{name}: {s}");
                        } else {
                            let (m, s) = naive(&x[t + 1 - window..=t]);
                            assert_within(mean[t], m, 1e-12, &name);
                            assert_within(std[t], s, 1e-12, &name);
                        }
                    }
                }
            }
        });
    }

    #[test]
    fn a_constant_has_no_spread() {
        at_every_level(|level| {
            let x = [0.1f32; 700];
            for window in [2, 10, 200] {
                let mut std = [1.0; 700];
                rolling_std(&x, window, 0, &mut std);
                assert!(std[window - 1..].iter().all(|&s| s == 0.0), "{level}, window {window}");
            }
        });
    }

    #[test]
    fn too_few_elements_are_nan() {
        let mut out = [0.0; 5];
        rolling_std(&[1.0f64; 5], 2, 2, &mut out);
        assert!(out.iter().all(|x| x.is_nan()));
        rolling_mean(&[1.0f64; 5], 9, &mut out);
        assert!(out.iter().all(|x| x.is_nan()));
    }

    #[test]
    #[should_panic(expected = "a window of 0 elements")]
    fn a_mean_of_an_empty_window_is_refused() {
        rolling_mean(&[1.0f64], 0, &mut [0.0]);
    }

    #[test]
    #[should_panic(expected = "a window of 0 elements")]
    fn a_deviation_of_an_empty_window_is_refused() {
        rolling_std(&[1.0f64], 0, 0, &mut [0.0]);
    }
}
