//! What is wrong with a model or its hyper-parameters.

use foretell_data::DataError;
use foretell_models::{ConfigError, MODELS};
use foretell_nn::LossError;

/// A model or a hyper-parameter that cannot be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// No model of that name.
    #[error("no model is called {found}; {hint}there are {}", names())]
    UnknownModel {
        /// The name given.
        found: String,
        /// The name that was probably meant, as a question.
        hint: String,
    },
    /// No hyper-parameter of that name.
    #[error("{model} has no hyper-parameter {found}; {hint}")]
    UnknownName {
        /// The model.
        model: &'static str,
        /// The name given.
        found: String,
        /// What was probably meant, why there is no such thing, or how to list them.
        hint: String,
    },
    /// A value that the hyper-parameter cannot have.
    #[error("{model}: hyper-parameter {name} must be {expected}, found {found}")]
    BadValue {
        /// The model.
        model: &'static str,
        /// The hyper-parameter.
        name: String,
        /// What it may be.
        expected: String,
        /// What it was, as JSON.
        found: String,
    },
    /// A value that one of the model's own hyper-parameters cannot have.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A window scaler that there is not.
    #[error("{model}: {source}")]
    Scaler {
        /// The model.
        model: &'static str,
        /// What is wrong with it.
        source: Box<DataError>,
    },
    /// A model larger than memory.
    #[error(
        "{model}: with these hyper-parameters it would have over {limit} parameters; choose smaller layers"
    )]
    TooLarge {
        /// The model.
        model: &'static str,
        /// The most it may have.
        limit: usize,
    },
    /// A loss that cannot be.
    #[error("{model}: {source}")]
    Loss {
        /// The model.
        model: &'static str,
        /// What is wrong with it.
        source: LossError,
    },
}

fn names() -> String {
    MODELS.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}
