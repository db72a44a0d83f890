//! The methods that explain forecasts, by captum's names.

use foretell::Attribution;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The method of this name, with as many points and orders as captum takes where nothing is said.
pub(crate) fn attribution(method: &str) -> PyResult<Attribution> {
    Ok(match method {
        "IntegratedGradients" => Attribution::IntegratedGradients { points: 50 },
        "InputXGradient" => Attribution::InputXGradient,
        "ShapleyValueSampling" => Attribution::ShapleySampling { permutations: 25, seed: 1 },
        other => {
            return Err(PyValueError::new_err(format!(
                "expected IntegratedGradients, InputXGradient or ShapleyValueSampling, found {other}"
            )));
        }
    })
}
