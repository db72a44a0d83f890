//! How the tables of a request are read: as in training, unless the request says otherwise.

use foretell::{ColumnNames, End, Fitted, MemoryTable, Panel, ReadOptions, Value, with_sums};

use crate::error::EngineError;
use crate::request::ForecastRequest;

/// Reads the series of a request, and how tables beside them are read.
pub(crate) fn read_series(
    fitted: &Fitted,
    request: &ForecastRequest,
    max_memory: u64,
) -> Result<(Panel, ReadOptions), EngineError> {
    let options = options_for(fitted, request)?.max_memory(max_memory);
    let panel = Panel::from_memory(&request.data, &options).map_err(foretell::DataError::of_trained)?;
    let end = match &request.end {
        Some(word) => Some(word.parse::<End>()?),
        None => fitted.end(),
    };
    let ended = |panel: Panel| -> Result<Panel, EngineError> {
        let ended = end.map(|end| panel.ended(end, &options)).transpose()?.flatten();
        Ok(ended.map_or(panel, |(ended, _)| ended))
    };
    let panel = match &request.statics {
        Some(table) if panel.knows_its_ends(&options) => ended(panel)?.with_static_memory(table, &options)?,
        Some(table) => ended(panel.with_static_memory(table, &options)?)?,
        None => ended(panel)?,
    };
    let panel = match fitted.hierarchy() {
        Some((hierarchy, _)) => with_sums(panel, hierarchy)?,
        None => panel,
    };
    Ok((panel, options))
}

/// How the tables of a request are read.
fn options_for(fitted: &Fitted, request: &ForecastRequest) -> Result<ReadOptions, EngineError> {
    /// Fields that follow from the model or the server.
    const FIXED: [&str; 7] =
        ["id_col", "time_col", "target_col", "columns", "categories", "freq", "max_memory"];
    let why = "is the model's; leave it out, and name columns as in training";
    let mut saved = changed(fitted.reading(), &request.reading, &FIXED, why)?;
    let columns = fitted.columns().clone();
    let asks_for_wide = request.reading.contains_key("wide");
    saved.wide &= asks_for_wide || !is_long(&request.data, &columns, &saved);
    let read = fitted.columns_read();
    if saved.wide && !read.is_empty() {
        return Err(EngineError::Request(format!(
            "reading.wide: the model reads {}, and every column of a wide table is a series; give a long one",
            read.join(", ")
        )));
    }
    let ColumnNames { id, time, target } = columns;
    let read: Vec<String> = read.into_iter().chain(saved.static_cols.iter().cloned()).collect();
    // A wide table's time column is its first, whatever it is called, unless someone named it.
    let named = time != ColumnNames::default().time;
    let mut options = saved.id_col(id).target_col(target).threads(1);
    options.columns = Some(read);
    options.categories = fitted.categories();
    options.time_col = named.then_some(time);
    options.freq = fitted.freq_of_data();
    Ok(options)
}

/// Whether a table has the columns of a long one, although that which the models were trained on was wide.
fn is_long(table: &MemoryTable, columns: &ColumnNames, saved: &ReadOptions) -> bool {
    if !saved.wide {
        return false;
    }
    let names = table.column_names(&saved.file).unwrap_or_default();
    [&columns.id, &columns.time, &columns.target].iter().all(|column| names.contains(column))
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
    serde_json::from_value(all).map_err(refuse)
}
