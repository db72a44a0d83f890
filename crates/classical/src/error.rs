//! What classical forecasters refuse.

use foretell_estimator::EstimatorError;

/// Columns, or a series, that a classical forecaster cannot use.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum ClassicalError {
    /// Columns for a model that reads none of their kind.
    #[error("{model} reads no columns {kind} ({found}); {others} do")]
    ReadsNoColumns {
        /// The model.
        model: &'static str,
        /// The hyper-parameter that other models have.
        found: String,
        /// The kind of columns, in words.
        kind: &'static str,
        /// Models that read such columns.
        others: &'static str,
    },
    /// A series without values.
    #[error("{model}: the series has no values; give at least one")]
    NoValues {
        /// The model.
        model: &'static str,
    },
    /// A value of a series that is no finite number of single precision.
    #[error("{model}: value {} is {found}; give finite numbers up to 3.4e38, or fill what is not known", .row + 1)]
    #[strum(serialize = "value_not_finite")]
    NotANumber {
        /// The model.
        model: &'static str,
        /// The place of the value, counted from 0.
        row: usize,
        /// The value.
        found: f64,
    },
    /// A series that cannot be held.
    #[error("{model}: {reason}")]
    #[strum(serialize = "series_not_held")]
    Series {
        /// The model.
        model: &'static str,
        /// Why.
        reason: String,
    },
    /// A quantile that is none.
    #[error("{model}: a quantile is a number between 0 and 1, as 0.9, found {found}")]
    #[strum(serialize = "quantile_out_of_range")]
    Quantile {
        /// The model.
        model: &'static str,
        /// The number.
        found: f64,
    },
    /// Quantiles of a method that has none.
    #[error("{model} has no model of its errors, and so no quantiles; take those of another method")]
    NoQuantiles {
        /// The model.
        model: &'static str,
    },
}

impl From<ClassicalError> for EstimatorError {
    fn from(error: ClassicalError) -> Self {
        Self::Usage(Box::new(error))
    }
}
