//! Tables of any file read row by row, and the guards against files that are damaged or hostile.

pub(crate) mod across;
mod adapter;
mod adorned;
#[cfg(feature = "parquet")]
mod arrow_bytes;
#[cfg(feature = "parquet")]
mod arrow_cells;
#[cfg(feature = "parquet")]
mod arrow_messages;
#[cfg(feature = "parquet")]
mod arrow_stream;
#[cfg(feature = "parquet")]
pub(crate) mod arrow_table;
mod below_header;
pub(crate) mod block_ids;
mod blocks;
#[cfg(any(feature = "excel", feature = "parquet"))]
mod catch_panic;
mod columns_table;
pub(crate) mod compressed;
pub(crate) mod day_clock;
mod decoded;
pub(crate) mod file_options;
pub(crate) mod file_part;
mod footers;
pub(crate) mod format;
mod header_search;
mod joined_head;
pub(crate) mod joined_ids;
pub(crate) mod joined_times;
pub(crate) mod json_rows;
pub(crate) mod layout;
pub(crate) mod memory_table;
#[cfg(feature = "excel")]
mod merged_cells;
pub(crate) mod missing_marks;
mod notes_of_files;
pub(crate) mod number_flags;
pub(crate) mod number_format;
pub(crate) mod open;
mod other_kinds;
#[cfg(feature = "parquet")]
mod page_headers;
pub(crate) mod pipes;
#[cfg(feature = "parquet")]
mod plain_cells;
mod points;
pub(crate) mod read_note;
mod records;
#[cfg(feature = "parquet")]
mod row_groups;
mod seekable;
mod several;
mod shared_bytes;
pub(crate) mod sheets;
#[cfg(feature = "excel")]
mod spanned_cells;
pub(crate) mod table;
pub(crate) mod table_columns;
pub(crate) mod table_files;
pub(crate) mod text_table;
pub(crate) mod told_text;
mod units;
#[cfg(feature = "excel")]
mod workbook;
#[cfg(feature = "excel")]
mod workbook_sizes;
pub(crate) mod year_months;
pub(crate) mod year_parts;
mod zip_text;
