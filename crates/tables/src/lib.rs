//! Tables of any file, read row by row; tables of forecasts, and how they are written; and all that can be wrong with them.
//!
//! A [`TableReader`] is a table of rows whatever file it is in: text in any encoding and compression, Parquet, Arrow, workbooks, or
//! memory. Columns are found by name; ids, times and numbers are asked of a row, and whatever is wrong with one is a [`TableError`] with file,
//! line and column. [`open`] chooses the reader by the name and the first bytes of a file. A [`Frame`] is a table that goes out, whose
//! columns say what they hold ([`ForecastColumn`]); a [`FileFormat`] writes it.
//!
//! # Features
//!
//! * `parquet`, off by default: Parquet files, Arrow record batches and text in zstd. It takes long to build and compiles
//!   zstd, which is C.
//! * `excel`, off by default: workbooks of Excel and OpenDocument.

#![forbid(unsafe_code)]

mod error;
mod frames;
mod readers;

/// The form in which tables come in and go out, beside files.
#[cfg(feature = "parquet")]
pub use arrow_array::RecordBatch;
pub use error::TableError;
pub use error::cell::CellError;
pub use error::column::{ColumnError, ColumnRemedy, ColumnRoles, UnclearColumn};
pub use error::construct::check_wanted;
pub use error::file::UnreadableTable;
pub use error::flaw::Flaw;
pub use error::place::Place;
pub use error::settings::SettingError;
pub use error::too_large::TooLarge;
pub use error::whereabouts::Whereabouts;
#[cfg(feature = "parquet")]
pub use frames::batch::ParquetWriter;
pub use frames::cells::{CellTable, Cells};
pub use frames::forecast_column::{AnomalyMark, ColumnPart, ForecastColumn, SAMPLE_ID};
pub use frames::frame::{Frame, FrameWriter};
pub use frames::models::{KnownColumns, ModelInTable};
pub use frames::write::CsvWriter;
pub use readers::across::{LongNames, MeltedTable, times_of};
#[cfg(feature = "parquet")]
pub use readers::arrow_table::ArrowTable;
pub use readers::block_ids::BlockIds;
pub use readers::compressed::unpacked_beginning;
pub use readers::day_clock::{Hours, steps_of_day};
pub use readers::file_options::{Encoding, FileOptions};
pub use readers::file_part::FilePart;
pub use readers::format::{FileFormat, TableOutput};
pub use readers::joined_ids::{
    JoinedIds, cells_of_id, id_name, id_parts, is_of_id, joined_cells, joined_ids,
};
pub use readers::joined_times::JoinedTimes;
pub use readers::json_rows::is_json_by_columns;
pub use readers::layout::Across;
pub use readers::memory_table::MemoryTable;
pub use readers::missing_marks::{MarkedTable, Marks};
pub use readers::number_format::{NumberFormat, narrow};
pub use readers::open::{check_sizes, column_names, open};
pub use readers::pipes::{is_pipe, keep_beginnings_of_pipes};
pub use readers::read_note::ReadNote;
pub use readers::sheets::Sheets;
pub use readers::table::{ID, TableReader};
pub use readers::table_columns::TableColumns;
pub use readers::table_files::table_files;
pub use readers::text_table::TextTable;
pub use readers::told_text::open_input;
pub use readers::year_months::named_months;
pub use readers::year_parts::{is_called_year, parts_of_year};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
