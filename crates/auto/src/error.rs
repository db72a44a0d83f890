//! Errors of the automatic forecast.

use foretell::EstimatorError;
use foretell::own_estimator::hyper::RefusedHyperParameter;

/// Why an automatic forecast is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AutoError {
    /// A hyper-parameter that it has not, or a value that one of its hyper-parameters cannot have.
    #[error(transparent)]
    HyperParameter(#[from] RefusedHyperParameter),
    /// A model that there is not, or one that cannot be a member.
    #[error("Auto: {name} cannot be one of its models: {reason}")]
    Member {
        /// The model's name.
        name: String,
        /// Why not.
        reason: String,
    },
    /// A number of an output that it has not.
    #[error("Auto explains one output, its median, counted from 0; there is no output {found}")]
    Output {
        /// The number.
        found: usize,
    },
    /// A time that is none.
    #[error("a budget is written as 0, 30s, 2m, 1h or 600steps, not {found:?}")]
    Budget {
        /// What was written.
        found: String,
    },
}

impl From<AutoError> for EstimatorError {
    fn from(error: AutoError) -> Self {
        match error {
            AutoError::HyperParameter(error) => error.into(),
            error => Self::Usage(Box::new(error)),
        }
    }
}
