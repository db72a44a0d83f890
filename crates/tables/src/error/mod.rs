//! Everything that can be wrong with data that a user hands in.

pub(crate) mod construct;
pub(crate) mod early_ends;
pub(crate) mod file;
pub(crate) mod flaw;
pub(crate) mod place;
pub(crate) mod remedies;
pub(crate) mod too_large;
pub(crate) mod unclear_column;
pub(crate) mod untaught_steps;
pub(crate) mod whereabouts;

use std::io;
use std::sync::Arc;

use crate::error::early_ends::{EarlyEnds, early_ends_remedy};
use crate::error::file::UnreadableTable;
use crate::error::flaw::{Flaw, Gap};
use crate::error::place::Place;
use crate::error::remedies::{ColumnRemedy, Repeated, no_windows_remedy, too_short_remedy, unread_time};
use crate::error::too_large::TooLarge;
use crate::error::unclear_column::UnclearColumn;
use crate::error::untaught_steps::UntaughtSteps;
use foretell_calendar::{CalendarError, Freq, IntegerFormat, TimeFlaw, TimeKind};
use foretell_messages::{Setting, did_you_mean, listed};

/// A mistake in data, settings or files; says what was expected, what was found, where, and what to do.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum DataError {
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
    /// A series that the panel does not have.
    #[error("the panel has no series `{id}`{}", did_you_mean(.nearest))]
    UnknownSeries {
        /// The series that was looked for.
        id: String,
        /// The one it may be a slip of.
        nearest: Option<String>,
    },
    /// A series without a row, which would vanish.
    #[error("series `{id}` has no rows; give it some, or leave it out")]
    EmptySeries {
        /// The series.
        id: String,
    },
    /// There is a header, or a builder, but no row.
    #[error("{table} has no rows; expected one per series and time")]
    NoRows {
        /// The file or "the panel".
        table: Arc<str>,
    },
    /// A column that is needed is not there.
    #[error("{table} has no column `{column}`{}; it has {}", did_you_mean(.nearest), remedies::columns_and_remedy(.available, .remedy))]
    MissingColumn {
        /// The file or table.
        table: Arc<str>,
        /// The column that was looked for.
        column: String,
        /// The column it may be a slip of.
        nearest: Option<String>,
        /// The columns there are.
        available: Vec<String>,
        /// The remedy.
        remedy: ColumnRemedy,
    },
    /// Several columns may be the one that is needed.
    #[error("{0}")]
    UnclearColumn(Box<UnclearColumn>),
    /// A column that has another meaning.
    #[error("{table}: column `{column}` holds {what} and cannot be exogenous as well; leave it out")]
    TakenColumn {
        /// The file or table.
        table: Arc<str>,
        /// The column.
        column: String,
        /// Its meaning.
        what: &'static str,
    },
    /// Two columns have the same name.
    #[error("{table}: column `{column}` appears twice; rename or remove one of them")]
    DuplicateColumn {
        /// The file or table.
        table: Arc<str>,
        /// The name.
        column: String,
    },
    /// A word that names no frequency, zone or format of times.
    #[error(transparent)]
    Calendar(#[from] CalendarError),
    /// A table that is larger than it may be.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// A table that was not read to its end, as no one waits for it any more (`foretell_threads::while_wanted`).
    #[error("the reading was given up, since no one waits for it any more; ask again")]
    NotWanted,
    /// A wide file has no column but that of the times.
    #[error(
        "{0} has no column beside that of the times; a wide file has one for each series: add them, or read it as long"
    )]
    NoSeries(Arc<str>),
    /// A column of a wide file has no name.
    #[error(
        "{at}: column {number} has values but no name; in a wide file each column after the time is a \
         series: name it in the header or remove it"
    )]
    UnnamedColumn {
        /// A row that has a value in it.
        at: Place,
        /// Its position, from 1.
        number: usize,
    },
    /// A cell is not the number it should be.
    #[error("{at}, column `{column}`: {value:?} {}", .flaw.at(.at))]
    BadValue {
        /// The row.
        at: Place,
        /// The column.
        column: String,
        /// The cell, cut short if long.
        value: String,
        /// The flaw of the cell.
        flaw: Flaw,
    },
    /// A column of categories that is used as one of numbers.
    #[error(
        "column `{column}` holds categories, which only models see that embed them; list it in cat_exog_list"
    )]
    #[strum(serialize = "categories_as_numbers")]
    Labels {
        /// The column.
        column: String,
    },
    /// A series id is empty.
    #[error("{at}, column `{column}`: the id is empty; name the series")]
    EmptyId {
        /// The row.
        at: Place,
        /// The id column.
        column: String,
    },
    /// A series id that would be cut short, or take a file for text that is none.
    #[error(
        "{at}, column `{column}`: the id has a character of code 0 in it; save the file as text in UTF-8"
    )]
    NulInId {
        /// The row.
        at: Place,
        /// The id column.
        column: String,
    },
    /// A cell is not the time it should be.
    #[error("{at}, column `{column}`: {value:?} {}", unread_time(.value, **.why))]
    BadTime {
        /// The row.
        at: Place,
        /// The time column.
        column: String,
        /// The cell, cut short if long.
        value: String,
        /// The flaw of the time, and what to write.
        why: Box<TimeFlaw>,
    },
    /// Times that are integers could be dates or step numbers, and no option says which.
    #[error("{table}, column `{column}`: all times are integers that look like {format}")]
    IntegerDates {
        /// The file or table.
        table: Arc<str>,
        /// The time column.
        column: String,
        /// The format that they fit.
        format: IntegerFormat,
    },
    /// Two rows have the same id and time.
    #[error(
        "{} has {time} already ({}); keep one of the two rows{}",
        .at.and_series(.id), .earlier.after_its_series(),
        if .at.in_slices() { String::new() } else { .remedy.others(true, .at.file != .earlier.file) }
    )]
    DuplicateRow {
        /// The later row.
        at: Box<Place>,
        /// The earlier row.
        earlier: Box<Place>,
        /// The series.
        id: String,
        /// The time.
        time: String,
        /// Where they stand.
        remedy: Repeated,
    },
    /// Two rows have the same time, in a table without ids.
    #[error(
        "{at}: {time} is there already ({earlier}), and no column `{id_col}` says which series a row belongs to; keep \
         one of the two rows{}, or, if these are several series, say which column has their ids ({}); the columns are {}",
        .remedy.others(.columns.len() == 2, .at.file != .earlier.file), Setting::IdColumn, listed(.columns)
    )]
    DuplicateTime {
        /// The later row.
        at: Box<Place>,
        /// The earlier row.
        earlier: Box<Place>,
        /// The time.
        time: String,
        /// Where they stand.
        remedy: Repeated,
        /// The column of ids that would be read.
        id_col: String,
        /// The columns there are.
        columns: Vec<String>,
    },
    /// A row is not the next step of its series.
    #[error("{0}")]
    Gap(Box<Gap>),
    /// The frequency cannot be told from the data.
    #[error(
        "cannot infer the frequency: the longest series, `{id}`, has {rows} of the 3 rows it takes; {}",
        remedies::unknown_freq(*.kind, *.proposed)
    )]
    NoFreq {
        /// The longest series.
        id: String,
        /// Its rows.
        rows: usize,
        /// The kind of its times.
        kind: TimeKind,
        /// The frequency that they would follow, if there are two.
        proposed: Option<Freq>,
    },
    /// The frequency is for the other kind of time.
    #[error(
        "the time column holds {}, but the {}frequency is `{freq}`; {}",
        .kind.name(),
        if *.trained { "models' " } else { "" }, remedies::other_kind(*.kind, *.trained, *.follows)
    )]
    FreqKind {
        /// The kind of times in the column.
        kind: TimeKind,
        /// The frequency.
        freq: Freq,
        /// Whether it is that of trained models, which forecast no other.
        trained: bool,
        /// The frequency that the times seem to follow.
        follows: Option<Freq>,
    },
    /// A time is outside the calendar, or would be.
    #[error(
        "series `{id}`: its times, or those to forecast, leave the years -9999 to 9999 (or 64 \
         bits); check the time column and its unit (microseconds since 1970)"
    )]
    TimeRange {
        /// The series.
        id: String,
    },
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
    /// Static values are missing for some series.
    #[error("{table} lacks {count} of the panel's series: {}; add one row for each", listed(.ids))]
    StaticMissing {
        /// The file or column.
        table: Arc<str>,
        /// How many.
        count: usize,
        /// The first few.
        ids: Vec<String>,
    },
    /// A table that is not laid out as it was read.
    #[error("{error}; {hint}")]
    #[strum(serialize = "other_layout")]
    LaidOut {
        /// The error of reading it as it was.
        error: Box<DataError>,
        /// How it seems to be laid out, and what says so.
        hint: String,
    },
    /// A static column of the data that changes.
    #[error(
        "column `{column}` is to be static, but series `{id}` has {one} in one row and {other} in another; leave it out of the \
         static columns, or correct the rows"
    )]
    NotConstant {
        /// The column.
        column: String,
        /// The series.
        id: String,
        /// A value,
        one: String,
        /// and another one.
        other: String,
    },
    /// Ids that are there under another spelling.
    #[error(
        "{table} and the data spell the ids of series differently: {} there, {} in the data; write them alike",
        listed(.theirs), listed(.ours)
    )]
    SpeltOtherwise {
        /// The table.
        table: Arc<str>,
        /// Some ids as the data have them,
        ours: Vec<String>,
        /// and the same as the table has them.
        theirs: Vec<String>,
    },
    /// A series has static values twice.
    #[error("{at}: series `{id}` appears twice; static values need exactly one row per series")]
    DuplicateStatic {
        /// The later row.
        at: Place,
        /// The series.
        id: String,
    },
    /// Future rows are missing.
    #[error("{table} lacks {count} future rows, of which each series needs {h}: {}; add them", listed(.rows))]
    FutureMissing {
        /// The file.
        table: Arc<str>,
        /// How many rows.
        count: usize,
        /// The horizon.
        h: usize,
        /// The first few, as `id at time`.
        rows: Vec<String>,
    },
    /// A future row within the horizon of its series, at a time that is no step of it.
    #[error("{at}: series `{id}` at {time} is not among the rows to forecast ({needed}); remove it")]
    FutureExtra {
        /// The row.
        at: Box<Place>,
        /// Its series.
        id: String,
        /// Its time.
        time: String,
        /// The rows that are needed.
        needed: String,
    },
    /// Future values are needed and there are none.
    #[error(
        "the future columns {} need their values over the horizon; pass a table of future rows ({})",
        listed(.columns), Setting::FutureRows
    )]
    FutureNeeded {
        /// The columns.
        columns: Vec<String>,
    },
    /// The future table is for another horizon or panel.
    #[error(
        "the future table holds {found} rows; this forecast needs {expected}; read it again for this panel and horizon"
    )]
    FutureShape {
        /// Rows needed.
        expected: usize,
        /// Rows of the table.
        found: usize,
    },
    /// A series is too short to train on.
    #[error(
        "series `{id}` has {rows} rows to train on ({held_out} held out), but {} needs {needed}; {}",
        if needed < input_size { "start_padding_enabled".to_owned() } else { format!("input_size = {input_size}") },
        too_short_remedy(needed < input_size)
    )]
    #[strum(serialize = "series_too_short")]
    TooShort {
        /// The series.
        id: String,
        /// Its rows before the held-out ones.
        rows: usize,
        /// Rows kept for validation and test.
        held_out: usize,
        /// The insample length.
        input_size: usize,
        /// Rows needed.
        needed: usize,
    },
    /// Series that end at different times, for a model that sees all of them side by side.
    #[error(
        "{0}; a model that forecasts all series together sees them side by side, so they must end together: {remedy}; or take a \
         model that forecasts each series by itself",
        remedy = early_ends_remedy()
    )]
    EndsDiffer(Box<EarlyEnds>),
    /// No series has a window to train on.
    #[error(
        "no training window: it needs {insample} rows of input and {outsample} after them to learn to forecast, and the \
         longest series has {rows} to train on{} ({held_out} held out); {}",
        if *rows < insample + outsample { "" } else { ", of which too few are known" },
        no_windows_remedy(*held_out, [*insample, *outsample], *padded)
    )]
    #[strum(serialize = "no_training_windows")]
    NoWindows {
        /// Rows of the longest series before the held-out ones.
        rows: usize,
        /// Rows kept for validation and test.
        held_out: usize,
        /// The least rows of input,
        insample: usize,
        /// and after them.
        outsample: usize,
        /// Whether windows may begin before the series (`start_padding_enabled`).
        padded: bool,
    },
    /// A horizon of which some steps have no truth in any training window.
    #[error("{0}")]
    UntaughtSteps(Box<UntaughtSteps>),
    /// No row to train on counts.
    #[error(
        "sample_weight is 0 in every row that training could learn to forecast, so that nothing would be learned; give \
         some of them a weight above 0, or leave the column out"
    )]
    NoWeight,
    /// A setting is out of its range.
    #[error("{name} must be {expected}, found {found}")]
    #[strum(serialize = "setting_out_of_range")]
    Setting {
        /// The setting.
        name: &'static str,
        /// Its value.
        found: String,
        /// The values it may have.
        expected: String,
    },
    /// Filling would add far more rows than there are.
    #[error(
        "series `{id}`: filling its gaps by the frequency `{freq}` would add over {limit} rows to \
         the {rows} there are; check the times and set the frequency"
    )]
    FillTooLarge {
        /// The series at which it became too much.
        id: String,
        /// The frequency.
        freq: Freq,
        /// Rows of the whole table.
        rows: usize,
        /// The most that may be added.
        limit: usize,
    },
    /// The word is no way to fill.
    #[error("unknown fill `{word}`{}; known are forward, zero, interpolate", did_you_mean(.nearest))]
    UnknownFill {
        /// The word.
        word: String,
        /// The one it may be a slip of.
        nearest: Option<String>,
    },
    /// The word is no local scaler.
    #[error("unknown local scaler `{word}`{}; known are standard, robust, robust-iqr, minmax, boxcox", did_you_mean(.nearest))]
    UnknownLocalScaler {
        /// The word.
        word: String,
        /// The scaler it may be a slip of.
        nearest: Option<String>,
    },
    /// A value that has no logarithm or power.
    #[error(
        "{table}, {at}, column `{column}`: {value} is not above zero, which the local scaler boxcox \
         needs; shift the column, or use another scaler"
    )]
    NotPositive {
        /// The series or table.
        table: String,
        /// The row, from 0.
        at: Place,
        /// The column.
        column: String,
        /// The value.
        value: f32,
    },
}
