//! Constructors of errors, from the values at hand where the mistake is found.

use std::fmt;
use std::sync::Arc;

use foretell_calendar::TimeFlaw;
use foretell_threads::is_wanted;

use super::TableError;
use super::cell::CellError;
use super::column::{ColumnError, ColumnRemedy};
use super::flaw::Flaw;
use super::place::Place;
use super::settings::SettingError;
use foretell_messages::nearest;

/// Whether anyone still waits for what is read.
pub fn check_wanted() -> Result<(), TableError> {
    if is_wanted() { Ok(()) } else { Err(TableError::NotWanted) }
}

impl TableError {
    /// A column that `table` lacks, with the nearest name that it has and the remedy.
    pub fn missing_column<'a>(
        table: &Arc<str>,
        column: &str,
        available: impl Iterator<Item = &'a str> + Clone,
        remedy: impl Into<ColumnRemedy>,
    ) -> Self {
        Self::Column(ColumnError::Missing {
            table: table.clone(),
            column: column.to_owned(),
            nearest: nearest(column, available.clone()),
            available: available.map(str::to_owned).collect(),
            remedy: remedy.into(),
        })
    }

    /// A cell that is not the number it should be.
    pub fn bad_value(at: Place, column: impl Into<String>, value: impl fmt::Display, flaw: Flaw) -> Self {
        Self::Cell(CellError::Value { at, column: column.into(), value: value.to_string(), flaw })
    }

    /// A cell that is not the time it should be.
    pub fn bad_time(at: Place, column: impl Into<String>, value: String, why: TimeFlaw) -> Self {
        Self::Cell(CellError::Time { at, column: column.into(), value, why: Box::new(why) })
    }

    /// A setting of a value that it cannot have: what was found, and what is expected.
    pub fn setting(name: &'static str, found: impl fmt::Display, expected: impl Into<String>) -> Self {
        Self::Settings(SettingError::OutOfRange { name, found: found.to_string(), expected: expected.into() })
    }
}
