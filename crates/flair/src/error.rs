//! Mistakes in the hyper-parameters of FLAIR.

use foretell_estimator::EstimatorError;

/// Why a hyper-parameter is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum FlairError {
    /// No hyper-parameter of that name.
    #[error("FLAIR has no hyper-parameter {found}; {hint}")]
    UnknownHyperParameter {
        /// The name given.
        found: String,
        /// The name that was probably meant, or the list of names.
        hint: String,
    },
    /// A value that a hyper-parameter cannot have.
    #[error("FLAIR: {name} must be {expected}, found {found}")]
    #[strum(serialize = "hyper_parameter_value")]
    Value {
        /// The hyper-parameter.
        name: String,
        /// The values that it may have.
        expected: &'static str,
        /// The value found, as JSON.
        found: String,
    },
}

impl From<FlairError> for EstimatorError {
    fn from(error: FlairError) -> Self {
        Self::Usage(Box::new(error))
    }
}
