//! The last season of a history, repeated, and how far such a forecast is off.
//!
//! Hyndman and Athanasopoulos, Forecasting: Principles and Practice, third edition, sections 5.2 and 5.5. Of a forecast of `k`
//! seasons ahead the error is a sum of `k` errors of one season ahead, so its deviation is theirs times the root of `k`.

use std::borrow::Cow;

use foretell_data::Panel;
use foretell_estimator::{Asked, ClockGrid, EstimatorError, ForecastValues, cutoffs};
use statrs::distribution::{ContinuousCDF as _, Normal};

/// The forecasts of all windows: of each step the value a season before, then its quantiles.
pub(crate) fn forecast(
    panel: &Panel,
    asked: &Asked<'_>,
    season: usize,
) -> Result<ForecastValues, EstimatorError> {
    let cutoffs = cutoffs(panel, asked.span, asked.h)?;
    let normal = Normal::standard();
    let scores: Vec<f64> =
        asked.quantiles.unwrap_or_default().iter().map(|&q| normal.inverse_cdf(q)).collect();
    let mut values = Vec::with_capacity(cutoffs.len() * asked.h * (1 + scores.len()));
    for &(series, before) in &cutoffs {
        let history = panel.known_y(series, 0..before);
        // The last value is the last one whatever clocks show.
        let clock = if season > 1 { ClockGrid::new(panel, series, before, asked.h) } else { None };
        let history = match &clock {
            Some(clock) => {
                let y: Vec<f64> = history.iter().map(|&y| f64::from(y)).collect();
                Cow::Owned(clock.spread(&y).into_iter().map(|y| y as f32).collect())
            }
            None => history,
        };
        let deviation = if scores.is_empty() { 0.0 } else { deviation(&history, season) };
        let places: Vec<usize> = match &clock {
            Some(clock) => clock.places().collect(),
            None => (0..asked.h).collect(),
        };
        let repeated: Vec<f32> =
            repeat(&history, season).take(places.last().map_or(0, |last| last + 1)).collect();
        for step in places {
            let value = repeated[step];
            values.push(value);
            let spread = deviation * ((step / season + 1) as f64).sqrt();
            values.extend(scores.iter().map(|score| (f64::from(value) + score * spread) as f32));
        }
    }
    Ok(ForecastValues { cutoffs, values })
}

/// The last season of `history`, repeated, an unknown value (NaN) by that of the season before. Without any such value it is
/// the last known one, or else 0.
pub(crate) fn repeat(history: &[f32], season: usize) -> impl Iterator<Item = f32> {
    let last = history.iter().rev().copied().find(|y| !y.is_nan()).unwrap_or(0.0);
    (0..).map(move |step| {
        // The same place in the last season, the one before, and so on.
        let back = season - step % season;
        let earlier = (0..).map_while(|seasons| history.len().checked_sub(back + seasons * season));
        earlier.map(|at| history[at]).find(|y| !y.is_nan()).unwrap_or(last)
    })
}

/// The root of the mean squared error of forecasts of one season ahead within a history; NaN where no two values are known
/// that are a season apart.
pub(crate) fn deviation(history: &[f32], season: usize) -> f64 {
    let later = history.get(season..).unwrap_or_default();
    let errors = history.iter().zip(later).map(|(&before, &now)| f64::from(now) - f64::from(before));
    let (sum, count) = errors
        .filter(|error| !error.is_nan())
        .fold((0.0, 0.0), |(sum, count), error| (sum + error * error, count + 1.0));
    (sum / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_season_is_repeated() {
        let forecast: Vec<f32> = repeat(&[9.0, 1.0, 2.0, 3.0], 3).take(5).collect();
        assert_eq!(forecast, [1.0, 2.0, 3.0, 1.0, 2.0]);
        assert_eq!(repeat(&[4.0], 3).take(2).collect::<Vec<_>>(), [4.0, 4.0]);
        assert_eq!(repeat(&[], 3).take(1).collect::<Vec<_>>(), [0.0]);
    }

    #[test]
    fn an_unknown_value_is_that_of_the_season_before() {
        let forecast: Vec<f32> = repeat(&[1.0, 2.0, 3.0, f32::NAN], 2).take(4).collect();
        assert_eq!(forecast, [3.0, 2.0, 3.0, 2.0]);
    }

    #[test]
    fn the_deviation_is_that_of_known_pairs() {
        assert_eq!(deviation(&[1.0, 2.0, 4.0, 1.0], 1), (14.0_f64 / 3.0).sqrt());
        assert_eq!(deviation(&[1.0, f32::NAN, 4.0, 2.0, 6.0], 2), (13.0_f64 / 2.0).sqrt());
        assert!(deviation(&[1.0, 2.0], 2).is_nan() && deviation(&[], 1).is_nan());
    }
}
