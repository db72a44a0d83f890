//! Errors of hyper-parameters.

use std::fmt;

/// A value that a hyper-parameter cannot have.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HyperParameterError {
    /// The model, where it is known: `None` for a loss that is read by itself.
    pub model: Option<&'static str>,
    /// The hyper-parameter; a value within it by its path, such as `loss.HuberLoss.delta`.
    pub name: String,
    /// The values that are allowed.
    pub expected: String,
    /// The value found, as JSON or in words.
    pub found: String,
}

impl HyperParameterError {
    /// An error of hyper-parameter `name`, which must be `expected` and is `found`. [`of`](Self::of)
    /// adds the model's name, [`within`](Self::within) the path of a class's arguments.
    pub fn new(name: impl Into<String>, expected: impl Into<String>, found: impl fmt::Display) -> Self {
        Self { model: None, name: name.into(), expected: expected.into(), found: found.to_string() }
    }

    /// The error with `path`, such as `loss.HuberLoss`, before its name.
    pub fn within(self, path: &str) -> Self {
        Self { name: format!("{path}.{}", self.name), ..self }
    }

    /// The error with the name of the model.
    pub fn of(self, model: &'static str) -> Self {
        Self { model: Some(model), ..self }
    }
}

impl fmt::Display for HyperParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, name, expected, found } = self;
        if let Some(model) = model {
            write!(f, "{model}: ")?;
        }
        write!(f, "hyper-parameter {name} must be {expected}, found {found}")
    }
}

impl std::error::Error for HyperParameterError {}
