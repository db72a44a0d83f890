//! How good forecasts are: errors against the truth.

use foretell_evaluate::{
    EvaluationError, Metric, ModelForecasts, ScoreBy, ScoreOptions, ScoreTable, evaluate,
};
use serde::{Deserialize, Serialize};

use crate::scores::forecast_rows::ForecastRows;

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
    #[serde(with = "foretell_data::nan_as_null")]
    pub coverage: f64,
}

impl Metrics {
    /// The errors of each model over all rows, by the table of metrics; `season` is in steps.
    pub(crate) fn of(rows: &ForecastRows, season: usize) -> Result<Vec<Self>, EvaluationError> {
        let scored = rows.scored_by_training_part()?;
        let options = ScoreOptions { season, history: Some(rows), ..ScoreOptions::default() };
        let table = |names: &[&str], by| {
            let metrics = names.iter().map(|name| Metric::parse(name)).collect::<Result<Vec<_>, _>>()?;
            evaluate(&scored, &metrics, by, &options)
        };
        let pooled = table(&["mae", "rmse", "smape", "mqloss", "coverage"], ScoreBy::Rows)?;
        let scaled = table(&["mase"], ScoreBy::Series)?;
        let of_model = |(model, forecasts)| Self::of_model(rows, model, forecasts, &pooled, &scaled);
        Ok(scored.models().iter().enumerate().map(of_model).collect())
    }

    fn of_model(
        rows: &ForecastRows,
        model: usize,
        forecasts: &ModelForecasts<'_>,
        pooled: &ScoreTable,
        scaled: &ScoreTable,
    ) -> Self {
        let score = |name: &str| {
            let scores = pooled.metrics.iter().find(|scores| scores.name == name);
            scores.and_then(|scores| scores.values.first()).map_or(f64::NAN, |models| models[model])
        };
        let by_series = scaled.metrics[0].values.iter().map(|models| models[model]);
        let by_series: Vec<f64> = by_series.filter(|score| !score.is_nan()).collect();
        let coverage = |level| Coverage { level, coverage: score(&format!("coverage_level{level}")) };
        Self {
            model: forecasts.name.clone(),
            mae: score("mae"),
            rmse: score("rmse"),
            // `utilsforecast` divides by the sum of both sizes, competitions by their mean.
            smape: 2.0 * score("smape"),
            mase: by_series.iter().sum::<f64>() / by_series.len() as f64,
            scored_windows: rows.known_windows(),
            scored_series: rows.known_series(),
            mase_series: by_series.len(),
            mqloss: (!forecasts.quantiles.is_empty()).then(|| score("mqloss")),
            coverage: forecasts.levels().map(coverage).collect(),
        }
    }
}
