//! How the tables of a request are read: as in training, unless the request says otherwise.

use foretell::{End, Fitted, Panel, ReadOptions, SeriesColumns, Value};

use crate::error::EngineError;
use crate::request::ForecastRequest;

/// Reads the series of a request, and how tables beside them are read.
pub(crate) fn read_series(
    fitted: &Fitted,
    request: &ForecastRequest,
    max_memory: u64,
    max_rows: usize,
) -> Result<(Panel, ReadOptions), EngineError> {
    let options = options_for(fitted, request, max_memory)?.max_rows(max_rows);
    let end = request.end.as_deref().map(str::parse::<End>).transpose()?;
    let statics = |panel: Panel| match &request.statics {
        Some(table) => panel.with_static_memory(table, &options),
        None => Ok(panel),
    };
    let panel = fitted.completed(Panel::from_memory(&request.data, &options), end, &options, statics)?;
    Ok((panel, options))
}

/// How the tables of a request are read.
fn options_for(
    fitted: &Fitted,
    request: &ForecastRequest,
    max_memory: u64,
) -> Result<ReadOptions, EngineError> {
    /// Fields that follow from the model or the server.
    const FIXED: [&str; 4] = ["columns", "categories", "freq", "max_memory"];
    let why = "is the model's; leave it out";
    let mut saved = within(changed(fitted.reading(), &request.reading, &FIXED, why)?, max_memory);
    let mut columns = SeriesColumns::of(fitted);
    // Columns are called as in training, unless the request says otherwise.
    let said = |field: &str| request.reading.contains_key(field);
    if said("id_col") {
        columns.names.id.clone_from(&saved.id_col);
    }
    if let Some(time) = saved.time_col.clone().filter(|_| said("time_col")) {
        (columns.names.time, columns.time_is_named) = (time, true);
    }
    if said("target_col") {
        columns.names.target.clone_from(&saved.target_col);
    }
    if !request.reading.contains_key("wide") {
        let file = saved.file.clone();
        saved = columns.as_the_table_is(saved, || request.data.column_names(&file).unwrap_or_default());
    }
    let notation_is_said = [said("time_format"), said("numbers")];
    Ok(columns.options(saved.threads(1))?.as_written_in(&request.data, notation_is_said))
}

/// The options by which a table takes no more than this many bytes of memory.
pub(crate) fn within(mut options: ReadOptions, max_memory: u64) -> ReadOptions {
    options.file.most_unpacked = Some(max_memory);
    options.max_memory(max_memory)
}

/// The options with these fields of a request in place of their own; those that are `fixed` are refused, and told why.
pub(crate) fn changed(
    saved: &ReadOptions,
    fields: &foretell::Map<String, Value>,
    fixed: &[&str],
    why: &str,
) -> Result<ReadOptions, EngineError> {
    if fields.is_empty() {
        return Ok(saved.clone());
    }
    if let Some(fixed) = fixed.iter().find(|name| fields.contains_key(**name)) {
        return Err(EngineError::Request(format!("reading.{fixed} {why}")));
    }
    let refuse = |error: serde_json::Error| EngineError::Request(format!("reading: {error}"));
    let mut all = serde_json::to_value(saved).map_err(refuse)?;
    if let Value::Object(all) = &mut all {
        all.extend(fields.clone());
    }
    let options: ReadOptions = serde_json::from_value(all).map_err(refuse)?;
    let marks = options.numbers;
    Ok(if fields.contains_key("numbers") { options.numbers(marks.said()) } else { options })
}
