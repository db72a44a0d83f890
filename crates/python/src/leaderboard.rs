//! What an automatic forecast tried, and how good it was.

use foretell_auto::TrainedAuto;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::fitted::PyFitted;

/// The board of an automatic forecast, as JSON.
#[pyfunction]
pub(crate) fn leaderboard(fitted: &PyFitted) -> PyResult<String> {
    let board = TrainedAuto::board_of(&fitted.fitted)
        .ok_or_else(|| PyValueError::new_err("none of these models is an automatic forecast"))?;
    Ok(board.to_json().to_string())
}
