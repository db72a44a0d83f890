//! Errors of scoring.

/// A mistake in the forecasts to be scored, or in the metrics.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum EvaluationError {
    /// A name that no metric has.
    #[error("unknown metric `{found}`; known are {known}")]
    UnknownMetric {
        /// The name.
        found: String,
        /// The names of all metrics.
        known: String,
    },
    /// A parameter that the metric does not take, or that is no number.
    #[error("metric `{found}`: {reason}")]
    #[strum(serialize = "metric_parameter")]
    Parameter {
        /// The metric as written.
        found: String,
        /// The fault.
        reason: &'static str,
    },
    /// Columns of different lengths.
    #[error("{what}: {found} values where {expected} are expected, one per row")]
    #[strum(serialize = "unequal_lengths")]
    Rows {
        /// The column.
        what: String,
        /// Rows that there are.
        expected: usize,
        /// Its length.
        found: usize,
    },
    /// A quantile of something else than a share, as one in percent.
    #[error("{model} has a quantile of probability {found}; probabilities are from 0 to 1")]
    #[strum(serialize = "quantile_out_of_range")]
    Quantile {
        /// The model.
        model: String,
        /// The probability.
        found: f64,
    },
    /// A metric that is relative to the history, without one.
    #[error(
        "{metric} is relative to the history of each series, and none was given; give it, or leave {metric} out"
    )]
    NoHistory {
        /// The metric.
        metric: &'static str,
    },
    /// A metric that is relative to the changes over a season, without one.
    #[error(
        "{metric} is relative to the changes over a season, and a season of 0 steps has none; give at least 1, or leave {metric} out"
    )]
    NoSeason {
        /// The metric.
        metric: &'static str,
    },
    /// A metric that is relative to a baseline, of which there is none of that name.
    #[error("{metric} is relative to a baseline; name one of the models: {}", models.join(", "))]
    NoBaseline {
        /// The metric.
        metric: &'static str,
        /// The models.
        models: Vec<String>,
    },
    /// A metric of quantiles or of intervals, which no model forecasts.
    #[error(
        "{metric} scores {expected}, and no model forecasts any; forecast with a level, or leave {metric} out"
    )]
    #[strum(serialize = "no_scored_quantiles")]
    NoQuantiles {
        /// The metric.
        metric: &'static str,
        /// What it scores.
        expected: &'static str,
    },
    /// Weights that are not one per series, or no numbers from 0 on.
    #[error(
        "series {series} has the weight {found}; a weight must be a number of at least 0, and their sum above 0"
    )]
    #[strum(serialize = "weight_out_of_range")]
    Weight {
        /// The series, by its number.
        series: u32,
        /// The weight found.
        found: f64,
    },
    /// Two forecasts that cannot be compared.
    #[error(
        "the errors of two forecasts are compared over the same rows, at least 2 of them known; found {found}"
    )]
    FewErrors {
        /// Rows that both have.
        found: usize,
    },
}
