//! The models of a cross-validation by their scores, the best first.

use foretell::evaluate::{Metric, MetricScores, ScoreBy, Uncounted};
use foretell::report::grouped;
use foretell::{CrossValidation, Error, Metrics, Panel, ValidationScores};
use serde_json::{Value, json};

use crate::score_rows::number;
use crate::table::AlignedTable;

/// Metrics that [`Metrics`] has.
const OWN: [&str; 5] = ["mae", "rmse", "smape", "mase", "mqloss"];

/// The model that `rmae` divides by.
const BASELINE: &str = "SeasonalNaive";

/// The metric that models are sorted by, and its scores.
pub(crate) struct Ranking {
    pub(crate) name: String,
    /// Whether less of it is better.
    is_error: bool,
    /// Of each model the columns of the metric: one, or one for each quantile or interval.
    scores: Vec<(String, Vec<f64>)>,
    /// The names of these columns.
    columns: Vec<String>,
    /// What the metric has no score of.
    left_out: Uncounted,
}

impl Ranking {
    /// By that metric; by MASE where none is asked for, in which series of any size have the same part, or else by MAE.
    pub(crate) fn of(
        validation: &CrossValidation,
        panel: &Panel,
        season: usize,
        asked: Option<Metric>,
    ) -> Result<Self, Error> {
        let by = |metric: Metric| -> Result<Self, Error> {
            let options = ValidationScores::new(season).baseline(BASELINE);
            let table = validation.scores(panel, &[metric], ScoreBy::All, &options)?;
            let score = |model: usize, column: &MetricScores| {
                column.values.first().map_or(f64::NAN, |models| models[model])
            };
            let scores = table.models.iter().enumerate().map(|(model, name)| {
                (name.clone(), table.metrics.iter().map(|column| score(model, column)).collect())
            });
            let left_out = table.metrics.first().and_then(|column| column.uncounted.first()).copied();
            Ok(Self {
                name: metric.to_string(),
                is_error: metric.is_error,
                scores: scores.collect(),
                columns: table.metrics.iter().map(|column| column.name.clone()).collect(),
                left_out: left_out.unwrap_or_default(),
            })
        };
        let Some(asked) = asked else {
            let mase = by(Metric::parse("mase")?)?;
            let is_defined = mase.scores.iter().flat_map(|(_, scores)| scores).any(|score| !score.is_nan());
            return if is_defined { Ok(mase) } else { by(Metric::parse("mae")?) };
        };
        by(asked)
    }

    fn scores_of(&self, model: &str) -> &[f64] {
        self.scores.iter().find(|(name, _)| name == model).map_or(&[], |(_, scores)| scores)
    }

    /// How far a model is from the best that there can be: 0, or of coverage and calibration their level.
    fn distance(&self, model: &str) -> f64 {
        let at = |column: &str| column.rsplit_once("_q").and_then(|(_, q)| q.parse::<f64>().ok());
        let level =
            |column: &str| column.rsplit_once("_level").and_then(|(_, level)| level.parse::<f64>().ok());
        let best = |column: &String| match &*self.name {
            "coverage" => level(column).map_or(0.0, |level| level / 100.0),
            "calibration" => at(column).unwrap_or(0.0),
            _ => 0.0,
        };
        let far = |(score, column): (&f64, &String)| match self.is_error {
            true => *score,
            false => (score - best(column)).abs(),
        };
        let scores = self.scores_of(model);
        let sum: f64 = scores.iter().zip(&self.columns).map(far).sum();
        if scores.is_empty() { f64::NAN } else { sum }
    }

    /// The best first; those without a score last.
    pub(crate) fn sort(&self, metrics: &mut [Metrics]) {
        metrics.sort_by(|a, b| self.distance(&a.model).total_cmp(&self.distance(&b.model)));
    }

    /// What has no such score, as a note.
    pub(crate) fn uncounted(&self) -> String {
        let Uncounted { rows, windows } = self.left_out;
        match (rows, windows) {
            (0, 0) => String::new(),
            (0, windows) => format!(" (without {} forecasts that have none)", grouped(windows)),
            (rows, _) => format!(" (without {} rows that have none)", grouped(rows)),
        }
    }

    /// The table of models, with the metric if it is none that is always there.
    pub(crate) fn leaderboard(&self, metrics: &[Metrics]) -> AlignedTable {
        let mut table = leaderboard(metrics);
        if !self.is_own() {
            for (place, column) in self.columns.iter().enumerate() {
                let scores = metrics.iter().map(|metrics| self.scores_of(&metrics.model)[place]);
                table = table.numbers(column, scores);
            }
        }
        table
    }

    fn is_own(&self) -> bool {
        OWN.contains(&&*self.name) || self.name == "coverage"
    }

    /// The models' scores as an array.
    pub(crate) fn to_json(&self, metrics: &[Metrics]) -> Value {
        let object = |metrics: &Metrics| {
            let mut object = json!(metrics);
            for (column, score) in self.columns.iter().zip(self.scores_of(&metrics.model)) {
                if !self.is_own() {
                    object[column.as_str()] = number(*score);
                }
            }
            object
        };
        metrics.iter().map(object).collect()
    }
}

/// The best first, by MAE.
pub(crate) fn ranked(mut metrics: Vec<Metrics>) -> Vec<Metrics> {
    metrics.sort_by(|a, b| a.mae.total_cmp(&b.mae));
    metrics
}

pub(crate) fn leaderboard(metrics: &[Metrics]) -> AlignedTable {
    let column = |metric: fn(&Metrics) -> f64| metrics.iter().map(metric);
    let mut table = AlignedTable::new()
        .text("model", metrics.iter().map(|metrics| metrics.model.as_str()))
        .numbers("MAE", column(|metrics| metrics.mae))
        .numbers("RMSE", column(|metrics| metrics.rmse))
        .numbers("sMAPE", column(|metrics| metrics.smape))
        .numbers("MASE", column(|metrics| metrics.mase));
    if metrics.iter().any(|metrics| metrics.mqloss.is_some()) {
        table = table.numbers("mqloss", column(|metrics| metrics.mqloss.unwrap_or(f64::NAN)));
    }
    let mut levels: Vec<f64> =
        metrics.iter().flat_map(|metrics| &metrics.coverage).map(|coverage| coverage.level).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    for level in levels {
        let coverage_of =
            |metrics: &Metrics| metrics.coverage.iter().find(|coverage| coverage.level == level).copied();
        let cells =
            metrics.iter().map(|metrics| coverage_of(metrics).map_or(f64::NAN, |coverage| coverage.coverage));
        table = table.numbers(format!("cover-{level}"), cells);
    }
    table
}
