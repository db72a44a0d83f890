//! Errors of the library as Python's exceptions.

use std::error::Error as _;
use std::io;

use foretell::{
    CalendarError, CheckpointError, ColumnError, DataError, Error, ErrorFacts, SpecError, TableError,
    UsageError,
};
use pyo3::exceptions::{
    PyBaseException, PyFileExistsError, PyFileNotFoundError, PyMemoryError, PyOSError, PyRuntimeError,
    PyValueError,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use crate::argument_words::wrong_argument;
use crate::setting_words::in_python;

/// The exception that Python users expect: `KeyError` of columns that are not there, `FileNotFoundError`, `MemoryError`,
/// `RuntimeError` of trainings that fail, and `ValueError` of everything that the caller can mend. Its attributes are the facts that
/// programs read.
pub(crate) fn exception(error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let facts = ErrorFacts::of(&error);
    let text = match &error {
        Error::Usage(UsageError::Spec(SpecError::HyperParameter(wrong))) => wrong_argument(wrong),
        _ => in_python(facts.message.clone()),
    };
    let facts = facts.saying(text.clone());
    let exception = of_kind(error, text);
    Python::attach(|py| with_facts(exception.value(py), facts)).map_or_else(|error| error, |()| exception)
}

/// Gives an exception the facts as attributes.
fn with_facts(exception: &Bound<'_, PyBaseException>, facts: ErrorFacts) -> PyResult<()> {
    let ErrorFacts { code, setting, file, row, column, series, advice, message } = facts;
    exception.setattr("code", code)?;
    exception.setattr("row", row)?;
    exception.setattr("message", message)?;
    let texts =
        [("setting", setting), ("file", file), ("column", column), ("series", series), ("advice", advice)];
    texts.into_iter().try_for_each(|(name, text)| exception.setattr(name, text))
}

fn of_kind(error: Error, text: String) -> PyErr {
    if let Some(kind) = io_kind(&error) {
        return match kind {
            io::ErrorKind::NotFound => PyFileNotFoundError::new_err(text),
            io::ErrorKind::AlreadyExists => PyFileExistsError::new_err(text),
            _ => PyOSError::new_err(text),
        };
    }
    match error {
        Error::Data(DataError::Table(TableError::Column(ColumnError::Missing { .. }))) => {
            missing_column(text)
        }
        Error::Data(DataError::Table(TableError::TooLarge(_))) | Error::Usage(UsageError::Memory(_)) => {
            PyMemoryError::new_err(text)
        }
        Error::Checkpoint(CheckpointError::Missing { .. }) => PyFileNotFoundError::new_err(text),
        Error::Network(_) | Error::Estimator(_) | Error::Diverged { .. } | Error::NothingForecast { .. } => {
            PyRuntimeError::new_err(text)
        }
        _ => PyValueError::new_err(text),
    }
}

pub(crate) fn of_spec(error: SpecError) -> PyErr {
    exception(error)
}

pub(crate) fn of_calendar(error: CalendarError) -> PyErr {
    exception(DataError::from(error))
}

/// The value of a text, or a `ValueError`.
pub(crate) fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> PyResult<T> {
    text.parse().map_err(|error: T::Err| PyValueError::new_err(error.to_string()))
}

/// The kind of the system's refusal behind an error, if there is one.
fn io_kind(error: &Error) -> Option<io::ErrorKind> {
    let mut cause = error.source();
    if let Error::Checkpoint(CheckpointError::Io { source, .. }) = error {
        return Some(source.kind());
    }
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return Some(error.kind());
        }
        cause = error.source();
    }
    None
}

/// `foretell.errors.ColumnError`, which is a `KeyError` and a `ValueError`.
fn missing_column(text: String) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    Python::attach(|py| match CLASS.import(py, "foretell.errors", "ColumnError") {
        Ok(class) => PyErr::from_type(class.clone(), text),
        Err(error) => error,
    })
}
