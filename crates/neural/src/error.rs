//! Errors of networks.

use foretell_checkpoint::CheckpointError;
use foretell_data::DataError;
use foretell_estimator::{EstimatorError, TooManyThreads, TooMuchMemory};
use foretell_nn::WithoutAmp;
use foretell_onnx::OnnxError;
use foretell_train::{StateError, TrainError};

use crate::spec_error::SpecError;

/// Why a network cannot be trained, measured or read; the message says what to do.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum NetworkError {
    /// An unknown model, or a hyper-parameter that it refuses.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A precision that this program was built without.
    #[error(transparent)]
    WithoutAmp(#[from] WithoutAmp),
    /// More threads than anyone can use.
    #[error(transparent)]
    Threads(#[from] TooManyThreads),
    /// Work that would take more memory than it may.
    #[error(transparent)]
    Memory(#[from] TooMuchMemory),
    /// Data that do not fit the model.
    #[error(transparent)]
    Estimator(#[from] EstimatorError),
    /// A network that cannot read a series step by step, or a history that it cannot start from.
    #[error("{model} cannot forecast step by step: {reason}")]
    #[strum(serialize = "cannot_step")]
    Steps {
        /// The model.
        model: &'static str,
        /// Why, and what to do.
        reason: String,
    },
    /// Contributions to forecasts that a network does not have.
    #[error("{model} cannot be explained so: {reason}")]
    #[strum(serialize = "cannot_explain")]
    Explain {
        /// The model.
        model: String,
        /// Why, and what to do.
        reason: String,
    },
    /// A network that is no ONNX graph.
    #[error("{model} cannot be exported: {source}")]
    #[strum(serialize = "cannot_export")]
    Onnx {
        /// The model.
        model: String,
        /// Why.
        source: OnnxError,
    },
    /// A training that cannot start as it was asked to.
    #[error("{model} cannot start so: {reason}")]
    #[strum(serialize = "cannot_start")]
    Start {
        /// The model.
        model: String,
        /// Why, and what to do.
        reason: String,
    },
    /// A network that cannot be pruned as it was asked to.
    #[error("{model} cannot be pruned so: {reason}")]
    #[strum(serialize = "cannot_prune")]
    Prune {
        /// The model.
        model: String,
        /// Why, and what to do.
        reason: String,
    },
    /// Training that could not continue.
    #[error("{model}: {source}")]
    Train {
        /// The model.
        model: String,
        /// Why.
        source: TrainError,
    },
    /// A state of the training that cannot be kept or used.
    #[error(transparent)]
    State(StateError),
    /// A file that cannot be read or written.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

impl NetworkError {
    /// Whether it is a mistake in the request, whatever the data are.
    pub fn is_usage(&self) -> bool {
        if let Self::State(error) = self {
            return error.is_usage();
        }
        matches!(
            self,
            Self::Spec(_)
                | Self::WithoutAmp(_)
                | Self::Threads(_)
                | Self::Memory(_)
                | Self::Start { .. }
                | Self::Prune { .. }
                | Self::Steps { .. }
                | Self::Explain { .. }
                | Self::Onnx { .. }
        )
    }
}

impl From<DataError> for NetworkError {
    fn from(error: DataError) -> Self {
        EstimatorError::from(error).into()
    }
}

impl From<StateError> for NetworkError {
    fn from(error: StateError) -> Self {
        match error {
            StateError::Checkpoint(error) => error.into(),
            error => Self::State(error),
        }
    }
}

impl From<foretell_nn::HyperParameterError> for NetworkError {
    fn from(error: foretell_nn::HyperParameterError) -> Self {
        SpecError::from(error).into()
    }
}

impl From<NetworkError> for EstimatorError {
    fn from(error: NetworkError) -> Self {
        match error {
            NetworkError::Estimator(error) => error,
            error if error.is_usage() => Self::Usage(Box::new(error)),
            error => Self::Failed(Box::new(error)),
        }
    }
}

impl From<SpecError> for EstimatorError {
    fn from(error: SpecError) -> Self {
        NetworkError::from(error).into()
    }
}
