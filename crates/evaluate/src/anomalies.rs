//! Actual values outside the intervals of their forecasts.

use statrs::distribution::{ContinuousCDF as _, Normal};

/// The median absolute deviation of a standard normal distribution, by which that of a sample becomes its deviation.
const DEVIATION_PER_MEDIAN: f64 = 1.482_602_218_505_602;

/// Whether an actual value is outside the interval of its forecast, and how far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anomaly {
    /// Whether it is outside.
    pub is_outside: bool,
    /// How far outside it is, in widths of the interval; 0 inside, NaN where the value or an end is not known.
    pub score: f64,
    /// The share of the values that are as far from the middle of their intervals, or farther, in widths: small is rare. NaN
    /// where it is not known.
    pub rank: f64,
}

/// Half the width of a central interval of `level` percent around forecasts with these errors: the quantile of a normal distribution
/// with their deviation. That is taken from the median of their sizes (Hampel 1974), which single anomalies do not move. NaN
/// without an error that is known.
///
/// ```
/// let half = foretell_evaluate::error_spread([1.0, -1.0, 1.0, -1.0, 500.0], 95.0);
/// assert!((half - 1.96 * 1.4826).abs() < 1e-3);
/// ```
pub fn error_spread(errors: impl IntoIterator<Item = f64>, level: f64) -> f64 {
    let mut sizes: Vec<f64> = errors.into_iter().map(f64::abs).filter(|size| !size.is_nan()).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    let (Some(low), Some(high)) = (sizes.get(sizes.len().saturating_sub(1) / 2), sizes.get(sizes.len() / 2))
    else {
        return f64::NAN;
    };
    let quantile = Normal::standard().inverse_cdf(0.5 + level / 200.0);
    quantile * DEVIATION_PER_MEDIAN * (low + high) / 2.0
}

/// How values lie to the intervals of their forecasts, each relative to the others. An interval without width has the width of the
/// rounding of its ends in single precision.
///
/// # Panics
/// If there are not as many intervals as values.
#[track_caller]
pub fn anomalies(y: &[f64], intervals: &[[f64; 2]]) -> Vec<Anomaly> {
    assert_eq!(y.len(), intervals.len(), "an interval for each value");
    let width = |&[low, high]: &[f64; 2]| {
        let rounding = f64::from(f32::EPSILON) * low.abs().max(high.abs());
        (high - low).max(rounding).max(f64::MIN_POSITIVE)
    };
    let distance =
        |(&y, interval): (&f64, &[f64; 2])| (y - (interval[0] + interval[1]) / 2.0).abs() / width(interval);
    let distances: Vec<f64> = y.iter().zip(intervals).map(distance).collect();
    let mut known: Vec<f64> = distances.iter().copied().filter(|distance| !distance.is_nan()).collect();
    known.sort_unstable_by(f64::total_cmp);
    let of_value = |&distance: &f64| {
        let nearer = known.partition_point(|other| *other < distance);
        // The middle is half a width from the ends.
        let score = if distance.is_nan() { f64::NAN } else { (distance - 0.5).max(0.0) };
        let rank =
            if distance.is_nan() { f64::NAN } else { (known.len() - nearer) as f64 / known.len() as f64 };
        Anomaly { is_outside: score > 0.0, score, rank }
    };
    distances.iter().map(of_value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_outside_is_found_with_its_distance_and_its_rank() {
        let intervals = [[0.0, 2.0], [0.0, 2.0], [10.0, 14.0], [0.0, 2.0], [0.0, f64::NAN]];
        let found = anomalies(&[1.0, 2.0, 4.0, f64::NAN, 1.0], &intervals);
        assert_eq!(found[0], Anomaly { is_outside: false, score: 0.0, rank: 1.0 });
        assert_eq!(found[1], Anomaly { is_outside: false, score: 0.0, rank: 2.0 / 3.0 }, "an end is inside");
        assert_eq!(
            found[2],
            Anomaly { is_outside: true, score: 1.5, rank: 1.0 / 3.0 },
            "6 below, of width 4"
        );
        assert!(found[3..].iter().all(|row| !row.is_outside && row.score.is_nan() && row.rank.is_nan()));
    }

    #[test]
    fn a_forecast_without_errors_marks_whatever_differs_by_more_than_rounding() {
        let found = anomalies(&[1000.0, 1001.0], &[[1000.0, 1000.0]; 2]);
        assert!(!found[0].is_outside && found[1].is_outside && found[1].score.is_finite(), "{found:?}");
    }

    #[test]
    fn the_spread_is_that_of_a_normal_distribution() {
        // Quantiles of a normal distribution of deviation 3.
        let normal = Normal::new(0.0, 3.0).unwrap();
        let errors: Vec<f64> = (0..999).map(|i| normal.inverse_cdf((f64::from(i) + 0.5) / 999.0)).collect();
        for (level, quantile) in [(80.0, 1.281_55), (99.0, 2.575_83)] {
            let half = error_spread(errors.iter().copied(), level);
            assert!((half - 3.0 * quantile).abs() < 0.02, "{level}: {half}");
        }
        assert!(error_spread([], 90.0).is_nan() && error_spread([f64::NAN], 90.0).is_nan());
        assert_eq!(error_spread([0.0, f64::NAN], 90.0), 0.0);
    }
}
