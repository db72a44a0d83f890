//! Everything that can go wrong, by who can mend it.

use std::path::PathBuf;

use foretell_checkpoint::CheckpointError;
use foretell_data::{DataError, Freq};
use foretell_train::TrainError;

use crate::spec::SpecError;

/// What went wrong; the message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A model or a hyper-parameter that cannot be.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// Data that cannot be read, or does not fit the models.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Training that could not go on.
    #[error("{model}: {source}")]
    Train {
        /// The model.
        model: String,
        /// Why.
        source: TrainError,
    },
    /// A model directory that cannot be read or written.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A model directory whose model is not one that foretell can run.
    #[error("{path}: model {alias}: {reason}", path = path.display())]
    Model {
        /// The directory.
        path: PathBuf,
        /// The model's alias.
        alias: String,
        /// Why.
        reason: String,
    },
    /// No models were given.
    #[error("a forecaster needs at least one model")]
    NoModels,
    /// Models of different horizons.
    #[error(
        "all models of a forecaster forecast the same horizon; {first} has h = {h}, {other} has h = {found}"
    )]
    Horizons {
        /// The first model.
        first: String,
        /// Its horizon.
        h: usize,
        /// A model of another horizon.
        other: String,
        /// Its horizon.
        found: usize,
    },
    /// A validation part that cannot be.
    #[error("val_size must be 0 or at least h = {h}, found {found}")]
    ValSize {
        /// The horizon.
        h: usize,
        /// What was given.
        found: usize,
    },
    /// Early stopping, or a schedule that follows the validation loss, without anything to watch.
    #[error("{model}: {what} needs validation windows: set val_size to at least h = {h}")]
    NothingToWatch {
        /// The model.
        model: String,
        /// The hyper-parameter.
        what: &'static str,
        /// The horizon.
        h: usize,
    },
    /// Values that the loss's distribution cannot have.
    #[error(
        "{model}: values must be {expected} for its loss; value {row} of series {series} is {found}; choose another \
             distribution, or mask the value (available_mask)"
    )]
    Support {
        /// The model.
        model: String,
        /// What values may be.
        expected: &'static str,
        /// The id of a series.
        series: String,
        /// The place of a value in it, counted from 1.
        row: usize,
        /// The value.
        found: f32,
    },
    /// Cross-validation over no windows.
    #[error(
        "cross-validation needs n_windows and step_size of at least 1, found {n_windows} and {step_size}"
    )]
    NoWindows {
        /// Windows asked for.
        n_windows: usize,
        /// Steps between them.
        step_size: usize,
    },
    /// Two columns of one name.
    #[error("two columns of the forecast would be called {name}; give the models other aliases (alias)")]
    Columns {
        /// The name.
        name: String,
    },
    /// One name for two kinds of models.
    #[error("models of two kinds, {first} and {second}, have the alias {alias}; give one of them another")]
    Aliases {
        /// The alias.
        alias: String,
        /// A model of that alias.
        first: &'static str,
        /// Another model of that alias.
        second: &'static str,
    },
    /// Data of another frequency than that of training.
    #[error(
        "the models were trained on data of frequency {trained}; this panel has frequency {found}; read it with \
             the frequency of training if that is what it has (ReadOptions::freq)"
    )]
    Frequency {
        /// The frequency of training.
        trained: Freq,
        /// That of the panel.
        found: Freq,
    },
}
