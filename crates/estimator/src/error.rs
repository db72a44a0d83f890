//! Errors of estimators.

use std::error::Error as StdError;

use foretell_data::DataError;

/// Why an estimator is refused, cannot be trained, or cannot forecast; the message says what to do.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum EstimatorError {
    /// Data that do not fit the estimator.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A panel of more or fewer series than it forecasts together.
    #[error(
        "{model} forecasts all series of a panel together: n_series is {expected}, the data have {found} series; give it \
         a panel of {expected}, or train it for {found}"
    )]
    SeriesCount {
        /// The estimator's column.
        model: String,
        /// Series of a window.
        expected: usize,
        /// Series of the panel.
        found: usize,
    },
    /// Values that it cannot forecast, such as those that the distribution of a loss cannot have.
    #[error(
        "{model}: values must be {expected} for its loss; value {row} of series {series} is {found}; choose another \
             distribution, or mask the value (available_mask)"
    )]
    #[strum(serialize = "value_outside_support")]
    Support {
        /// The estimator's column.
        model: String,
        /// The values that the loss allows.
        expected: &'static str,
        /// The id of a series.
        series: String,
        /// The place of a value in it, counted from 1.
        row: usize,
        /// The value.
        found: f32,
    },
    /// A mistake in what was asked for, whatever the data are.
    #[error(transparent)]
    Usage(Box<dyn StdError + Send + Sync>),
    /// An error that only the estimator's kind has.
    #[error(transparent)]
    Failed(Box<dyn StdError + Send + Sync>),
}

/// Why an estimator's forecasts are not taken apart, with what to do; as a mistake in what was asked for ([`EstimatorError::Usage`]).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{model}: {reason}")]
pub struct WithoutParts {
    /// The estimator's column.
    pub model: String,
    /// Why, and what to do.
    pub reason: String,
}

impl From<WithoutParts> for EstimatorError {
    fn from(error: WithoutParts) -> Self {
        Self::Usage(Box::new(error))
    }
}
