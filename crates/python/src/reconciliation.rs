//! Forecasts of any models, changed so that sums of series hold, and sums over time.

use foretell::hierarchy::{Hierarchy, Reconciliation};
use foretell::{
    ColumnNames, Error, ForecastTable, Freq, ReconcileOptions, TimeKind, bounded, newly_below_zero,
    of_complete_models, without_forecasts, without_intervals, without_past_forecasts,
};
use foretell_auto::{SumsTable, TemporalTables};
use pyo3::prelude::*;

use crate::error::{exception, of_calendar, parsed};
use crate::evaluation::{Names, actual_of, options, table_of};
use crate::forecaster::SummingMatrix;
use crate::frame::PyFrame;
use crate::told::Told;

/// Periods, each with forecasts of sums over it and of past sums, and the name of a method, or nothing for the usual one.
type OfPeriods<'py> = (Vec<(String, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)>, String);

/// The method of that name, if one is named.
fn named(method: &str) -> PyResult<Option<Reconciliation>> {
    (!method.is_empty()).then(|| parsed(method)).transpose()
}

/// The forecasts of a table, reconciled with those of sums over time, then by the hierarchy and the method, the usual ones if none are named;
/// `residuals` are forecasts of the past beside what came true, and `how` says how many samples quantiles are taken of, their seed,
/// and whether forecasts are not below 0, and whole numbers.
#[pyfunction]
#[pyo3(signature = (forecast, names, hierarchy, residuals = None, history = None, how = (1000, 1, false, false), temporal = None))]
pub(crate) fn reconcile(
    forecast: &Bound<'_, PyAny>,
    names: Names,
    hierarchy: Option<SummingMatrix>,
    residuals: Option<&Bound<'_, PyAny>>,
    history: Option<&Bound<'_, PyAny>>,
    how: (usize, u64, bool, bool),
    temporal: Option<OfPeriods<'_>>,
) -> PyResult<PyFrame> {
    let across = |(rows, columns, matrix, method): SummingMatrix| {
        let hierarchy = Hierarchy::from_summing_matrix(&rows, &columns, &matrix).map_err(exception)?;
        let method = named(&method)?.unwrap_or(Reconciliation::usual(residuals.is_some()));
        Ok::<_, PyErr>((hierarchy, method))
    };
    let across = hierarchy.map(across).transpose()?;
    let mut table = table_of(forecast, &names)?;
    let residuals = residuals.map(|table| table_of(table, &names)).transpose()?;
    let history = history.map(|table| actual_of(table, &names)).transpose()?;
    let over_time = temporal.map(|(tables, method)| {
        let tables = tables.iter().map(|(period, sums, past)| {
            let past = past.as_ref().map(|past| table_of(past, &names)).transpose()?;
            Ok::<_, PyErr>((period.clone(), table_of(sums, &names)?, past))
        });
        Ok::<_, PyErr>((tables.collect::<PyResult<Vec<_>>>()?, named(&method)?))
    });
    let over_time = over_time.transpose()?;
    let freq = match (table.freq(), table.kind) {
        (Some(freq), _) => freq,
        (None, TimeKind::Integer) => Freq::parse("1").map_err(of_calendar)?,
        (None, TimeKind::Timestamp) => Freq::parse("D").map_err(of_calendar)?,
    };
    let options = options(&names);
    let (id, time, target) = names;
    let columns = ColumnNames { id, time, target: target.clone() };
    let (samples, seed, non_negative, integer) = how;
    let (given, told) = (table.clone(), Told::default());
    let work = || -> Result<_, Error> {
        if let Some((sums, method)) = &over_time {
            let over_time = |steps: &ForecastTable| {
                reconciled_over_time(steps, residuals.as_ref(), sums, &target, *method)
            };
            let (coherent, incomplete) = of_complete_models(&table, &target, over_time)?;
            incomplete.iter().for_each(|warning| told.add(warning.to_string()));
            table = coherent;
        }
        if let Some((hierarchy, method)) = &across {
            let options =
                ReconcileOptions::new(*method).residuals(residuals.as_ref()).history(history.as_ref());
            let options = options.samples(samples).seed(seed).non_negative(non_negative).integer(integer);
            let warnings = [
                without_forecasts(&table, hierarchy, *method),
                residuals.as_ref().and_then(|past| without_past_forecasts(past, hierarchy)),
                without_intervals(&table, &target),
            ];
            warnings.into_iter().flatten().for_each(|warning| told.add(warning.to_string()));
            let across = |table: &ForecastTable| foretell::reconcile(table, hierarchy, &columns, &options);
            let (coherent, incomplete) = of_complete_models(&table, &target, across)?;
            incomplete.iter().for_each(|warning| told.add(warning.to_string()));
            table = coherent;
        } else {
            table = bounded(table, &target, non_negative, integer);
        }
        let before: Vec<&ForecastTable> = std::iter::once(&given).chain(&residuals).chain(&history).collect();
        if let Some(warning) = newly_below_zero(&table, &before, &target) {
            told.add(warning.to_string());
        }
        Ok(table.into_frame(&options, freq)?)
    };
    let frame = forecast.py().detach(work).map_err(exception)?;
    told.tell(forecast.py())?;
    Ok(PyFrame::of(frame, Some(&target)))
}

fn reconciled_over_time(
    steps: &ForecastTable,
    past: Option<&ForecastTable>,
    sums: &[(String, ForecastTable, Option<ForecastTable>)],
    target: &str,
    method: Option<Reconciliation>,
) -> Result<ForecastTable, Error> {
    let sums =
        sums.iter().map(|(period, forecast, past)| SumsTable { period, forecast, past: past.as_ref() });
    let tables = TemporalTables { steps, past, sums: sums.collect(), target, method };
    Ok(tables.reconcile()?.0)
}
