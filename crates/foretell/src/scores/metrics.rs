//! How good forecasts are: errors against the truth.

use serde::{Deserialize, Serialize};

/// The errors of one forecaster over many forecasts, where the truth is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// The forecaster's name.
    pub model: String,
    /// The mean of |y - ŷ|.
    #[serde(with = "foretell_data::nan_as_null")]
    pub mae: f64,
    /// The root of the mean of (y - ŷ)².
    #[serde(with = "foretell_data::nan_as_null")]
    pub rmse: f64,
    /// The mean of 2 |y - ŷ| / (|y| + |ŷ|), 0 where both are 0; between 0 and 2.
    #[serde(with = "foretell_data::nan_as_null")]
    pub smape: f64,
    /// The mean over series of their MAE, each divided by the MAE of the seasonal naive forecast within
    /// the series' own training part (Hyndman and Koehler 2006). Series whose training part is constant
    /// over the season or too short do not count; NaN (null in JSON) where none does.
    #[serde(with = "foretell_data::nan_as_null")]
    pub mase: f64,
    /// Forecasts of all series together of which at least one step's truth is known.
    pub scored_windows: usize,
    /// Series that they are of: those behind MAE, RMSE and sMAPE.
    pub scored_series: usize,
    /// Series behind MASE.
    pub mase_series: usize,
    /// Where quantiles are forecast: the mean over them and over the truths of the pinball loss,
    /// max(q (y - ŷ), (q - 1) (y - ŷ)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mqloss: Option<f64>,
    /// Of each central interval that is forecast, how often it held the truth; upwards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub coverage: Vec<Coverage>,
}

/// How often a central interval held the truth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// The interval, in percent.
    pub level: f64,
    /// The share of the truths in it, its ends included; of a calibrated forecast a hundredth of the level.
    #[serde(with = "foretell_data::nan_as_null")]
    pub coverage: f64,
}

/// Truths (NaN where unknown) and forecasts of one series.
pub(crate) struct Scored<'a> {
    pub(crate) truth: &'a [f32],
    pub(crate) forecast: &'a [f32],
    /// What MASE divides by.
    pub(crate) naive_error: Option<f64>,
}

impl Metrics {
    /// `horizon` is that of the forecasts, which stand one after the other.
    pub(crate) fn of<'a>(
        model: impl Into<String>,
        horizon: usize,
        series: impl IntoIterator<Item = Scored<'a>>,
    ) -> Self {
        let (mut count, mut absolute, mut squared, mut symmetric) = (0_usize, 0.0, 0.0, 0.0);
        let (mut scaled, mut scored_windows, mut scored_series, mut mase_series) = (0.0, 0, 0, 0);
        for Scored { truth, forecast, naive_error } in series {
            let (mut own, mut known) = (0.0, 0_usize);
            for (&y, &forecast) in truth.iter().zip(forecast).filter(|(y, _)| !y.is_nan()) {
                known += 1;
                let (y, forecast) = (f64::from(y), f64::from(forecast));
                let error = (y - forecast).abs();
                let size = y.abs() + forecast.abs();
                own += error;
                squared += error * error;
                symmetric += if size == 0.0 { 0.0 } else { 2.0 * error / size };
            }
            absolute += own;
            count += known;
            scored_series += usize::from(known > 0);
            let scored = |window: &&[f32]| window.iter().any(|y| !y.is_nan());
            scored_windows += truth.chunks(horizon).filter(scored).count();
            if let Some(naive) = naive_error.filter(|&naive| naive > 0.0 && known > 0) {
                scaled += own / known as f64 / naive;
                mase_series += 1;
            }
        }
        let n = count as f64;
        Self {
            model: model.into(),
            mae: absolute / n,
            rmse: (squared / n).sqrt(),
            smape: symmetric / n,
            mase: scaled / mase_series as f64,
            scored_windows,
            scored_series,
            mase_series,
            mqloss: None,
            coverage: Vec::new(),
        }
    }

    /// With the scores of forecast quantiles, each with its values, against truths (NaN where unknown).
    pub(crate) fn with_quantiles(mut self, truth: &[f32], forecasts: &[(f32, &[f32])]) -> Self {
        if forecasts.is_empty() {
            return self;
        }
        let mean = |score: &dyn Fn(usize, f64) -> f64| {
            let known = truth.iter().enumerate().filter(|(_, y)| !y.is_nan());
            let (sum, count) =
                known.fold((0.0, 0.0), |(sum, count), (i, &y)| (sum + score(i, y.into()), count + 1.0));
            sum / count
        };
        let pinball = |(q, values): &(f32, &[f32])| {
            let q = f64::from(*q);
            mean(&|i, y| {
                let error = y - f64::from(values[i]);
                (q * error).max((q - 1.0) * error)
            })
        };
        self.mqloss = Some(forecasts.iter().map(pinball).sum::<f64>() / forecasts.len() as f64);
        for (low, bottom) in forecasts.iter().filter(|(q, _)| *q < 0.5) {
            if let Some((_, top)) = forecasts.iter().find(|(high, _)| (high + low - 1.0).abs() < 1e-6) {
                let inside = |i: usize, y: f64| (f64::from(bottom[i]) <= y && y <= f64::from(top[i])) as u8;
                // The quantile is single precision: 0.05 stands for 90 %, not for 89.99999985 %.
                let level = ((1.0 - 2.0 * f64::from(*low)) * 1e6).round() / 1e4;
                self.coverage.push(Coverage { level, coverage: mean(&|i, y| inside(i, y).into()) });
            }
        }
        self.coverage.sort_by(|a, b| a.level.total_cmp(&b.level));
        self
    }
}

