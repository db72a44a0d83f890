//! What an automatic forecast tried, and how good it was.

use foretell_auto::{Board, TrainedAuto};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::json;

use crate::fitted::PyFitted;

/// The board of an automatic forecast, as JSON.
#[pyfunction]
pub(crate) fn leaderboard(fitted: &PyFitted) -> PyResult<String> {
    let auto = TrainedAuto::of(&fitted.fitted)
        .ok_or_else(|| PyValueError::new_err("none of these models is an automatic forecast"))?;
    let Board { rows, windows, is_honest, scored_series, series, seasons, left_out, steps, told } =
        auto.board();
    let rows: Vec<_> = rows
        .iter()
        .map(|row| {
            json!({
                "model": row.model, "mase": row.mase, "scaled_crps": row.scaled_crps,
                "coverage": row.coverage, "seconds": row.seconds, "weight": row.weight,
            })
        })
        .collect();
    let board = json!({
        "rows": rows, "windows": windows, "is_honest": is_honest, "scored_series": scored_series,
        "series": series, "seasons": seasons, "left_out": left_out, "steps": steps, "told": told,
        "sentence": auto.board().sentence(),
    });
    Ok(board.to_string())
}
