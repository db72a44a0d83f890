//! Models that PyTorch wrote.

use foretell::{Fitted, Freq, ImportOptions, Imported, Map, Value};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::{exception, of_calendar};
use crate::fitted::PyFitted;
use crate::told::Told;

/// Reads a checkpoint of Lightning's (`.ckpt`), weights of PyTorch's (`.pt`) or a directory of neuralforecast 3.2 or older, without
/// executing anything in them: the models, and what was left out. `settings` is a JSON object of hyper-parameters.
#[pyfunction]
#[pyo3(signature = (path, class_name = None, freq = None, settings = None))]
pub(crate) fn import_models(
    py: Python<'_>,
    path: &str,
    class_name: Option<String>,
    freq: Option<&str>,
    settings: Option<&str>,
) -> PyResult<(PyFitted, Vec<String>)> {
    let wrong = |error: serde_json::Error| PyValueError::new_err(format!("settings: {error}"));
    let settings = settings.map(serde_json::from_str::<Map<String, Value>>).transpose().map_err(wrong)?;
    let mut options = ImportOptions::new().settings(settings.unwrap_or_default());
    options.class = class_name;
    options.freq = freq.map(Freq::parse).transpose().map_err(of_calendar)?;
    let Imported { fitted, left_out } = py.detach(|| Fitted::import(path, &options)).map_err(exception)?;
    let told = Told::default();
    let fitted = fitted.on_warning(told.listener());
    Ok((PyFitted::of(fitted, told), left_out))
}
