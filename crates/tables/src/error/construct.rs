//! Constructors of errors, from the values at hand where the mistake is found.

use std::fmt;
use std::sync::Arc;

use foretell_threads::is_wanted;

use super::DataError;
use super::remedies::ColumnRemedy;
use foretell_messages::nearest;

/// Whether anyone still waits for what is read.
pub fn check_wanted() -> Result<(), DataError> {
    if is_wanted() { Ok(()) } else { Err(DataError::NotWanted) }
}

impl DataError {
    /// A column that `table` lacks, with the nearest name that it has and the remedy.
    pub fn missing_column<'a>(
        table: &Arc<str>,
        column: &str,
        available: impl Iterator<Item = &'a str> + Clone,
        remedy: impl Into<ColumnRemedy>,
    ) -> Self {
        Self::MissingColumn {
            table: table.clone(),
            column: column.to_owned(),
            nearest: nearest(column, available.clone()),
            available: available.map(str::to_owned).collect(),
            remedy: remedy.into(),
        }
    }

    /// A setting of a value that it cannot have: what was found, and what is expected.
    pub fn setting(name: &'static str, found: impl fmt::Display, expected: impl Into<String>) -> Self {
        Self::Setting { name, found: found.to_string(), expected: expected.into() }
    }

    /// The same where the frequency was that of trained models: no other can be set.
    pub fn of_trained(mut self) -> Self {
        match &mut self {
            Self::Gap(gap) => gap.trained = true,
            Self::FreqKind { trained, .. } => *trained = true,
            _ => {}
        }
        self
    }
}
