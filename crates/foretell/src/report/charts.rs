//! The series and their forecasts, as the charts of a report draw them.

use std::collections::HashMap;

use super::columns::drawn_models;
use super::windows::{civil, known_values, windows};
use foretell_calendar::TimeKind;
use foretell_data::Panel;
use foretell_report::{Charts, ForecastLines, ModelLines, SeriesLines};
use foretell_tables::{Frame, ModelInTable};

/// The charts of all series that the tables forecast, each with the `last` steps of its history, or with this many as go well with
/// the forecasts.
pub fn charts(panel: &Panel, tables: &[&Frame], target: &str, last: Option<usize>) -> Charts {
    let columns: Vec<Vec<ModelInTable>> = tables.iter().map(|table| drawn_models(table, target)).collect();
    let models = models(columns.iter().flatten());
    let mut order: Vec<&str> = Vec::new();
    let mut rows: Vec<HashMap<&str, Vec<usize>>> = vec![HashMap::new(); tables.len()];
    for (place, table) in tables.iter().enumerate() {
        for (row, id) in table.ids.iter().enumerate() {
            let of_id = rows[place].entry(id).or_default();
            if of_id.is_empty() && rows[..place].iter().all(|before| !before.contains_key(&**id)) {
                order.push(id);
            }
            rows[place].entry(id).or_default().push(row);
        }
    }
    let series = order.into_iter().map(|id| {
        let mut forecasts = Vec::new();
        for ((table, columns), rows) in tables.iter().zip(&columns).zip(&rows) {
            for window in windows(table, rows.get(id).map_or(&[], Vec::as_slice)) {
                forecasts.push(forecast(panel, table, columns, &models, &window));
            }
        }
        let (times, values) = history(panel, id, &forecasts, last);
        SeriesLines { id: id.to_owned(), times, values, forecasts }
    });
    let series = series.collect();
    Charts { integer_times: panel.freq().kind() == TimeKind::Integer, models, series }
}

/// Each model once, with all of its levels.
fn models<'a>(columns: impl Iterator<Item = &'a ModelInTable>) -> Vec<ModelLines> {
    let mut models: Vec<ModelLines> = Vec::new();
    for of_model in columns {
        let place = models.iter().position(|model| model.name == *of_model.model).unwrap_or_else(|| {
            models.push(ModelLines { name: of_model.model.to_string(), levels: Vec::new() });
            models.len() - 1
        });
        for (level, ..) in of_model.intervals() {
            if !models[place].levels.contains(&level.to_string()) {
                models[place].levels.push(level.to_string());
            }
        }
    }
    let width = |level: &String| level.parse().unwrap_or(0.0_f64);
    models.iter_mut().for_each(|model| model.levels.sort_by(|a, b| width(b).total_cmp(&width(a))));
    models
}

/// The rows of one forecast, with a column for all that any table has.
fn forecast(
    panel: &Panel,
    table: &Frame,
    columns: &[ModelInTable],
    models: &[ModelLines],
    rows: &[usize],
) -> ForecastLines {
    let mut values = Vec::new();
    let mut push = |column: Option<&[f32]>| {
        values.extend(rows.iter().map(|&row| column.map_or(f32::NAN, |column| column[row])));
    };
    for model in models {
        let own = columns.iter().find(|columns| *columns.model == model.name);
        let values = |place: usize| &table.columns[place].1[..];
        push(own.and_then(ModelInTable::point).map(values));
        let intervals = own.map(ModelInTable::intervals).unwrap_or_default();
        for level in &model.levels {
            let ends = intervals.iter().find(|(known, ..)| known.to_string() == *level);
            push(ends.map(|(_, lo, _)| values(*lo)));
            push(ends.map(|(.., hi)| values(*hi)));
        }
    }
    let times = rows.iter().map(|&row| civil(panel.zone(), table.times[row])).collect();
    ForecastLines { times, values }
}

/// The end of what is known of a series; nothing of one that the data do not have.
fn history(
    panel: &Panel,
    id: &str,
    forecasts: &[ForecastLines],
    last: Option<usize>,
) -> (Vec<i64>, Vec<f32>) {
    let Some(series) = panel.find(id) else { return (Vec::new(), Vec::new()) };
    let known: Vec<(i64, f32)> = (known_values(panel, series).into_iter())
        .map(|(time, value)| (civil(panel.zone(), time), value))
        .collect();
    let first = forecasts.iter().filter_map(|forecast| forecast.times.first()).min().copied();
    let after = known.len() - known.partition_point(|(time, _)| *time < first.unwrap_or(i64::MAX));
    let longest = forecasts.iter().map(|forecast| forecast.times.len()).max().unwrap_or(0);
    let shown = last.unwrap_or((10 * longest).max(200) + after);
    known[known.len().saturating_sub(shown)..].iter().copied().unzip()
}
