//! What is scored by what, and the table of scores.

use crate::history::ScoreHistory;

/// The rows that one score covers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ScoreBy<'a> {
    /// Each forecast of each series.
    Window,
    /// Each series: the mean over its windows.
    Series,
    /// Each cutoff: the mean over its windows.
    Cutoff,
    /// Series with the same label, of which there is one for each: the mean over their windows.
    Labels(&'a [u32]),
    /// All: the mean over windows.
    All,
    /// Each step ahead: the mean over windows of the scores of their rows of that step.
    Step,
    /// All rows as one sample.
    Rows,
}

/// The history and baseline that metrics are relative to, and the weights of windows.
#[derive(Clone, Copy, Default)]
#[non_exhaustive]
pub struct ScoreOptions<'a> {
    /// Steps of a season, for scaled metrics, at least 1; 0, the default, is none that they could be scaled by.
    pub season: usize,
    /// The values before each forecast.
    pub history: Option<&'a dyn ScoreHistory>,
    /// The model that `rmae` divides by.
    pub baseline: Option<&'a str>,
    /// A weight for each series; the same for all by default.
    pub weights: Option<&'a [f64]>,
}

impl<'a> ScoreOptions<'a> {
    /// Steps of a season, for scaled metrics.
    #[must_use]
    pub fn season(self, season: usize) -> Self {
        Self { season, ..self }
    }

    /// The values before each forecast.
    #[must_use]
    pub fn history(self, history: Option<&'a dyn ScoreHistory>) -> Self {
        Self { history, ..self }
    }

    /// The model that `rmae` divides by.
    #[must_use]
    pub fn baseline(self, baseline: impl Into<Option<&'a str>>) -> Self {
        Self { baseline: baseline.into(), ..self }
    }

    /// A weight for each series.
    #[must_use]
    pub fn weights(self, weights: impl Into<Option<&'a [f64]>>) -> Self {
        Self { weights: weights.into(), ..self }
    }
}

/// The rows of one row of a [`ScoreTable`]: the series, cutoff, label or step that they share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ScoreGroup {
    /// The series, if it is of one.
    pub series: Option<u32>,
    /// The cutoff, if it is of one.
    pub cutoff: Option<i64>,
    /// The label of its series, if they have one.
    pub label: Option<u32>,
    /// The step ahead, if it is of one.
    pub step: Option<u32>,
}

/// One metric of all groups and models.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricScores {
    /// The metric, with its quantile or level: `mae`, `quantile_loss_q0.1`, `coverage_level80`.
    pub name: String,
    /// A row for each group, a value for each model; NaN where there is none.
    pub values: Vec<Vec<f64>>,
    /// Of each model, whether it forecasts what the metric reads: its quantiles, or both ends of its interval.
    pub has_columns: Vec<bool>,
    /// Of each group, what all models forecast and this metric has no score of.
    pub uncounted: Vec<Uncounted>,
    /// Of each group and model the rows whose truth is known, and that it lacks the quantiles or the interval of that the metric scores, of
    /// models that have them in other rows. Empty for metrics of point forecasts, whose rows [`ScoreTable::missing`] counts.
    pub missing: Vec<Vec<usize>>,
}

/// What all models forecast and a metric has no score of, which is therefore in no mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uncounted {
    /// Rows: those with a truth of 0, for a share of the truth.
    pub rows: usize,
    /// Windows none of whose rows count: those whose history does not change over the season, or is shorter, by whose error theirs
    /// is divided; those whose truths are all 0.
    pub windows: usize,
}

impl Uncounted {
    /// Whether all of it counts.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Scores of forecasts.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreTable {
    /// The groups of the rows, in the order in which they appear.
    pub groups: Vec<ScoreGroup>,
    /// The models.
    pub models: Vec<String>,
    /// The metrics in the order asked for.
    pub metrics: Vec<MetricScores>,
    /// Of each group the rows of which all models have a point forecast, and the truth is known: those that they are compared on.
    pub compared: Vec<usize>,
    /// A row for each group, of each model the rows whose truth is known and that it has no point forecast of.
    pub missing: Vec<Vec<usize>>,
}

/// The name of the rows that count what a model has no forecast of, of [`ScoreTable::with_counts`].
pub const MISSING: &str = "missing";

/// The ends of the names of rows that count what a metric has no score of, and which quantiles or intervals a model lacks.
const UNCOUNTED: &str = "_uncounted";
const LACKED: &str = "_missing";

/// Whether these values are counts of what is not scored ([`ScoreTable::with_counts`]), and no scores.
pub fn is_count(metric: &str) -> bool {
    metric == MISSING || metric.ends_with(UNCOUNTED) || metric.ends_with(LACKED)
}

impl ScoreTable {
    /// The table with rows that count what is not scored, where there is any: `missing`, of each model the rows that it has no
    /// forecast of, `coverage_level80_missing` and the like, the same of the interval or quantiles that the metric scores, and
    /// `mape_uncounted` or `mase_uncounted`, the rows or windows that the metric has no score of.
    pub fn with_counts(mut self) -> Self {
        let models = self.models.len();
        let mut rows = Vec::new();
        let counted = |name: String, counts: &[Vec<usize>]| {
            let values = counts.iter().map(|counts| counts.iter().map(|count| *count as f64).collect());
            let (values, has_columns) = (values.collect(), vec![true; models]);
            MetricScores { name, values, has_columns, uncounted: Vec::new(), missing: Vec::new() }
        };
        for metric in &self.metrics {
            // What lacks a forecast as a whole is counted once.
            if metric.missing != self.missing && metric.missing.iter().flatten().any(|count| *count > 0) {
                rows.push(counted(format!("{}{LACKED}", metric.name), &metric.missing));
            }
            if metric.uncounted.iter().any(|left| !left.is_none()) {
                let counts = metric.uncounted.iter().map(|left| vec![left.rows.max(left.windows); models]);
                rows.push(counted(format!("{}{UNCOUNTED}", metric.name), &counts.collect::<Vec<_>>()));
            }
        }
        if self.missing.iter().flatten().any(|count| *count > 0) {
            rows.push(counted(MISSING.to_owned(), &self.missing));
        }
        self.metrics.extend(rows);
        self
    }
}
