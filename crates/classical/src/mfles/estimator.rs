//! Boosted decomposition by name.

use foretell_calendar::{Freq, usual_season};
use foretell_estimator::Fallback;
use serde_json::Value;

use super::boost::{MIN_VALUES, forecast};
use super::settings::Mfles;
use crate::hyper::{self, HyperParameter, field, flag};
use crate::local::{LocalMethod, SeriesForecast};
use crate::method::HistoryFacts;

const POSITIVE_SHARE: &str = "a number above 0, and at most 1";

/// A share above 0.
fn positive_share(value: &Value) -> Option<f64> {
    hyper::share(value).filter(|share| *share > 0.0)
}

/// A number from 0 on.
fn amount(value: &Value) -> Option<f64> {
    value.as_f64().filter(|value| (0.0..=1e9).contains(value))
}

/// True, false, or null.
fn choice(value: &Value) -> Option<Option<bool>> {
    hyper::or_null(value, Value::as_bool)
}

/// Harmonics of a season, or null.
fn fourier_order(value: &Value) -> Option<Option<usize>> {
    hyper::or_null(value, |value| hyper::steps(value).filter(|order| *order <= 1000))
}

impl LocalMethod for Mfles {
    const NAME: &'static str = "MFLES";
    const PAPER: &'static str =
        "Blume 2023, MFLES: gradient boosted time series decomposition (the package mfles)";
    const HYPER_PARAMETERS: &'static [HyperParameter<Self>] = &[
        field!(
            "season_length",
            "Steps of the seasons, such as [24, 168], or of the only one; null for the usual one of the data's frequency, 1 for none.",
            hyper::SEASONS,
            hyper::seasons => hyper::seasons_value,
            season_length
        ),
        field!(
            "fourier_order",
            "Pairs of sine and cosine of a season; null for 5, 10 or 15 by its length.",
            "a whole number between 1 and 1000, or null",
            fourier_order,
            fourier_order
        ),
        field!("max_rounds", "Rounds of the boosting at most.", hyper::STEPS, hyper::steps, max_rounds),
        field!(
            "ma",
            "Values before each one in the moving means of what is left.",
            hyper::STEPS,
            hyper::steps,
            ma
        ),
        field!("alpha", "The penalty on the weights of a broken line.", "a number from 0 on", amount, alpha),
        field!(
            "decay",
            "The share by which a broken line falls short of the last value behind a bend; -1 to find it by the bend's size.",
            "a number between 0 and 1, or -1",
            |value: &Value| value.as_f64().filter(|decay| *decay == -1.0 || (0.0..=1.0).contains(decay)),
            decay
        ),
        flag!("changepoints", "Whether the trend may be a broken line.", changepoints),
        field!(
            "n_changepoints",
            "The bends of a broken line, or below 1 their share of the values; a tenth of the values at most.",
            "a number from 0 on",
            amount,
            n_changepoints
        ),
        field!(
            "seasonal_lr",
            "The share of a season that is kept in a round.",
            POSITIVE_SHARE,
            positive_share,
            seasonal_lr
        ),
        field!(
            "trend_lr",
            "The share of a broken line that is kept in a round.",
            POSITIVE_SHARE,
            positive_share,
            trend_lr
        ),
        field!(
            "residuals_lr",
            "The share of a smoothing that is kept in a round.",
            POSITIVE_SHARE,
            positive_share,
            residuals_lr
        ),
        field!(
            "cov_threshold",
            "How much values may vary around the season before the line is that of repeated medians; -1 for as much as they like.",
            "a number from 0 on, or -1",
            |value: &Value| if value.as_f64() == Some(-1.0) { Some(-1.0) } else { amount(value) },
            cov_threshold
        ),
        flag!("moving_medians", "Whether the first median is that of each season.", moving_medians),
        field!(
            "min_alpha",
            "The least parameter of the exponential smoothings.",
            POSITIVE_SHARE,
            positive_share,
            min_alpha
        ),
        field!("max_alpha", "The limit of these parameters.", POSITIVE_SHARE, positive_share, max_alpha),
        flag!(
            "trend_penalty",
            "Whether the slope is reduced to the share of the variance that the first line explains.",
            trend_penalty
        ),
        field!(
            "multiplicative",
            "Whether logarithms are forecast; null for series with a season and only positive values.",
            "true, false or null",
            choice,
            multiplicative
        ),
        flag!("smoother", "Whether what is left is smoothed exponentially, not by moving means.", smoother),
        field!(
            "robust",
            "Whether the trend is the line of repeated medians; null for series that vary much.",
            "true, false or null",
            choice,
            robust
        ),
    ];
    const HAS_QUANTILES: bool = false;

    fn settled(&self, freq: Freq) -> Self {
        match self.season_length.is_empty() {
            true => Self { season_length: vec![usual_season(freq)], ..self.clone() },
            false => self.clone(),
        }
    }

    fn fallback(&self, history: &HistoryFacts) -> Option<Fallback> {
        let long = self.season_length.iter().copied().filter(|period| *period > history.rows).min();
        match (history.rows, long) {
            _ if history.is_constant => None,
            (..MIN_VALUES, _) => Some(Fallback::too_few(MIN_VALUES)),
            (_, Some(period)) => Some(Fallback::without_season("fewer than one season", period)),
            (_, None) => None,
        }
    }

    fn forecast(&self, y: &[f64], _learned: &[f64], h: usize) -> Option<SeriesForecast> {
        Some(SeriesForecast { mean: forecast(self, y, h)?, ..SeriesForecast::default() })
    }
}
