//! How good forecasts are: errors against the truth.

use foretell_evaluate::{
    EvaluationError, Metric, ModelForecasts, ScoreBy, ScoreOptions, ScoreTable, evaluate,
};
use serde::{Deserialize, Serialize};

use crate::scores::forecast_rows::ForecastRows;

/// The errors of one forecaster over many forecasts, where the truth is known, with the figures of `utilsforecast`: those of each
/// forecast, and then their mean. Forecasters are compared on the rows that all of them forecast.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// The forecaster's name.
    pub model: String,
    /// The mean of |y - ŷ|.
    #[serde(with = "foretell_estimator::nan_as_null")]
    pub mae: f64,
    /// The mean over forecasts of the root of the mean of (y - ŷ)².
    #[serde(with = "foretell_estimator::nan_as_null")]
    pub rmse: f64,
    /// The mean of |y - ŷ| / (|y| + |ŷ|), 0 where both are 0; between 0 and 1.
    #[serde(with = "foretell_estimator::nan_as_null")]
    pub smape: f64,
    /// The mean over forecasts of their MAE, each divided by the MAE of the seasonal naive forecast within
    /// the series' values before the forecast (Hyndman and Koehler 2006). Forecasts of which these are constant
    /// over the season or too few do not count; NaN (null in JSON) where none does.
    #[serde(with = "foretell_estimator::nan_as_null")]
    pub mase: f64,
    /// Forecasts of all series together of which at least one step's truth is known.
    pub scored_windows: usize,
    /// Series that they are of: those behind MAE, RMSE and sMAPE.
    pub scored_series: usize,
    /// Series behind MASE.
    pub mase_series: usize,
    /// Rows whose truth is known and that this forecaster has no forecast of: none of the figures is of these rows.
    #[serde(default)]
    pub missing: usize,
    /// Where quantiles are forecast: the mean over them and over the truths of the pinball loss,
    /// max(q (y - ŷ), (q - 1) (y - ŷ)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mqloss: Option<f64>,
    /// The share of truths within each central interval that is forecast; upwards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub coverage: Vec<Coverage>,
}

/// How often a central interval held the truth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// The interval, in percent.
    pub level: f64,
    /// The share of the truths in it, its ends included; of a calibrated forecast a hundredth of the level.
    #[serde(with = "foretell_estimator::nan_as_null")]
    pub coverage: f64,
}

impl Metrics {
    /// The errors of each model over all rows, by the table of metrics; `season` is in steps.
    pub(crate) fn of(rows: &ForecastRows, season: usize) -> Result<Vec<Self>, EvaluationError> {
        let scored = rows.scored()?;
        let options = ScoreOptions::default().season(season).history(Some(rows));
        let table = |names: &[&str], by| {
            let metrics = names.iter().map(|name| Metric::parse(name)).collect::<Result<Vec<_>, _>>()?;
            evaluate(&scored, &metrics, by, &options)
        };
        let mut names = vec!["mae", "rmse", "smape", "mase"];
        let any = |has: fn(&ModelForecasts<'_>) -> bool| scored.models().iter().any(has);
        names.extend(any(|model| !model.quantiles.is_empty()).then_some("mqloss"));
        names.extend(any(|model| model.levels().next().is_some()).then_some("coverage"));
        let all = table(&names, ScoreBy::All)?;
        let by_series = table(&["mase"], ScoreBy::Series)?;
        let of_model = |(model, forecasts)| Self::of_model(rows, model, forecasts, &all, &by_series);
        Ok(scored.models().iter().enumerate().map(of_model).collect())
    }

    fn of_model(
        rows: &ForecastRows,
        model: usize,
        forecasts: &ModelForecasts<'_>,
        all: &ScoreTable,
        by_series: &ScoreTable,
    ) -> Self {
        let score = |name: &str| {
            let scores = all.metrics.iter().find(|scores| scores.name == name);
            scores.and_then(|scores| scores.values.first()).map_or(f64::NAN, |models| models[model])
        };
        let mase_series = by_series.metrics[0].values.iter().filter(|models| !models[model].is_nan()).count();
        let coverage = |level| Coverage { level, coverage: score(&format!("coverage_level{level}")) };
        Self {
            model: forecasts.name.clone(),
            mae: score("mae"),
            rmse: score("rmse"),
            smape: score("smape"),
            mase: score("mase"),
            scored_windows: rows.known_windows(),
            scored_series: rows.known_series(),
            mase_series,
            missing: all.missing.first().map_or(0, |models| models[model]),
            mqloss: (!forecasts.quantiles.is_empty()).then(|| score("mqloss")),
            coverage: forecasts.levels().map(coverage).collect(),
        }
    }
}
