//! The tables of a request.

use foretell::{
    ColumnNames, End, FileFormat, Fitted, Frame, Future, MemoryTable, Panel, ReadOptions, SeriesColumns,
    TableColumns, ask_for_column, told_columns,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::kept::{Heard, Most};
use crate::refusal::Refusal;
use crate::table::table;

/// The tables of a request, columns by name; in place of `data`, `values` is a single series without times, and `file` the name of a file
/// whose bytes are beside the request.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Tables {
    values: Option<Vec<Option<f64>>>,
    data: Option<TableColumns>,
    file: Option<String>,
    future: Option<TableColumns>,
    #[serde(rename = "static")]
    statics: Option<TableColumns>,
    reading: Map<String, Value>,
    end: Option<String>,
}

/// The tables, read.
pub(crate) struct Series {
    /// What the data are called.
    pub(crate) name: String,
    pub(crate) data: MemoryTable,
    pub(crate) panel: Panel,
    pub(crate) options: ReadOptions,
    /// What was done to the data in the caller's stead.
    pub(crate) told: Vec<String>,
    future: Option<MemoryTable>,
    /// The names of the columns of the static table.
    pub(crate) statics: Vec<String>,
    /// The names of the columns that are known in advance.
    pub(crate) known_ahead: Vec<String>,
    /// What was said of series that end before others.
    pub(crate) end: Option<End>,
}

/// What models read of the tables; nothing where that is not known yet.
pub(crate) struct Read<'a> {
    /// The most memory and threads for it.
    pub(crate) most: Most,
    /// The bytes beside the request: the file, if there is one.
    pub(crate) bytes: &'a [u8],
    /// The models that are to forecast them: they are read as those of the training.
    pub(crate) fitted: Option<&'a Fitted>,
    /// The columns of the data; else `hist`, and those that the table of the future has.
    pub(crate) columns: Option<Vec<String>>,
    pub(crate) hist: Vec<String>,
    pub(crate) categories: Vec<String>,
}

impl<'a> Read<'a> {
    /// Of these bytes beside the request.
    pub(crate) fn new(most: Most, bytes: &'a [u8]) -> Self {
        let (columns, hist, categories) = (None, Vec::new(), Vec::new());
        Self { most, bytes, fitted: None, columns, hist, categories }
    }
}

impl Tables {
    /// Reads the tables.
    pub(crate) fn read(self, wanted: Read<'_>) -> Result<Series, Refusal> {
        let Self { values, data, file, future, statics, reading, end } = self;
        let is_array = values.is_some();
        let notation_is_said = ["time_format", "numbers"].map(|field| reading.contains_key(field));
        // A series without a value stops no other one; it is told.
        let usual = wanted.fitted.map(in_training).unwrap_or_default().without_unknown();
        let mut options = changed(usual, reading)?;
        let name = file.clone().unwrap_or_else(|| "data".to_owned());
        let table = match (values, data, file) {
            (Some(values), None, None) => MemoryTable::of_columns("data", of_values(&values, &options)?),
            (None, Some(data), None) => MemoryTable::of_columns("data", data),
            (None, None, Some(name)) => MemoryTable::new(&name, FileFormat::of(&name), wanted.bytes.to_vec()),
            (None, None, None) => {
                let message =
                    "there is nothing to forecast; give an array of numbers, columns, rows or a file";
                return Err(Refusal::request("data", message));
            }
            _ => {
                let message = "there is more than one of values, data and file; give one of them";
                return Err(Refusal::request("data", message));
            }
        };
        if is_array {
            options.fill.get_or_insert(foretell::Fill::Interpolate);
        }
        options.file.most_unpacked = Some(wanted.most.memory);
        let mut roles = None;
        if wanted.fitted.is_none() {
            (options, roles) = told_columns(options, &table);
        }
        let future = future.map(|columns| MemoryTable::of_columns("future", columns));
        let statics = statics.map(|columns| MemoryTable::of_columns("static", columns));
        let ColumnNames { id, time, target } = ColumnNames::of_reading(&options);
        let further = |table: &Option<MemoryTable>| -> Result<Vec<String>, Refusal> {
            let Some(table) = table else { return Ok(Vec::new()) };
            let mut names = table.column_names(&options.file)?;
            names.retain(|name| ![&id, &time, &target].contains(&name));
            Ok(names)
        };
        let (known_ahead, static_columns) = (further(&future)?, further(&statics)?);
        match wanted.fitted {
            Some(fitted) => {
                let header = || table.column_names(&options.file).unwrap_or_default();
                let columns =
                    SeriesColumns { names: ColumnNames::of_reading(&options), ..SeriesColumns::of(fitted) };
                let reading = columns.as_the_table_is(options.clone(), header);
                options = columns.options(reading)?.as_written_in(&table, notation_is_said);
            }
            None => {
                let read = wanted.columns.unwrap_or_else(|| [&wanted.hist[..], &known_ahead].concat());
                options.columns = Some(read);
                if !wanted.categories.is_empty() {
                    options.categories = wanted.categories;
                }
            }
        }
        let options = options.max_memory(wanted.most.memory).threads(wanted.most.threads);
        let end = end.as_deref().map(str::parse::<End>).transpose()?;
        let rows = Panel::from_memory(&table, &options);
        let mut told = rows.as_ref().map(notes).unwrap_or_default();
        let with_statics = |panel: Panel| match &statics {
            Some(table) => panel.with_static_memory(table, &options),
            None => Ok(panel),
        };
        let panel = match wanted.fitted {
            Some(fitted) => fitted.completed(rows, end, &options, with_statics)?,
            None => {
                let rows = rows.map_err(|error| ask_for_column(roles.as_ref(), error))?;
                rows.completed(end, &options, with_statics)?.0
            }
        };
        told.extend(panel.notes().iter().map(ToString::to_string));
        Ok(Series {
            name,
            data: table,
            panel,
            options,
            told,
            future,
            statics: static_columns,
            known_ahead,
            end,
        })
    }
}

