//! Forecasts of any models, changed so that sums of series hold.

use foretell::hierarchy::{Hierarchy, Reconciliation};
use foretell::{ColumnNames, Error, Freq, ReconcileOptions, TimeKind};
use pyo3::prelude::*;

use crate::error::{exception, of_calendar, parsed};
use crate::evaluation::{Names, actual_of, options, table_of};
use crate::forecaster::SummingMatrix;
use crate::frame::PyFrame;

/// The forecasts of a table, reconciled by the hierarchy and the method, the usual one if none is named; `residuals` are forecasts of the past beside what came true.
#[pyfunction]
#[pyo3(signature = (forecast, names, hierarchy, residuals = None, history = None, samples = 1000, seed = 1))]
pub(crate) fn reconcile(
    forecast: &Bound<'_, PyAny>,
    names: Names,
    hierarchy: SummingMatrix,
    residuals: Option<&Bound<'_, PyAny>>,
    history: Option<&Bound<'_, PyAny>>,
    samples: usize,
    seed: u64,
) -> PyResult<PyFrame> {
    let (rows, columns, matrix, method) = hierarchy;
    let hierarchy = Hierarchy::from_summing_matrix(&rows, &columns, &matrix).map_err(exception)?;
    let method = match method.as_str() {
        "" => Reconciliation::usual(residuals.is_some()),
        named => parsed::<Reconciliation>(named)?,
    };
    let forecast_table = table_of(forecast, &names)?;
    let residuals = residuals.map(|table| table_of(table, &names)).transpose()?;
    let history = history.map(|table| actual_of(table, &names)).transpose()?;
    let freq = match (forecast_table.freq(), forecast_table.kind) {
        (Some(freq), _) => freq,
        (None, TimeKind::Integer) => Freq::parse("1").map_err(of_calendar)?,
        (None, TimeKind::Timestamp) => Freq::parse("D").map_err(of_calendar)?,
    };
    let options = options(&names);
    let (id, time, target) = names;
    let columns = ColumnNames { id, time, target: target.clone() };
    let work = || -> Result<_, Error> {
        let how = ReconcileOptions::new(method).residuals(residuals.as_ref()).history(history.as_ref());
        let how = how.samples(samples).seed(seed);
        let coherent = foretell::reconcile(&forecast_table, &hierarchy, &columns, &how)?;
        Ok(coherent.into_frame(&options, freq)?)
    };
    let frame = forecast.py().detach(work).map_err(exception)?;
    Ok(PyFrame::of(frame, Some(&target)))
}
