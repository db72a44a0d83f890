//! Warnings of the library, told as Python's.

use std::ffi::CString;
use std::sync::{Arc, Mutex, PoisonError};

use foretell::Warning;
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;

use crate::setting_words::in_python;

/// Warnings that are still to be told: they come from threads that do not hold the interpreter's lock.
#[derive(Clone, Default)]
pub(crate) struct Told(Arc<Mutex<Vec<String>>>);

impl Told {
    /// The listener that keeps them.
    pub(crate) fn listener(&self) -> impl Fn(&Warning) + Send + Sync + 'static {
        let told = self.clone();
        move |warning: &Warning| told.add(warning.to_string())
    }

    pub(crate) fn add(&self, text: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(in_python(text));
    }

    /// Warns of them, at the line that called the package.
    pub(crate) fn tell(&self, py: Python<'_>) -> PyResult<()> {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for text in all {
            let text = CString::new(text.replace('\0', " "))?;
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 2)?;
        }
        Ok(())
    }
}
