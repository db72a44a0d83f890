//! Errors of Prophet, beside those of its data.

use foretell_estimator::EstimatorError;

/// Why hyper-parameters are refused, or a series cannot be fitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum ProphetError {
    /// Hyper-parameters that contradict each other.
    #[error("Prophet: {0}")]
    #[strum(serialize = "hyper_parameters_contradict")]
    Contradiction(String),
    /// Times without a calendar.
    #[error(
        "Prophet: seasons and holidays are those of a calendar, and the times of the panel are step numbers; give dates or \
         times, or choose a model that needs none, such as SeasonalNaive"
    )]
    #[strum(serialize = "times_without_dates")]
    StepNumbers,
    /// Change points outside of what is known of a series.
    #[error(
        "Prophet: changepoints must be within the history of each series; {found} is outside of series `{series}`; \
         correct it, or leave changepoints out"
    )]
    ChangepointOutside {
        /// Its id.
        series: String,
        /// The first such date.
        found: String,
    },
    /// A capacity that is not above the floor.
    #[error(
        "Prophet: with logistic growth the capacity (cap) must be above the floor (0 where there is none); in row {row} of \
         series `{series}` it is {cap}, the floor {floor}"
    )]
    CapBelowFloor {
        /// The id of the series.
        series: String,
        /// The place of the row in it, counted from 1.
        row: usize,
        /// The capacity.
        cap: String,
        /// The floor.
        floor: String,
    },
    /// A condition of a seasonality that is neither true nor false.
    #[error(
        "Prophet: column `{column}` says when a seasonality applies, so it must be 0 or 1; in row {row} of series `{series}` \
         it is {found}"
    )]
    #[strum(serialize = "condition_not_boolean")]
    Condition {
        /// The column.
        column: String,
        /// The id of the series.
        series: String,
        /// The place of the row in it, counted from 1.
        row: usize,
        /// The value.
        found: String,
    },
}

impl From<ProphetError> for EstimatorError {
    fn from(error: ProphetError) -> Self {
        match error {
            ProphetError::Contradiction(_) => Self::Usage(Box::new(error)),
            _ => Self::Failed(Box::new(error)),
        }
    }
}
