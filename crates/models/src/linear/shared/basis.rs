//! Basis functions of time for N-BEATS' trend and seasonality.

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

/// Families of functions that a trend is a sum of, each with a first, second, ... function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Trend {
    /// Legendre's polynomials on [-1, 1].
    Legendre,
    /// Powers of t in [0, 1), the last step being below 1.
    Polynomial,
    /// Ramps that start at evenly spaced points of (0, 1]; the last one never rises.
    Changepoint,
    /// The zero function, then tents of height 1 on evenly spaced points inside (0, 1).
    PiecewiseLinear,
    /// Tents of height 1 on evenly spaced points of [0, 1], both ends included.
    LinearHat,
    /// Cubic B-splines with evenly spaced knots on [0, 1], the ends clamped.
    Spline,
    /// Chebyshev's polynomials of the first kind on [-1, 1].
    Chebyshev,
}

impl Trend {
    /// The least number of functions.
    pub(crate) fn min_functions(self) -> usize {
        match self {
            Self::LinearHat => 2,
            Self::Spline => 4,
            _ => 1,
        }
    }

    /// Writes `count` functions at `len` evenly spaced times, row-major `[count, len]`.
    pub(crate) fn fill(self, count: usize, len: usize, out: &mut [f32]) {
        let (unit, symmetric) = (spaced(0.0, 1.0, len), spaced(-1.0, 1.0, len));
        let mut rows = |value: &dyn Fn(usize, usize) -> f64| fill_rows(len, out, value);
        match self {
            Self::Legendre => recursive(&symmetric, out, |n, x, p1, p2| {
                let n = n as f64;
                ((2.0 * n - 1.0) * x * p1 - (n - 1.0) * p2) / n
            }),
            Self::Chebyshev => recursive(&symmetric, out, |_, x, t1, t2| 2.0 * x * t1 - t2),
            Self::Polynomial => rows(&|i, t| (t as f64 / len as f64).powi(i as i32)),
            Self::Changepoint => {
                let starts = spaced(0.0, 1.0, count + 1);
                rows(&|i, t| (unit[t] - starts[i + 1]).max(0.0));
            }
            Self::PiecewiseLinear => {
                let knots = spaced(0.0, 1.0, count + 1);
                rows(&|i, t| match i.checked_sub(1) {
                    None => 0.0,
                    Some(before) => {
                        let rise = (unit[t] - knots[before]) / (knots[i] - knots[before]);
                        let fall = (knots[i + 1] - unit[t]) / (knots[i + 1] - knots[i]);
                        rise.min(fall).max(0.0)
                    }
                });
            }
            Self::LinearHat => {
                let (centres, width) = (spaced(0.0, 1.0, count), 1.0 / (count - 1) as f64);
                rows(&|i, t| (1.0 - (unit[t] - centres[i]).abs() / width).max(0.0));
            }
            Self::Spline => {
                let inner = spaced(0.0, 1.0, count - 2);
                let knots = [&[0.0; 3], &inner[..], &[1.0; 3]].concat();
                out.fill(0.0);
                for (t, &x) in unit.iter().enumerate() {
                    let (first, values) = cubic_splines(&knots, x);
                    (0..).zip(values).for_each(|(i, value)| out[(first + i) * len + t] = value as f32);
                }
            }
        }
    }
}

/// The number of frequencies of a seasonality.
pub(crate) fn frequencies(harmonics: usize, horizon: usize) -> usize {
    // The constant, then harmonics / harmonics, (harmonics + 1) / harmonics, ... below horizon / 2.
    1 + harmonics.saturating_mul(horizon).div_ceil(2).saturating_sub(harmonics)
}

/// Writes the cosines, then the sines, of all frequencies at `len` steps: `[2 * frequencies, len]`. A
/// frequency is in periods per horizon. Time runs backwards from the horizon's start where `reversed`.
pub(crate) fn fill_seasonality(
    harmonics: usize,
    horizon: usize,
    reversed: bool,
    len: usize,
    out: &mut [f32],
) {
    let count = frequencies(harmonics, horizon);
    let angle = |i: usize, t: usize| {
        let frequency = if i == 0 { 0.0 } else { (harmonics + i - 1) as f64 / harmonics as f64 };
        let turn = if reversed { -TAU } else { TAU };
        turn * (t as f64 / horizon as f64) * frequency
    };
    fill_rows(len, out, &|i, t| if i < count { angle(i, t).cos() } else { angle(i - count, t).sin() });
}

/// Writes `value(row, column)` to each place of `[rows, len]`.
fn fill_rows(len: usize, out: &mut [f32], value: &dyn Fn(usize, usize) -> f64) {
    for (i, row) in out.chunks_exact_mut(len).enumerate() {
        row.iter_mut().enumerate().for_each(|(t, out)| *out = value(i, t) as f32);
    }
}