impl Series {
    /// The future rows, over this many steps.
    pub(crate) fn future(&self, h: usize) -> Result<Option<Future>, Refusal> {
        let read = |table: &MemoryTable| Future::from_memory(table, &self.options, &self.panel, h);
        Ok(self.future.as_ref().map(read).transpose()?)
    }

    /// What was done to the data in the caller's stead, and what models warned of.
    pub(crate) fn told_with(&self, heard: &Heard) -> Vec<String> {
        [self.told.clone(), heard.take()].concat()
    }

    /// The answer that is this table of forecasts of the series.
    pub(crate) fn answer(&self, frame: &Frame, heard: &Heard) -> Value {
        json!({ "table": table(frame, &self.names().target), "told": self.told_with(heard) })
    }

    /// The names of the columns.
    pub(crate) fn names(&self) -> ColumnNames {
        ColumnNames::of_reading(&self.options)
    }
}

/// How the data of the training were read, under their names.
fn in_training(fitted: &Fitted) -> ReadOptions {
    let ColumnNames { id, time, target } = fitted.columns().clone();
    let mut options = fitted.reading().clone().id_col(id).target_col(target);
    options.time_col = Some(time);
    options
}

/// A single series, whose steps are numbered from 1.
fn of_values(values: &[Option<f64>], options: &ReadOptions) -> Result<TableColumns, Refusal> {
    let ColumnNames { time, target, .. } = ColumnNames::of_reading(options);
    let steps: Vec<usize> = (1..=values.len()).collect();
    let columns = json!({ time: steps, target: values });
    serde_json::from_value(columns).map_err(|error| Refusal::request("data", error.to_string()))
}

/// The options with those of the request in place of their own.
fn changed(saved: ReadOptions, fields: Map<String, Value>) -> Result<ReadOptions, Refusal> {
    if fields.is_empty() {
        return Ok(saved);
    }
    let refuse = |error: serde_json::Error| Refusal::request("reading", format!("reading: {error}"));
    let mut all = serde_json::to_value(&saved).map_err(refuse)?;
    let are_numbers_said = fields.contains_key("numbers");
    if let Value::Object(all) = &mut all {
        all.extend(fields);
    }
    let options: ReadOptions = serde_json::from_value(all).map_err(refuse)?;
    let marks = options.numbers;
    Ok(if are_numbers_said { options.numbers(marks.said()) } else { options })
}

/// What was filled in and left out.
fn notes(panel: &Panel) -> Vec<String> {
    let (filled, trimmed) = (panel.filled(), panel.trimmed());
    let mut notes = Vec::new();
    if filled.rows + filled.values > 0 {
        notes.push(format!(
            "{} rows and {} values were missing between others and were filled in",
            filled.rows, filled.values
        ));
    }
    if trimmed.rows > 0 {
        notes.push(format!(
            "{} rows without a value before the first or after the last one that is known were left out: forecasts begin after the last \
             known value",
            trimmed.rows
        ));
    }
    notes
}
