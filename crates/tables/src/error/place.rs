//! Where in a table something is wrong.

use std::fmt;
use std::sync::Arc;

/// Where a row came from: the line of a text file (from 1), or the row of any other table (from 0).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, or nothing when the rows came from slices.
    pub file: Option<Arc<str>>,
    /// Whether `row` is a line of text.
    pub line: bool,
    /// The series, when the rows came from slices, or there is one row of it.
    pub series: Option<Arc<str>>,
    /// Line of the file, from 1, or index of the row, from 0; in slices, index among the rows of the series.
    pub row: u64,
}

impl Place {
    /// A row of slices, from 0.
    pub fn row(row: usize) -> Self {
        Self { file: None, line: false, series: None, row: row as u64 }
    }

    /// A row of slices, from 0 among those of its series.
    pub fn of_series(id: &Arc<str>, row: usize) -> Self {
        Self { series: Some(id.clone()), ..Self::row(row) }
    }

    /// Whether the row came from slices, in a program that has no flags of a command line.
    pub fn in_slices(&self) -> bool {
        self.file.is_none()
    }

    /// The row without its series, for a sentence that has named it.
    pub fn after_its_series(&self) -> String {
        match self.series {
            Some(_) => format!("row {}", self.row),
            None => self.to_string(),
        }
    }

    /// The row and its series, as the beginning of a sentence.
    pub fn and_series(&self, id: &str) -> String {
        match &self.series {
            Some(_) => format!("{self}: it"),
            None => format!("{self}: series `{id}`"),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}, ")?;
        } else if let Some(id) = &self.series {
            write!(f, "series `{id}`, ")?;
        }
        write!(f, "{} {}", if self.line { "line" } else { "row" }, self.row)
    }
}
