//! The history of each series before its forecasts, which scaled metrics divide by.

/// The values before each forecast.
pub trait ScoreHistory {
    /// The values of a series up to that cutoff, in the order of time; NaN where unknown.
    fn until(&self, series: u32, cutoff: i64) -> &[f64];
}

/// The mean of `score(y(t) - y(t - season))` over a history, where both are known; NaN where no two are.
pub(crate) fn seasonal_mean(y: &[f64], season: usize, score: impl Fn(f64) -> f64) -> f64 {
    let after = y.get(season..).unwrap_or_default();
    let changes = y.iter().zip(after).map(|(before, now)| now - before).filter(|change| !change.is_nan());
    let (sum, count) = changes.fold((0.0, 0_usize), |(sum, count), change| (sum + score(change), count + 1));
    sum / count as f64
}

/// The mean of the known values; NaN where there is none.
pub(crate) fn mean(y: &[f64]) -> f64 {
    let known = y.iter().filter(|y| !y.is_nan());
    let (sum, count) = known.fold((0.0, 0_usize), |(sum, count), y| (sum + y, count + 1));
    sum / count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_the_naive_forecast_is_a_mean_of_known_changes() {
        const GAP: f64 = f64::NAN;
        let seasonal_error = |y: &[f64], season| seasonal_mean(y, season, f64::abs);
        assert_eq!(seasonal_error(&[1.0, 2.0, 4.0], 1), 1.5);
        assert_eq!(seasonal_error(&[1.0, GAP, 4.0, 2.0, 6.0], 2), 2.5);
        assert!(seasonal_error(&[1.0], 1).is_nan() && seasonal_error(&[1.0, GAP], 1).is_nan());
        assert_eq!(mean(&[1.0, GAP, 4.0]), 2.5);
        assert!(mean(&[GAP]).is_nan());
    }
}