/// Writes polynomials whose first is 1 and second x; `next(n, x, p1, p2)` is the nth from the two before.
fn recursive(xs: &[f64], out: &mut [f32], next: impl Fn(usize, f64, f64, f64) -> f64) {
    for (t, &x) in xs.iter().enumerate() {
        let (mut p1, mut p2) = (1.0, 0.0);
        for n in 0..out.len() / xs.len() {
            let p = match n {
                0 => 1.0,
                1 => x,
                _ => next(n, x, p1, p2),
            };
            out[n * xs.len() + t] = p as f32;
            (p1, p2) = (p, p1);
        }
    }
}

/// The four cubic B-splines that are not 0 at `x`, and the place of the first among all (de Boor 1978,
/// chapter X, algorithm BSPLVB).
fn cubic_splines(knots: &[f64], x: f64) -> (usize, [f64; 4]) {
    // The last interval that is not empty holds its right end too.
    let interval = (4..knots.len() - 4).take_while(|&i| knots[i] <= x).count() + 3;
    let mut values = [1.0, 0.0, 0.0, 0.0];
    for degree in 1..4 {
        let mut carried = 0.0;
        for i in 0..degree {
            let (left, right) = (knots[interval + 1 + i - degree], knots[interval + 1 + i]);
            let share = values[i] / (right - left);
            values[i] = carried + (right - x) * share;
            carried = (x - left) * share;
        }
        values[degree] = carried;
    }
    (interval - 3, values)
}

/// `count` evenly spaced numbers, both ends included.
fn spaced(first: f64, last: f64, count: usize) -> Vec<f64> {
    let step = (last - first) / (count.max(2) - 1) as f64;
    (0..count).map(|i| if i > 0 && i + 1 == count { last } else { first + i as f64 * step }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trend(kind: Trend, count: usize, len: usize) -> Vec<f32> {
        let mut out = vec![f32::NAN; count * len];
        kind.fill(count, len, &mut out);
        out
    }

    #[test]
    fn each_kind_by_hand() {
        assert_eq!(trend(Trend::Polynomial, 3, 2), [1.0, 1.0, 0.0, 0.5, 0.0, 0.25]);
        assert_eq!(trend(Trend::Legendre, 3, 3), [1.0, 1.0, 1.0, -1.0, 0.0, 1.0, 1.0, -0.5, 1.0]);
        assert_eq!(trend(Trend::Chebyshev, 3, 3), [1.0, 1.0, 1.0, -1.0, 0.0, 1.0, 1.0, -1.0, 1.0]);
        assert_eq!(trend(Trend::Changepoint, 2, 3), [0.0, 0.0, 0.5, 0.0, 0.0, 0.0]);
        assert_eq!(trend(Trend::PiecewiseLinear, 2, 3), [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        assert_eq!(trend(Trend::LinearHat, 2, 3), [1.0, 0.5, 0.0, 0.0, 0.5, 1.0]);
        // With a single interval these are Bernstein's polynomials.
        let thirds = trend(Trend::Spline, 4, 3);
        assert_eq!(thirds, [1.0, 0.125, 0.0, 0.0, 0.375, 0.0, 0.0, 0.375, 0.0, 0.0, 0.125, 1.0]);
    }

    #[test]
    fn splines_sum_to_one_and_are_symmetric() {
        let (count, len) = (9, 41);
        let splines = trend(Trend::Spline, count, len);
        for t in 0..len {
            let column: Vec<f32> = (0..count).map(|i| splines[i * len + t]).collect();
            assert!((column.iter().sum::<f32>() - 1.0).abs() < 1e-6 && column.iter().all(|&x| x >= 0.0));
            for (i, value) in column.iter().enumerate() {
                let mirrored = splines[(count - 1 - i) * len + len - 1 - t];
                assert!((value - mirrored).abs() < 1e-6, "spline {i} at {t}");
            }
        }
    }

    #[test]
    fn one_step_is_the_start_of_time() {
        for kind in [Trend::Legendre, Trend::Changepoint, Trend::LinearHat, Trend::Spline] {
            let alone = trend(kind, 5, 1);
            let among: Vec<f32> = trend(kind, 5, 7).chunks(7).map(|row| row[0]).collect();
            assert_eq!(alone, among, "{kind:?}");
        }
    }

    #[test]
    fn seasonality_counts_its_frequencies() {
        for (harmonics, horizon, count) in
            [(2, 12, 11), (2, 24, 23), (1, 7, 4), (3, 5, 6), (1, 2, 1), (0, 4, 1)]
        {
            assert_eq!(frequencies(harmonics, horizon), count, "{harmonics} harmonics, {horizon} steps");
        }
        let mut out = [0.0; 12];
        fill_seasonality(1, 5, true, 2, &mut out);
        let (sin, cos) = (TAU / 5.0).sin_cos();
        assert_eq!(&out[..4], &[1.0, 1.0, 1.0, cos as f32]);
        assert_eq!(&out[6..10], &[0.0, 0.0, 0.0, -sin as f32]);
    }
}
