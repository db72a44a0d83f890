//! Tables that are larger than they may be.

use std::sync::Arc;

use crate::error::place::Place;
use foretell_messages::Setting;

/// A table that is larger than it may be; said before it is read whole.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum TooLarge {
    /// A line of more columns than a table may have.
    #[error(
        "{file}: a line holds over {most} columns, the most that a table may have; check that it is CSV with one \
         line per row"
    )]
    #[strum(serialize = "too_many_columns")]
    Columns {
        /// The file.
        file: Arc<str>,
        /// The most that a table may have.
        most: usize,
    },
    /// A row without an end.
    #[error(
        "{file}: the row after line {after} is longer than {} MB, the most that a row may have; check that it is a table of \
         text, and that each quote is closed", .most / 1_000_000
    )]
    #[strum(serialize = "row_too_long")]
    Record {
        /// The file.
        file: Arc<str>,
        /// The line of the row before it; 0 if it is the header.
        after: u64,
        /// Bytes that a row may have.
        most: usize,
    },
    /// A series whose id is longer than any name.
    #[error(
        "{at}: the id of a series has {bytes} bytes, and it may have {most}; check which column has the ids ({})",
        Setting::IdColumn
    )]
    #[strum(serialize = "id_too_long")]
    Id {
        /// The row.
        at: Place,
        /// Bytes of the id.
        bytes: usize,
        /// Bytes that it may have.
        most: usize,
    },
    /// A column whose name is longer than any name.
    #[error(
        "{file}: the name of column {number} has {bytes} bytes, and it may have {most}; check that the table begins with its header"
    )]
    #[strum(serialize = "column_name_too_long")]
    ColumnName {
        /// The file.
        file: Arc<str>,
        /// The position of the column, from 1.
        number: usize,
        /// Bytes of the name.
        bytes: usize,
        /// Bytes that it may have.
        most: usize,
    },
    /// A file that is read into memory as a whole, and takes more than it may.
    #[error(
        "{file}: it takes {} MB of memory, since it is read as a whole, and the limit is {} MB; write it as Parquet or CSV, which are \
         read in parts, or raise the limit ({})",
        .needed.map_or_else(
            || format!("more than {}", .limit / 1_000_000),
            |needed| needed.div_ceil(1_000_000).to_string()
        ),
        .limit / 1_000_000, Setting::MaxMemory
    )]
    #[strum(serialize = "file_too_large")]
    Stream {
        /// The file.
        file: Arc<str>,
        /// Bytes that it takes; nothing of one whose end was not read.
        needed: Option<u64>,
        /// Bytes that it may take.
        limit: u64,
    },
    /// A table of more rows than it may have.
    #[error(
        "{table}: over {most} rows, the most that it may have; leave series or the rows of long ago out, or raise the limit"
    )]
    #[strum(serialize = "too_many_rows")]
    Rows {
        /// The file or "the panel".
        table: Arc<str>,
        /// The most that it may have.
        most: usize,
        /// Rows that it has, or those that were read when there were too many.
        found: usize,
    },
    /// A table that takes more memory than it may.
    #[error(
        "{table}: its first {rows} rows take {} MB of memory, and the limit is {} MB; leave columns or series out, or \
         raise the limit ({})",
        .needed / 1_000_000, .limit / 1_000_000, Setting::MaxMemory
    )]
    #[strum(serialize = "table_too_large")]
    Memory {
        /// The file or "the panel".
        table: Arc<str>,
        /// Rows that were read.
        rows: usize,
        /// Bytes that they take.
        needed: u64,
        /// Bytes that they may take.
        limit: u64,
    },
}
