//! Scores of forecasts, no matter who made them.

use foretell::evaluate::{Metric, ScoreBy, ScoreTable};
use foretell::{
    ArrowTable, ColumnNames, Error, ForecastTable, ReadOptions, ScoredForecasts, TimeKind, name_quantiles,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::batches::batches;
use crate::error::exception;
use crate::told::Told;

/// The names of the columns of ids, times and the target.
pub(crate) type Names = (String, String, String);

/// Scores, a row for each group of forecasts and metric.
#[derive(IntoPyObject)]
pub(crate) struct Scores {
    /// The series of each row, if it is of one.
    ids: Vec<Option<String>>,
    /// The cutoff of each row in microseconds, or as a number, if it is of one.
    cutoffs: Vec<Option<i64>>,
    /// The step ahead of each row, if it is of one.
    steps: Vec<Option<u32>>,
    metrics: Vec<String>,
    models: Vec<String>,
    /// `[models, rows]`; NaN where there is no score.
    values: Vec<Vec<f64>>,
    /// Rows of the forecasts, and how many of them have come true.
    rows: [usize; 2],
    /// Of each model the rows that have come true and that it has no forecast of.
    missing: Vec<usize>,
    /// Whether cutoffs are timestamps, and their zone, if they have one.
    has_timestamps: bool,
    zone: Option<String>,
}

/// Scores forecasts beside what came true, in their own table or in `actual`; `history` is what scaled metrics are relative to.
#[pyfunction]
#[pyo3(signature = (forecast, names, metrics, by, actual = None, history = None, season = None, baseline = None))]
pub(crate) fn evaluate(
    forecast: &Bound<'_, PyAny>,
    names: Names,
    metrics: Vec<String>,
    by: &str,
    actual: Option<&Bound<'_, PyAny>>,
    history: Option<&Bound<'_, PyAny>>,
    season: Option<usize>,
    baseline: Option<&str>,
) -> PyResult<Scores> {
    let score_by = match by {
        "all" => ScoreBy::All,
        "series" => ScoreBy::Series,
        "cutoff" => ScoreBy::Cutoff,
        "step" => ScoreBy::Step,
        "window" => ScoreBy::Window,
        other => {
            let text = format!("by: expected all, series, cutoff, step or window, found {other}");
            return Err(PyValueError::new_err(text));
        }
    };
    let mut table = table_of(forecast, &names)?;
    name_quantiles(&mut table, &names.2);
    let beside = |given: Option<&Bound<'_, PyAny>>| given.map(|table| actual_of(table, &names)).transpose();
    let (actual, history) = (beside(actual)?, beside(history)?);
    let (id, time, target) = names;
    let columns = ColumnNames { id, time, target };
    let told = Told::default();
    let score = || -> Result<Scores, Error> {
        let scored = ScoredForecasts::new(&table, actual.as_ref(), history.as_ref(), &columns.target)?;
        scored.crossed_quantiles().iter().for_each(|crossed| told.add(crossed.to_string()));
        let usual =
            || scored.usual_metrics(baseline.is_some(), score_by).into_iter().map(str::to_owned).collect();
        let metrics: Vec<String> = if metrics.is_empty() { usual() } else { metrics };
        let metrics = metrics.iter().map(|name| Metric::parse(name)).collect::<Result<Vec<_>, _>>()?;
        let season = season.or(scored.usual_season());
        if let Some(metric) = metrics.iter().find(|metric| metric.needs_season() && season.is_none()) {
            told.add(format!(
                "the times do not tell a frequency, so that {metric} is relative to the changes from row to row; seasonality says the steps \
                 of a season"
            ));
        }
        let season = season.unwrap_or(1);
        let scores = scored.scores(&metrics, score_by, season, baseline, None)?;
        Ok(listed(&scored, &scores.with_counts(), &table))
    };
    let scores = forecast.py().detach(score).map_err(exception)?;
    told.tell(forecast.py())?;
    Ok(scores)
}

/// A row for each metric and group, in the order of steps and cutoffs.
fn listed(scored: &ScoredForecasts, table: &ScoreTable, forecast: &ForecastTable) -> Scores {
    let mut order: Vec<usize> = (0..table.groups.len()).collect();
    order.sort_by_key(|&group| (table.groups[group].step, table.groups[group].cutoff));
    let rows = || table.metrics.iter().flat_map(|metric| order.iter().map(move |&group| (metric, group)));
    let id = |series: u32| scored.ids()[series as usize].to_string();
    // Without cutoffs a forecast is known by the time before its first one, which no table has.
    let cutoff = |group: usize| table.groups[group].cutoff.filter(|_| forecast.cutoffs.is_some());
    let values =
        |model: usize| -> Vec<f64> { rows().map(|(metric, group)| metric.values[group][model]).collect() };
    Scores {
        ids: rows().map(|(_, group)| table.groups[group].series.map(id)).collect(),
        cutoffs: rows().map(|(_, group)| cutoff(group)).collect(),
        steps: rows().map(|(_, group)| table.groups[group].step).collect(),
        metrics: rows().map(|(metric, _)| metric.name.clone()).collect(),
        values: (0..table.models.len()).map(values).collect(),
        models: table.models.clone(),
        rows: scored.rows(),
        missing: scored.missing(),
        has_timestamps: forecast.kind == TimeKind::Timestamp,
        zone: forecast.zone.as_ref().map(ToString::to_string),
    }
}

/// How tables with these columns are read.
pub(crate) fn options(names: &Names) -> ReadOptions {
    ReadOptions::new().id_col(&names.0).time_col(&names.1).target_col(&names.2)
}

/// The rows of a table of forecasts.
pub(crate) fn table_of(table: &Bound<'_, PyAny>, names: &Names) -> PyResult<ForecastTable> {
    let rows = batches(table)?;
    table
        .py()
        .detach(|| ForecastTable::from_table(ArrowTable::from_batches(rows)?, &options(names)))
        .map_err(exception)
}

/// The rows of a table of what came true, which may have further columns of any kind.
pub(crate) fn actual_of(table: &Bound<'_, PyAny>, names: &Names) -> PyResult<ForecastTable> {
    let rows = batches(table)?;
    table
        .py()
        .detach(|| ForecastTable::actual_from_table(ArrowTable::from_batches(rows)?, &options(names)))
        .map_err(exception)
}
