//! Mistakes in the hyper-parameters of classical forecasters.

use foretell_estimator::EstimatorError;
use serde_json::Value;

/// Why a hyper-parameter is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum ClassicalError {
    /// No hyper-parameter of that name.
    #[error("{model} has no hyper-parameter {found}; {hint}")]
    UnknownHyperParameter {
        /// The model.
        model: &'static str,
        /// The name asked for.
        found: String,
        /// The name that was probably meant, or the names that there are.
        hint: String,
    },
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
    /// A value that a hyper-parameter cannot have.
    #[error("{model}: {name} must be {expected}, found {found}")]
    #[strum(serialize = "hyper_parameter_value")]
    Value {
        /// The model.
        model: &'static str,
        /// The hyper-parameter.
        name: String,
        /// The values that are allowed.
        expected: &'static str,
        /// The value found, as JSON.
        found: String,
    },
}

impl ClassicalError {
    pub(crate) fn value(model: &'static str, name: &str, expected: &'static str, found: &Value) -> Self {
        Self::Value { model, name: name.to_owned(), expected, found: found.to_string() }
    }
}

impl From<ClassicalError> for EstimatorError {
    fn from(error: ClassicalError) -> Self {
        Self::Usage(Box::new(error))
    }
}