/// The mean of |y(t) - y(t - season)| over a series, where both are known (not NaN); `None` where no two
/// are.
pub(crate) fn seasonal_error(y: &[f32], season: usize) -> Option<f64> {
    let pairs =
        y.iter().zip(y.get(season..)?).map(|(&before, &now)| (f64::from(now) - f64::from(before)).abs());
    let known: Vec<f64> = pairs.filter(|error| !error.is_nan()).collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_by_hand() {
        let scored = Scored { truth: &[1.0, 2.0, 0.0], forecast: &[2.0, 2.0, 0.0], naive_error: Some(0.5) };
        let metrics = Metrics::of("m", 3, [scored]);
        assert!((metrics.mae - 1.0 / 3.0).abs() < 1e-12);
        assert!((metrics.rmse - (1.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!((metrics.smape - 2.0 / 9.0).abs() < 1e-12);
        assert!((metrics.mase - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn quantiles_are_scored_by_pinball_loss_and_coverage() {
        let scored = Scored { truth: &[], forecast: &[], naive_error: None };
        let metrics = Metrics::of("m", 1, [scored]).with_quantiles(
            &[1.0, f32::NAN, 5.0],
            &[(0.5, &[2.0, 9.0, 3.0]), (0.05, &[0.0, 9.0, 2.0]), (0.95, &[3.0, 9.0, 4.0]), (0.2, &[1.0; 3])],
        );
        // Over the two known truths: 0.5 and 1; 0.05 and 0.15; 0.1 and 0.95; 0 and 0.8.
        assert!((metrics.mqloss.expect("quantiles") - 3.55 / 8.0).abs() < 1e-7);
        assert_eq!(metrics.coverage, [Coverage { level: 90.0, coverage: 0.5 }]);
    }

    #[test]
    fn the_error_of_the_naive_forecast_is_a_mean_of_changes() {
        assert_eq!(seasonal_error(&[1.0, 2.0, 4.0], 1), Some(1.5));
        assert_eq!(seasonal_error(&[1.0], 1), None);
    }

    #[test]
    fn unknown_values_do_not_count() {
        const GAP: f32 = f32::NAN;
        assert_eq!(seasonal_error(&[1.0, GAP, 4.0, 2.0, 6.0], 2), Some(2.5));
        assert_eq!(seasonal_error(&[1.0, GAP], 1), None);
        let scored = Scored { truth: &[1.0, GAP], forecast: &[2.0, 2.0], naive_error: Some(2.0) };
        let metrics = Metrics::of("m", 1, [scored]);
        assert_eq!((metrics.mae, metrics.rmse, metrics.mase), (1.0, 1.0, 0.5));
        assert_eq!(metrics.scored_windows, 1);
    }

    #[test]
    fn what_is_behind_each_figure_is_counted() {
        const GAP: f32 = f32::NAN;
        let series = |truth, naive_error| Scored { truth, forecast: &[1.0; 4], naive_error };
        let metrics = Metrics::of(
            "m",
            2,
            [
                series(&[1.0, 2.0, GAP, 4.0], Some(1.0)),
                series(&[1.0, GAP, GAP, GAP], Some(0.0)),
                series(&[1.0, 2.0], None),
                series(&[GAP, GAP, GAP, GAP], Some(1.0)),
            ],
        );
        assert_eq!((metrics.scored_windows, metrics.scored_series, metrics.mase_series), (4, 3, 1));
    }
}
