//! Forecasts from several cutoffs as rows to score, in `f64`.

use std::collections::HashMap;

use foretell_data::Panel;
use foretell_estimator::{Output, point_column};
use foretell_evaluate::{EvaluationError, ScoreHistory, ScoredRows};
use foretell_scores::{ModelColumns, QuantileColumn};
use foretell_tables::Frame;

use crate::forecasts::rolling::SeriesRows;

/// Forecasts from several cutoffs beside the truth, and the values before each.
pub(crate) struct ForecastRows {
    horizon: usize,
    y: Vec<f64>,
    series: Vec<u32>,
    cutoffs: Vec<i64>,
    steps: Vec<u32>,
    models: Vec<ModelColumns>,
    /// All values of each series, and how many of them come before each cutoff.
    history: Vec<Vec<f64>>,
    known: HashMap<(u32, i64), usize>,
}

impl ForecastRows {
    /// The rows of a table of `unique_id, ds, cutoff, y` and the models' columns.
    pub(crate) fn of(
        panel: &Panel,
        frame: &Frame,
        windows: &[SeriesRows],
        horizon: usize,
        models: impl Iterator<Item = (String, Vec<Output>)>,
    ) -> Self {
        let cutoffs = frame.cutoffs.clone().unwrap_or_default();
        let (mut series, mut known) = (Vec::new(), HashMap::new());
        for window in windows {
            let number = window.series as u32;
            for (&before, row) in window.known.iter().zip(window.rows.clone().step_by(horizon)) {
                known.insert((number, cutoffs[row]), before);
            }
            series.extend(std::iter::repeat_n(number, window.rows.len()));
        }
        let mut columns = frame.columns.iter();
        let wide = |name: &str| frame.wide_column(name).unwrap_or_default().into_owned();
        let y = columns.next().map(|(name, _)| wide(name)).unwrap_or_default();
        let models = models.map(|(name, outputs)| {
            let of_model: Vec<&str> =
                columns.by_ref().take(outputs.len()).map(|(name, _)| name.as_str()).collect();
            let quantiles = outputs.iter().zip(&of_model);
            let quantiles = quantiles.filter_map(|(output, name)| {
                let (q, values) = (output.quantile?.into(), wide(name));
                Some(QuantileColumn { q, name: (*name).to_owned(), values })
            });
            ModelColumns {
                name,
                point: wide(of_model[point_column(&outputs)]),
                quantiles: quantiles.collect(),
            }
        });
        Self {
            horizon,
            y,
            series,
            steps: (0..cutoffs.len()).map(|row| (row % horizon) as u32 + 1).collect(),
            models: models.collect(),
            cutoffs,
            history: (0..panel.n_series())
                .map(|series| panel.known_values(series, 0..panel.len(series)))
                .collect(),
            known,
        }
    }

    /// The rows as metrics see them, scaled by the values before each cutoff.
    pub(crate) fn scored(&self) -> Result<ScoredRows<'_>, EvaluationError> {
        let models = self.models.iter().map(ModelColumns::forecasts).collect();
        ScoredRows::new(&self.y, &self.series, &self.cutoffs, &self.steps, models)
    }

    /// Forecasts of which at least one step's truth is known.
    pub(crate) fn known_windows(&self) -> usize {
        self.y.chunks(self.horizon).filter(|window| window.iter().any(|y| !y.is_nan())).count()
    }

    /// Series of which at least one truth is known.
    pub(crate) fn known_series(&self) -> usize {
        let known = self.series.iter().zip(&self.y).filter(|(_, y)| !y.is_nan());
        let mut series: Vec<u32> = known.map(|(series, _)| *series).collect();
        series.dedup();
        series.len()
    }
}

impl ScoreHistory for ForecastRows {
    fn until(&self, series: u32, cutoff: i64) -> &[f64] {
        let known = self.known.get(&(series, cutoff)).copied().unwrap_or_default();
        &self.history[series as usize][..known]
    }
}
