//! Everything that can be wrong with data that a user hands in.

pub(crate) mod file_clocks;
pub(crate) mod files;
pub(crate) mod future;
pub(crate) mod misread;
pub(crate) mod series;
pub(crate) mod steps;
pub(crate) mod windows;

use std::fmt;
use std::sync::Arc;

use foretell_calendar::CalendarError;
use foretell_tables::{
    CellError, ColumnError, SettingError, TableError, TooLarge, UnreadableTable, Whereabouts,
};

use crate::error::files::FilesError;
use crate::error::future::FutureError;
use crate::error::misread::MisreadTable;
use crate::error::series::SeriesError;
use crate::error::steps::StepError;
use crate::error::windows::WindowError;

/// A mistake in data, settings or files; says what was expected, what was found, where, and what to do.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum DataError {
    /// A table that is not what it should be, whatever its rows are.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A table whose rows tell that it is meant otherwise than it was read.
    #[error(transparent)]
    Misread(#[from] MisreadTable),
    /// Files that are not read one after another, or by several processes together.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// Series, or rows of them, that are not there, or are there twice.
    #[error(transparent)]
    Series(#[from] SeriesError),
    /// There is a header, or a builder, but no row.
    #[error("{table} has no rows; expected one per series and time")]
    NoRows {
        /// The file or "the panel".
        table: Arc<str>,
    },
    /// Times that are no steps of a frequency.
    #[error(transparent)]
    Steps(#[from] StepError),
    /// Data that are not laid out as they were read.
    #[error("{error}; {hint}")]
    #[strum(serialize = "other_layout")]
    LaidOut {
        /// The error of reading them as they were.
        error: Box<DataError>,
        /// How they seem to be laid out, and what says so.
        hint: String,
    },
    /// Rows of the future that are missing, or too many.
    #[error(transparent)]
    Future(#[from] FutureError),
    /// Series from which no window to train on can be cut, or none that teaches enough.
    #[error(transparent)]
    Windows(#[from] WindowError),
}

/// Errors of tables are errors of data.
macro_rules! of_tables {
    ($($error:ty),+) => {
        $(impl From<$error> for DataError {
            fn from(error: $error) -> Self {
                TableError::from(error).into()
            }
        })+
    };
}

of_tables!(CalendarError, CellError, ColumnError, SettingError, TooLarge, UnreadableTable);

impl DataError {
    /// A time of this series that is outside the calendar, or would be.
    pub fn time_range(id: impl fmt::Display) -> Self {
        Self::Steps(StepError::TimeRange { id: id.to_string() })
    }

    /// The same where the frequency was that of trained models: no other can be set.
    pub fn of_trained(mut self) -> Self {
        match &mut self {
            Self::Steps(StepError::Gap(gap)) => gap.trained = true,
            Self::Steps(StepError::FreqKind { trained, .. }) => *trained = true,
            _ => {}
        }
        self
    }

    /// Where the mistake is.
    pub fn whereabouts(&self) -> Whereabouts {
        match self {
            Self::Table(error) => error.whereabouts(),
            Self::Misread(error) => error.whereabouts(),
            Self::Files(error) => error.whereabouts(),
            Self::Series(error) => error.whereabouts(),
            Self::Steps(error) => error.whereabouts(),
            Self::Future(error) => error.whereabouts(),
            Self::Windows(error) => error.whereabouts(),
            Self::LaidOut { error, .. } => error.whereabouts(),
            Self::NoRows { table } => Whereabouts::file(table),
        }
    }
}
