//! What is wrong with a model or its hyper-parameters.

use foretell_models::{HyperParameterError, MODELS};

/// Why a model, or one of its hyper-parameters, is refused.
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
    /// A value that a hyper-parameter cannot have.
    #[error(transparent)]
    HyperParameter(#[from] HyperParameterError),
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
}

fn names() -> String {
    MODELS.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}
