//! What can be wrong with the folder of a pretrained network, or with the settings.

use std::path::PathBuf;

use foretell_checkpoint::CheckpointError;
use foretell_estimator::EstimatorError;
use foretell_files::FileError;
use foretell_train::StateError;

/// Why a pretrained network cannot be used.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum PretrainedError {
    /// No folder of weights.
    #[error("Pretrained: folder is missing; set it to a folder with a config.json and a model.safetensors")]
    NoFolder,
    /// A file that is missing or cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// Weights that cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A `config.json` that cannot be read.
    #[error("{path} cannot be read as the sizes of a network: {reason}; copy it again from its source", path = path.display())]
    #[strum(serialize = "damaged_network_config")]
    Config {
        /// The file.
        path: PathBuf,
        /// The reader's reason.
        reason: String,
    },
    /// A `config.json` of a network that is not read.
    #[error("{path} is of no pretrained forecaster that is read, but of {found}; those read are {known}", path = path.display())]
    #[strum(serialize = "unknown_network")]
    UnknownNetwork {
        /// The file.
        path: PathBuf,
        /// What it says to be of.
        found: String,
        /// The networks that are read.
        known: &'static str,
    },
    /// A value of `config.json` that is not supported.
    #[error("{path}: {name} must be {expected}, found {found}", path = path.display())]
    #[strum(serialize = "network_config_value")]
    Setting {
        /// The file.
        path: PathBuf,
        /// The setting.
        name: String,
        /// The values that are supported.
        expected: String,
        /// The value found.
        found: String,
    },
    /// A tensor that is missing, or another than `config.json` says.
    #[error("{path}: {name} must be {expected}, found {found}; config.json and weights are of different networks, or damaged", path = path.display())]
    #[strum(serialize = "network_tensor")]
    Tensor {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
        /// Its kind and shape by `config.json`.
        expected: String,
        /// What there is.
        found: String,
    },
    /// Other weights than those that a model was saved with.
    #[error(
        "{folder} has other files than when the model was saved (checksum {found}, not {expected}); put those back, or fit the \
         model anew", folder = folder.display()
    )]
    #[strum(serialize = "network_changed")]
    Changed {
        /// The folder.
        folder: PathBuf,
        /// The checksum of then.
        expected: String,
        /// That of now.
        found: String,
    },
    /// More steps than a network can forecast.
    #[error(
        "{model}: the network in its folder forecasts at most {most} steps, as many as its window has; found h = {h}"
    )]
    #[strum(serialize = "beyond_the_window")]
    TooFar {
        /// The model.
        model: String,
        /// What it can forecast.
        most: usize,
        /// The horizon asked for.
        h: usize,
    },
    /// Early stopping without anything to watch.
    #[error("{model}: early_stop_patience_steps needs validation windows: set val_size to at least h = {h}")]
    NothingToWatch {
        /// The model.
        model: String,
        /// The horizon.
        h: usize,
    },
    /// A fine-tuning that cannot start as it was asked to.
    #[error("{model} cannot start so: {reason}")]
    #[strum(serialize = "cannot_start")]
    Start {
        /// The model.
        model: String,
        /// Why, and what to do.
        reason: &'static str,
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
    /// A state of fine-tuning that cannot be kept or used.
    #[error(transparent)]
    State(Box<StateError>),
    /// Fine-tuning that could not continue.
    #[error("{model}: {source}")]
    Train {
        /// The model.
        model: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl From<PretrainedError> for EstimatorError {
    fn from(error: PretrainedError) -> Self {
        match error {
            PretrainedError::Train { .. } => Self::Failed(Box::new(error)),
            PretrainedError::State(ref state) if !state.is_usage() => Self::Failed(Box::new(error)),
            error => Self::Usage(Box::new(error)),
        }
    }
}
