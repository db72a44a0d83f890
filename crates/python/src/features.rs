//! Columns that are computed from the target and the times.

use foretell::features::FEATURES;
use foretell::{Error, Features, Workers};
use pyo3::prelude::*;

use crate::error::{exception, parsed};
use crate::frame::PyFrame;
use crate::panel::PyPanel;

/// The name, an example and the meaning of each feature, and whether it is known ahead.
#[pyfunction]
pub(crate) fn feature_names() -> Vec<(&'static str, &'static str, &'static str, bool)> {
    FEATURES.iter().map(|entry| (entry.name, entry.example, entry.meaning, entry.is_known_ahead())).collect()
}

/// The ids and times of all rows of a panel, with the columns of these features.
#[pyfunction]
#[pyo3(signature = (panel, words, threads = 0))]
pub(crate) fn compute_features(
    py: Python<'_>,
    panel: &PyPanel,
    words: &str,
    threads: usize,
) -> PyResult<PyFrame> {
    let features = parsed::<Features>(words)?;
    let work = || -> Result<_, Error> {
        let mut frame = panel.ids_and_times();
        frame.columns = features.known_columns_of(&panel.panel, &Workers::new(threads)?)?;
        Ok(frame)
    };
    Ok(PyFrame::of(py.detach(work).map_err(exception)?, None))
}
