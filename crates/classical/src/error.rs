//! Mistakes in the hyper-parameters of classical forecasters.

use foretell_estimator::EstimatorError;

/// Why a hyper-parameter is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClassicalError {
    /// No hyper-parameter of that name.
    #[error("{model} has no hyper-parameter {found}; {hint}")]
    UnknownHyperParameter {
        /// The model.
        model: &'static str,
        /// The name given.
        found: String,
        /// What was probably meant, or which there are.
        hint: String,
    },
    /// A value that a hyper-parameter cannot have.
    #[error("{model}: {name} must be {expected}, found {found}")]
    Value {
        /// The model.
        model: &'static str,
        /// The hyper-parameter.
        name: String,
        /// What it may be.
        expected: &'static str,
        /// What was given.
        found: String,
    },
}

impl From<ClassicalError> for EstimatorError {
    fn from(error: ClassicalError) -> Self {
        Self::Usage(Box::new(error))
    }
}
