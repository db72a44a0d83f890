//! How often a series is to be differenced.

use foretell_estimator::mean;

use super::order::difference;
use crate::numeric::stl::stl;

/// The number of seasons that a season changes over where its strength is measured.
const SEASONS: usize = 11;

/// Differences of a season: while the season is strong, `most` at most.
///
/// Wang, Smith and Hyndman 2006, Characteristic-based clustering for time series data.
pub(super) fn season_differences(y: &[f64], period: usize, most: usize) -> usize {
    let mut y = y.to_vec();
    let mut count = 0;
    while count < most && !is_constant(&y) {
        let is_long = if count == 0 { y.len() > period } else { y.len() >= 2 * period };
        let strength = if is_long { season_strength(&y, period) } else { 0.0 };
        if strength.is_nan() || strength <= 0.64 {
            break;
        }
        y = difference(y, period, 1);
        count += 1;
    }
    count
}

/// How much of what is not trend the season explains, from 0 to 1.
fn season_strength(y: &[f64], period: usize) -> f64 {
    let parts = stl(y, period, SEASONS);
    let detrended: Vec<f64> = y.iter().zip(&parts.trend).map(|(y, trend)| y - trend).collect();
    let rest: Vec<f64> = detrended.iter().zip(&parts.season).map(|(y, season)| y - season).collect();
    (1.0 - variance(&rest) / variance(&detrended)).clamp(0.0, 1.0)
}

fn variance(y: &[f64]) -> f64 {
    let mean = mean(y);
    y.iter().map(|y| (y - mean).powi(2)).sum()
}

/// Differences of one step: while the level is not stationary, `most` at most.
pub(super) fn step_differences(y: &[f64], most: usize) -> usize {
    let mut y = y.to_vec();
    for count in 0..most {
        if is_constant(&y) || level_statistic(&y) <= 0.463 {
            return count;
        }
        y = difference(y, 1, 1);
        // As in statsforecast, whose differences lack one more value.
        y.drain(..y.len().min(1));
    }
    most
}

/// The statistic of Kwiatkowski, Phillips, Schmidt and Shin 1992; above 0.463 the level is not stationary, at 5 %.
fn level_statistic(y: &[f64]) -> f64 {
    let n = y.len() as f64;
    let mean = mean(y);
    let rest: Vec<f64> = y.iter().map(|y| y - mean).collect();
    let mut sum = 0.0;
    let sums: f64 = rest
        .iter()
        .map(|rest| {
            sum += rest;
            sum * sum
        })
        .sum();
    let lags = (3.0 * n.sqrt() / 13.0) as usize;
    let product =
        |lag: usize| -> f64 { rest.iter().skip(lag).zip(&rest).map(|(now, before)| now * before).sum() };
    let weighted = |lag: usize| 2.0 * (1.0 - lag as f64 / (lags + 1) as f64) * product(lag);
    let variance = product(0) + (1..=lags).map(weighted).sum::<f64>();
    sums / (n * variance)
}

/// Whether all values are the same; true of none.
pub(super) fn is_constant(y: &[f64]) -> bool {
    y.iter().all(|value| *value == y[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trend_is_differenced_and_noise_is_not() {
        let noise = |t: u32| f64::from((t * 7919) % 101) / 101.0;
        let trend: Vec<f64> = (0..100).map(|t| f64::from(t) + noise(t)).collect();
        let level: Vec<f64> = (0..100).map(noise).collect();
        assert_eq!((step_differences(&trend, 2), step_differences(&level, 2)), (1, 0));
        assert_eq!((step_differences(&[3.0; 9], 2), step_differences(&[], 2)), (0, 0));
    }

    #[test]
    fn a_strong_season_is_differenced() {
        let noise = |t: u32| f64::from((t * 7919) % 101) / 101.0;
        let shape = [5.0, 0.0, -5.0, 0.0];
        let seasonal: Vec<f64> = (0..80).map(|t| shape[t as usize % 4] + noise(t)).collect();
        let level: Vec<f64> = (0..80).map(noise).collect();
        assert_eq!((season_differences(&seasonal, 4, 1), season_differences(&level, 4, 1)), (1, 0));
    }
}
