//! Everything that can be wrong with a table, whatever its rows are.

pub(crate) mod cell;
pub(crate) mod column;
pub(crate) mod construct;
pub(crate) mod file;
pub(crate) mod flaw;
pub(crate) mod place;
pub(crate) mod settings;
pub(crate) mod too_large;
pub(crate) mod whereabouts;

use std::io;
use std::sync::Arc;

use crate::error::cell::CellError;
use crate::error::column::ColumnError;
use crate::error::file::UnreadableTable;
use crate::error::settings::SettingError;
use crate::error::too_large::TooLarge;
use crate::error::whereabouts::Whereabouts;
use foretell_calendar::CalendarError;

/// A mistake in a table or in how it is to be read; says what was expected, what was found, where, and what to do.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum TableError {
    /// The file cannot be read.
    #[error("{file}: {source}; check the path and its permissions")]
    #[strum(serialize = "cannot_read_file")]
    Read {
        /// The file.
        file: Arc<str>,
        /// The system's reason.
        source: io::Error,
    },
    /// A file that is not what it should be.
    #[error(transparent)]
    Unreadable(#[from] UnreadableTable),
    /// The output cannot be written.
    #[error("cannot write the table: {0}")]
    #[strum(serialize = "cannot_write_table")]
    Write(#[source] io::Error),
    /// The file has no header.
    #[error("{file} is empty; expected a header such as `unique_id,ds,y` and a line per row")]
    #[strum(serialize = "empty_file")]
    Empty {
        /// The file.
        file: Arc<str>,
    },
    /// A column that a table lacks, or that is not what it should be.
    #[error(transparent)]
    Column(#[from] ColumnError),
    /// A word that names no frequency, zone or format of times.
    #[error(transparent)]
    Calendar(#[from] CalendarError),
    /// A table that is larger than it may be.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// A table that was not read to its end, as no one waits for it any more (`foretell_threads::while_wanted`).
    #[error("the reading was given up, since no one waits for it any more; ask again")]
    NotWanted,
    /// A cell that is not what it should be.
    #[error(transparent)]
    Cell(#[from] CellError),
    /// Slices that belong together differ in length.
    #[error("{what}: {found} values where {expected} are expected, one per row")]
    #[strum(serialize = "unequal_lengths")]
    Length {
        /// The slice.
        what: String,
        /// Length of its companions.
        expected: usize,
        /// Its length.
        found: usize,
    },
    /// A table that is not laid out as it was read.
    #[error("{error}; {hint}")]
    #[strum(serialize = "other_layout")]
    LaidOut {
        /// The error of reading it as it was.
        error: Box<TableError>,
        /// How it seems to be laid out, and what says so.
        hint: String,
    },
    /// A setting of a value that it cannot have.
    #[error(transparent)]
    Settings(#[from] SettingError),
}

impl TableError {
    /// Where the mistake is.
    pub fn whereabouts(&self) -> Whereabouts {
        match self {
            Self::Unreadable(error) => error.whereabouts(),
            Self::TooLarge(error) => error.whereabouts(),
            Self::Column(error) => error.whereabouts(),
            Self::Cell(error) => error.whereabouts(),
            Self::LaidOut { error, .. } => error.whereabouts(),
            Self::Read { file, .. } | Self::Empty { file } => Whereabouts::file(file),
            Self::Write(_)
            | Self::Calendar(_)
            | Self::NotWanted
            | Self::Length { .. }
            | Self::Settings(_) => Whereabouts::default(),
        }
    }
}
