//! Everything that can go wrong between a request and its answer.

use std::path::PathBuf;
use std::time::Duration;

use foretell::{DataError, TableError, TooLarge};

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineStartError {
    /// Two models of one name.
    #[error("two models are called {0}; give one of them another name")]
    TwoModels(String),
    /// A name that cannot stand in a request.
    #[error("the name {0:?} of a model is empty or longer than 100 characters; give it another")]
    Name(String),
    /// A model that cannot be loaded.
    #[error("model {name}, {path}: {source}", path = path.display())]
    Load {
        /// The model's name.
        name: String,
        /// Its directory.
        path: PathBuf,
        /// The fault.
        source: Box<foretell::Error>,
    },
    /// The system has no threads for it.
    #[error("cannot start a thread: {0}; allow the process more (ulimit -u)")]
    Threads(#[from] std::io::Error),
}

/// Why a request has no answer; the message says what to do.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum EngineError {
    /// A model that is not served, or none named where there are several.
    #[error("{}; the models are {}, and auto fits those that suit the data", match asked { Some(name) => format!("there is no model {name:?}"), None => "name a model (model)".to_owned() }, known.join(", "))]
    UnknownModel {
        /// The name that was asked for, if there was one.
        asked: Option<String>,
        /// The models that are served.
        known: Vec<String>,
    },
    /// Something in a request that has no meaning; the text names it.
    #[error("{0}")]
    Request(String),
    /// More of something than a request may have.
    #[error("{what}: at most {most} are allowed, found {found}; {remedy}")]
    TooMany {
        /// The name of the quantity that is too large.
        what: &'static str,
        /// The limit.
        most: usize,
        /// The quantity of the request.
        found: usize,
        /// The advice.
        remedy: &'static str,
    },
    /// More rows than a request may hold; the reading ended where that was seen.
    #[error(
        "rows: at most {most} are allowed, found {found} or more; send fewer series or shorter histories"
    )]
    #[strum(serialize = "too_many")]
    TooManyRows {
        /// The limit.
        most: usize,
        /// Those that the request has, or that were read.
        found: usize,
    },
    /// Data that cannot be read or forecast.
    #[error(transparent)]
    Forecast(foretell::Error),
    /// Other requests have the memory that this one needs.
    #[error("there is no room for the {} MB of this request beside others, whose answers wait to be read; try again in a second", .needed.div_ceil(1_000_000))]
    NoRoom {
        /// The bytes that it needs.
        needed: u64,
    },
    /// Too many requests wait.
    #[error("{0} requests are waiting already; try again in a second")]
    Busy(usize),
    /// It took too long.
    #[error("the forecast took longer than {} s; send fewer series or ask for fewer steps", .0.as_secs_f64())]
    Timeout(Duration),
    /// The engine is about to stop.
    #[error("the server is stopping; try again in a moment")]
    Stopping,
    /// A fault of the program.
    #[error("the forecast failed for a fault of the program; please report it")]
    #[strum(serialize = "fault")]
    Panicked,
}

impl From<TableError> for EngineError {
    fn from(error: TableError) -> Self {
        DataError::from(error).into()
    }
}

impl From<DataError> for EngineError {
    fn from(error: DataError) -> Self {
        foretell::Error::from(error).into()
    }
}

impl From<foretell::Error> for EngineError {
    fn from(error: foretell::Error) -> Self {
        match error {
            foretell::Error::Data(DataError::Table(TableError::TooLarge(TooLarge::Rows {
                most,
                found,
                ..
            }))) => Self::TooManyRows { most, found },
            error => Self::Forecast(error),
        }
    }
}
