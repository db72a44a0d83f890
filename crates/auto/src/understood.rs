//! What was understood of a table, and the rows that show it: what people see of their data before a forecast.

use foretell::{Frame, MemoryTable, Panel, ReadOptions};
use serde::Serialize;

use crate::season::seasons;

/// How the series of a table were read.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Understood {
    /// The column of the ids; nothing where there is none, and one series or a series in each column.
    pub id_col: Option<String>,
    /// The column of the times; nothing where they are no single column.
    pub time_col: Option<String>,
    /// The column of the values; nothing where a series is a column or a row.
    pub target_col: Option<String>,
    /// All columns of the data.
    pub columns: Vec<String>,
    /// Those of a long table that were not read.
    pub unread: Vec<String>,
    /// The frequency.
    pub freq: String,
    /// The seasons that the series show or the calendar has, in steps, the main one first; 1 for none.
    pub seasons: Vec<usize>,
    /// Series,
    pub series: usize,
    /// all of their rows,
    pub rows: usize,
    /// and those of the shortest.
    pub fewest: usize,
    /// What was noted as they were read, in words.
    pub notes: Vec<String>,
}

impl Understood {
    /// How `data` were read as this panel.
    pub fn of(data: &MemoryTable, panel: &Panel, options: &ReadOptions) -> Self {
        let columns = data.column_names(&options.file).unwrap_or_default();
        let there = |name: &str| columns.iter().find(|column| *column == name).cloned();
        let is_long = options.is_long();
        // The times of a wide table stand first, those of any other are told by the reader where no column is called so.
        let first = || columns.first().filter(|_| options.wide).cloned();
        let id_col = there(&options.id_col).filter(|_| is_long);
        let time_col = there(options.time_col.as_deref().unwrap_or("ds")).or_else(first);
        let target_col = there(&options.target_col).filter(|_| is_long);
        Self {
            unread: listed(&options.unread_columns(&columns)),
            freq: panel.freq().to_string(),
            seasons: seasons(panel),
            series: panel.n_series(),
            rows: panel.n_rows(),
            fewest: panel.min_len(),
            notes: panel.notes().iter().map(ToString::to_string).collect(),
            id_col,
            time_col,
            target_col,
            columns: listed(&columns),
        }
    }
}

/// The most columns that are listed, and the most bytes of the name of one: an answer repeats no table, whatever that holds.
const MOST_COLUMNS: usize = 1000;
const MOST_NAME: usize = 200;

/// Names of columns as answers list them: at most 1000, and none of more than 200 bytes.
pub fn listed(columns: &[String]) -> Vec<String> {
    columns.iter().filter(|name| name.len() <= MOST_NAME).take(MOST_COLUMNS).cloned().collect()
}

/// Rows that are shown of all series, and those of each: of many series the first ones are shown.
const MOST_ROWS: usize = 50_000;
const ROWS: [usize; 2] = [50, 1000];

/// The last rows of each series, 50 to 1000 of each and 50 000 of all: of many series those of the first ones.
pub fn last_rows(panel: &Panel, options: &ReadOptions) -> Frame {
    let of_each = (MOST_ROWS / panel.n_series().max(1)).clamp(ROWS[0], ROWS[1]);
    let shown = 0..panel.n_series().min(MOST_ROWS / of_each);
    let mut frame = Frame::new(panel.freq());
    frame.id_col.clone_from(&options.id_col);
    frame.time_col = options.time_col.clone().unwrap_or(frame.time_col);
    frame.zone = panel.zone().cloned();
    frame.integer_ids = panel.has_integer_ids();
    let mut values = Vec::new();
    for series in shown {
        let len = panel.len(series);
        let rows = len - len.min(of_each)..len;
        frame.ids.extend(rows.clone().map(|_| panel.id(series).clone()));
        frame.times.extend(rows.clone().map(|row| panel.time(series, row)));
        values.extend(panel.known_values(series, rows));
    }
    frame.push_wide(&options.target_col, values, panel.has_levels());
    frame
}
