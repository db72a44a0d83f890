//! Errors of a file as a whole, and of the way in which its text is written.

use std::sync::Arc;

use super::place::Place;
use foretell_messages::{Setting, listed};

/// The remedy for a line that is too short because it is none of the table.
fn note_remedy(note: &Option<String>) -> String {
    note.as_ref().map_or_else(String::new, |note| {
        format!("; if it is a note, leave out the lines that begin so ({})", Setting::SkipMatching.to(note))
    })
}

/// A file that is not what it should be.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum UnreadableTable {
    /// A file that is no table of text.
    #[error("{file}: it is no table of text, but {what}")]
    NotText {
        /// The file.
        file: Arc<str>,
        /// What it seems to be, and the remedy.
        what: &'static str,
    },
    /// Fewer lines than are to be skipped.
    #[error(
        "{file}: it has {lines} lines, and {skipped} are to be skipped ({}); skip fewer",
        Setting::SkipRows
    )]
    FewerLines {
        /// The file.
        file: Arc<str>,
        /// Its lines.
        lines: usize,
        /// The lines to be skipped.
        skipped: usize,
    },
    /// A column whose numbers are of different units.
    #[error(
        "{file}: column `{column}` has `{}` in line {} and `{}` in line {}, numbers of different units; write the column in one of \
         them, or give each unit a column or series of its own",
        .cells[0].1, .cells[0].0, .cells[1].1, .cells[1].0
    )]
    MixedUnits {
        /// The file.
        file: Arc<str>,
        /// The column.
        column: String,
        /// The line and the text of the first cell of one unit, and of the first cell of another.
        cells: Box<[(u64, String); 2]>,
    },
    /// Points that may stand between thousands, as each has three digits behind it.
    #[error(
        "{file}, column `{column}`: each point has three digits behind it ({seen}); say whether it is between thousands ({}) or before \
         decimals ({})",
        Setting::Thousands.to('.'),
        Setting::Decimal.to('.')
    )]
    PointsInQuestion {
        /// The file.
        file: Arc<str>,
        /// The column.
        column: String,
        /// The first line with a point.
        line: u64,
        /// What is there, and the reason to ask.
        seen: String,
    },
    /// Compressed text that is damaged, or hostile.
    #[error("{file}: {reason}")]
    #[strum(serialize = "damaged_compression")]
    Compressed {
        /// The file.
        file: Arc<str>,
        /// The fault, and the remedy.
        reason: String,
    },
    /// JSON that is damaged, or no table.
    #[error(
        "{file}: it is no table of JSON ({reason}); write a row in each line, as {{\"ds\": \"2024-01-31\", \"y\": 5}}, or a list of such rows"
    )]
    #[strum(serialize = "damaged_json")]
    Json {
        /// The file.
        file: Arc<str>,
        /// The fault.
        reason: String,
    },
    /// A folder or a pattern without files.
    #[error(
        "{path}: there is no file of a known kind; name files, a folder that holds some, or a pattern that fits some"
    )]
    NoFiles {
        /// The folder or pattern.
        path: String,
    },
    /// Files of one table whose columns differ.
    #[error(
        "{file}: it has {} column `{column}`, which {other} {}; all files of a table need the same columns",
        if *.has { "a" } else { "no" },
        if *.has { "has not" } else { "has" }
    )]
    #[strum(serialize = "unlike_columns")]
    Columns {
        /// The file.
        file: Arc<str>,
        /// The file before it.
        other: Arc<str>,
        /// A column that one of them has,
        column: String,
        /// and whether it is `file`.
        has: bool,
    },
    /// A line has more or fewer fields than the header.
    #[error(
        "{at}: {found} fields where the header has {expected}; complete the line, or quote the \
         fields that contain the separator {separator:?}{}",
        note_remedy(.note)
    )]
    Ragged {
        /// The line.
        at: Place,
        /// Fields of the header.
        expected: usize,
        /// Fields of the line.
        found: usize,
        /// The separator in use.
        separator: char,
        /// The word with which the line begins, if it could be a note.
        note: Option<String>,
    },
    /// A quote that takes the rest of the file into one field.
    #[error(
        "{at}: the quote before {text:?} is never closed; close it, or double it if it belongs to the text"
    )]
    UnclosedQuote {
        /// The line of the quote.
        at: Place,
        /// The text that follows it in the line, cut short if long.
        text: String,
    },
    /// The text is neither UTF-8 nor of an encoding that is recognised.
    #[error(
        "{at}: text that is not UTF-8; say which encoding it has ({}), or save the file as UTF-8",
        Setting::Encoding
    )]
    NotUtf8 {
        /// The line.
        at: Place,
    },
    /// Text that has not the encoding that someone said it has.
    #[error("{file}: its text is not {encoding}; say which encoding it has ({})", Setting::Encoding)]
    #[strum(serialize = "wrong_encoding")]
    Encoding {
        /// The file.
        file: Arc<str>,
        /// The encoding that was said.
        encoding: String,
    },
    /// A column across that is a time in another language.
    #[error("{file}: the column `{column}` stands among times: {readings}; if it is none, rename it")]
    MonthAcross {
        /// The file.
        file: Arc<str>,
        /// The column.
        column: String,
        /// How it reads.
        readings: String,
    },
    /// A table without columns across.
    #[error("{file}: its header names no columns that are {what}; it has {}", listed(.columns))]
    NothingAcross {
        /// The file.
        file: Arc<str>,
        /// The missing thing.
        what: &'static str,
        /// The columns there are.
        columns: Vec<String>,
    },
    /// Columns of the parts of a year in a table with a row for each year, whose rows are no series.
    #[error(
        "{file}: the columns {first} to {last} look like the {parts} of a year, of which each row is one, so that a series would end with its \
         year; write a row for each of them, with its time, or its number, counted on from year to year"
    )]
    YearsAcross {
        /// The file.
        file: Arc<str>,
        /// What the parts are.
        parts: &'static str,
        /// The first of the columns,
        first: String,
        /// and the last one.
        last: String,
    },
    /// More columns of hours than a day of 24 hours has.
    #[error(
        "{file}: {} go on behind the columns of a day of 24 hours, as where clocks are changed; if hours are counted through the day, say so, \
         and name the zone ({} and {}); if one of them is the second of two hours of one number, write a row for each date and hour, as 2A and \
         2B, and read the two as the time ({}), with the zone",
        listed(.columns), Setting::Hours.to("counted"), Setting::Zone.to("Europe/Berlin"), Setting::TimeColumns.to("date,hour")
    )]
    BeyondDay {
        /// The file.
        file: Arc<str>,
        /// The columns.
        columns: Vec<String>,
    },
    /// An id of several columns that can be taken apart in two ways.
    #[error(
        "{at}: the columns that make the id give `{id}`, as do other cells of another row, whose parts end elsewhere; write another character \
         than `/` in them"
    )]
    UnclearId {
        /// The second row.
        at: Place,
        /// The id.
        id: String,
    },
    /// A workbook that is damaged, or none.
    #[error("{file}: it is no workbook that can be read ({reason}); save it again, or as CSV")]
    #[strum(serialize = "damaged_workbook")]
    Workbook {
        /// The file.
        file: Arc<str>,
        /// The fault.
        reason: String,
    },
    /// A sheet that the workbook has not.
    #[error("{file} has no sheet `{sheet}`; it has {}", listed(.sheets))]
    NoSheet {
        /// The file.
        file: Arc<str>,
        /// The sheet that was named.
        sheet: String,
        /// The sheets that it has.
        sheets: Vec<String>,
    },
    /// A line that sums up others.
    #[error(
        "{at}: this line has no time, and begins with {first:?}; if it sums up others, leave such lines out ({})",
        Setting::SkipMatching.to(first)
    )]
    #[strum(serialize = "summary_row")]
    Summary {
        /// The line.
        at: Place,
        /// Its first cell.
        first: String,
    },
    /// A Parquet file that is damaged, or holds types that are not read here.
    #[error("{file}: {reason}; write the file again, compressed by another codec than LZO or not at all")]
    #[strum(serialize = "damaged_parquet")]
    Parquet {
        /// The file.
        file: Arc<str>,
        /// The fault.
        reason: String,
    },
    /// Periods of pandas, of which a Parquet file has the numbers alone.
    #[error(
        "{file}, column `{column}`: its integers number periods of pandas, which are not read; make them times \
         (`.dt.to_timestamp()`) and write the file again"
    )]
    NumberedPeriods {
        /// The file.
        file: Arc<str>,
        /// The column.
        column: String,
    },
    /// A stream or file of Arrow's that is damaged.
    #[error(
        "{file}: it is no stream or file of Arrow's that can be read ({reason}); write it again, or as Parquet"
    )]
    #[strum(serialize = "damaged_arrow_stream")]
    ArrowStream {
        /// The stream.
        file: Arc<str>,
        /// The fault.
        reason: String,
    },
    /// A file of a format that this program was built without.
    #[error(
        "{file}: this program was built without {format} files; build it with the feature `{feature}`, or convert the file \
         to CSV"
    )]
    #[strum(serialize = "format_not_built")]
    NotBuilt {
        /// The file.
        file: Arc<str>,
        /// Its format.
        format: &'static str,
        /// The feature that is off.
        feature: &'static str,
    },
    /// Record batches of different columns.
    #[error(
        "{table}: batch {batch} has the columns {}, but the first one {}; give all the same",
        listed(.found),
        listed(.expected)
    )]
    #[strum(serialize = "unlike_batches")]
    Batches {
        /// The table.
        table: Arc<str>,
        /// The batch, from 0.
        batch: usize,
        /// The columns of the first batch.
        expected: Vec<String>,
        /// Its columns.
        found: Vec<String>,
    },
}
