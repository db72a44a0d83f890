//! How a table is laid out, and how it is read.

use serde::{Deserialize, Serialize};

use super::aggregate::Aggregate;
use super::fill::Fill;
use super::notation::Notation;
use super::periods::Periods;
use crate::error::DataError;
use foretell_calendar::{Freq, Locale, TimeFormat, Zone};
use foretell_messages::Setting;
use foretell_tables::{Across, ColumnRoles, FileOptions, Hours, ID, NumberFormat, TableError, TableReader};

/// How a table is laid out, and how it is read.
///
/// ```
/// use foretell_data::{Fill, Panel, ReadOptions};
///
/// let options = ReadOptions::new().time_col("day").target_col("sales").fill(Fill::Zero);
/// let panel = Panel::read_csv("day,sales\n2024-01-01,5\n2024-01-02,7\n2024-01-04,6\n".as_bytes(), "sales.csv", &options)?;
/// assert_eq!(panel.y(0), [5.0, 7.0, 0.0, 6.0]);
/// # Ok::<(), foretell_data::DataError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ReadOptions {
    /// How the file is written: encoding, titles, comments.
    pub file: FileOptions,
    /// One time column, every other column a series; else a row per series and time.
    pub wide: bool,
    /// The meaning of the columns of a row in the long layout, if they are not one value; by default they are.
    pub across: Option<Across>,
    /// Several columns that make the time: a date, or a year, a month and a day (or a quarter), then the hour and the minute.
    /// A time format is that of the date. By default the time is one column.
    pub time_cols: Vec<String>,
    /// Which hour the number in such a column names; by default its name or an hour 24 says it.
    pub hours: Option<Hours>,
    /// Column of the series' ids, in the long layout, or several with commas between, as `store,item`, that are joined by `/`; tables beside
    /// the data have these or joined ids in `unique_id`. A table without a column `unique_id` holds one series, called
    /// as its column of values, unless another column is named here.
    pub id_col: String,
    /// Column of the times; by default `ds`, or the first column of a wide table.
    pub time_col: Option<String>,
    /// Column of the values, in the long layout.
    pub target_col: String,
    /// Further columns to keep, in the long layout; all by default. Columns that no model reads only take memory.
    pub columns: Option<Vec<String>>,
    /// Further columns that hold one value in all rows of a series, and become static ones.
    pub static_cols: Vec<String>,
    /// Static column of the times that series end at, for [`Panel::ended`](crate::Panel::ended): of a table beside the data, or of the
    /// data, where it holds one value in all rows of a series. Where it is empty, a series ends with the panel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_col: Option<String>,
    /// Columns that hold categories: texts, numbers or truth values, of which each is a label. They are no numbers
    /// before [`Panel::encode_categories`](crate::Panel::encode_categories).
    pub categories: Vec<String>,
    /// The frequency; else it is inferred from the longest series and confirmed on all.
    pub freq: Option<Freq>,
    /// The zone of the times; else the one that they are written with. Times without an offset from
    /// UTC are then those of the zone's clocks.
    pub zone: Option<Zone>,
    /// How the times are written, where they are no integers and not as `2024-01-31 13:45:00`. Timestamps and dates
    /// of Parquet and Arrow need none.
    pub time_format: Option<TimeFormat>,
    /// The language in which months are named, where that is not English.
    pub locale: Option<Locale>,
    /// How numbers are written in texts.
    pub numbers: NumberFormat,
    /// Values that stand for missing ones in the target and further columns, as `-999`: as numbers in any spelling, as texts in any case.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Texts that stand for 0 in the target and further columns, in any case, as `-` in columns of accounts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub zeros: Vec<String>,
    /// Marks behind numbers that only say how these came about, as `p` and `e` of numbers that are provisional or estimated: the numbers
    /// are read without them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub number_flags: Vec<String>,
    /// How rows and values that are missing between others are filled; without it they are mistakes. Where values are
    /// missing before the first known one of a series or after the last, the series is cut: [`Trimmed`].
    ///
    /// [`Trimmed`]: crate::Trimmed
    pub fill: Option<Fill>,
    /// Whether series of which no value is known are left out, with a [note](foretell_tables::ReadNote); without it they are mistakes, unless
    /// they are filled by 0.
    #[serde(skip_serializing_if = "is_false")]
    pub drop_unknown: bool,
    /// How several rows of one series and time become one; without it they are mistakes.
    pub aggregate: Option<Aggregate>,
    /// A coarser frequency to gather rows in: those of a period become one by [`aggregate`](Self::aggregate), without which
    /// that is a mistake. Periods are named as in pandas: weeks and `ME`, `QE`, `YE` by their last day, others by their first.
    pub resample: Option<Freq>,
    /// Whether periods to gather rows in are kept where they stand at the beginning or the end of a series and are not
    /// complete: rows are missing in them that the periods between have, so that their sum is too low. They are left out
    /// otherwise, and [told](foretell_tables::ReadNote) in any case. Where nothing says that there are more rows, as of
    /// events, they are only told.
    pub keep_partial: bool,
    /// A step whose nearest multiple each time is moved to (`15min`, `h`, `D`): of sensors whose times jitter.
    pub snap: Option<Freq>,
    /// Most bytes of memory that the panel may take while it is read; no limit by default.
    pub max_memory: Option<u64>,
    /// The last time that is asked for, which far times are left out after.
    #[serde(skip)]
    pub(crate) until: Option<String>,
    /// Most rows that a table may have, with those that are filled in; of a wide one, values. No limit by default.
    #[serde(skip)]
    pub max_rows: Option<usize>,
    /// How the table is written where that was [found](Self::with_notation_of) in it: told by a [note](foretell_tables::ReadNote).
    #[serde(skip)]
    pub notation: Notation,
    /// Threads that read a long table; 0, the default, is as many as the machine has. The panel does not depend on it.
    #[serde(skip)]
    pub threads: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            file: FileOptions::default(),
            wide: false,
            across: None,
            time_cols: Vec::new(),
            hours: None,
            id_col: ID.into(),
            time_col: None,
            target_col: "y".into(),
            columns: None,
            static_cols: Vec::new(),
            end_col: None,
            categories: Vec::new(),
            freq: None,
            zone: None,
            time_format: None,
            locale: None,
            numbers: NumberFormat::default(),
            missing: Vec::new(),
            zeros: Vec::new(),
            number_flags: Vec::new(),
            fill: None,
            drop_unknown: false,
            aggregate: None,
            resample: None,
            until: None,
            keep_partial: false,
            snap: None,
            max_memory: None,
            max_rows: None,
            notation: Notation::default(),
            threads: 0,
        }
    }
}

impl ReadOptions {
    /// A long table with the usual names: `unique_id`, `ds` and `y`.
    pub fn new() -> Self {
        Self::default()
    }

    /// How the file is written: encoding, titles, comments.
    pub fn file(self, file: FileOptions) -> Self {
        Self { file, ..self }
    }

    /// One time column, every other column a series.
    pub fn wide(self) -> Self {
        Self { wide: true, ..self }
    }

    /// The kind of values across the columns of a row.
    pub fn across(self, across: Across) -> Self {
        Self { across: Some(across), ..self }
    }

    /// Several columns that make the time.
    pub fn time_cols(self, columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { time_cols: names(columns), ..self }
    }

    /// Which hour the number in such a column names.
    pub fn hours(self, hours: Hours) -> Self {
        Self { hours: Some(hours), ..self }
    }

    /// Column of the series' ids.
    pub fn id_col(self, name: impl Into<String>) -> Self {
        Self { id_col: name.into(), ..self }
    }

    /// Column of the times.
    pub fn time_col(self, name: impl Into<String>) -> Self {
        Self { time_col: Some(name.into()), ..self }
    }

    /// Column of the values.
    pub fn target_col(self, name: impl Into<String>) -> Self {
        Self { target_col: name.into(), ..self }
    }

    /// Further columns to keep.
    pub fn columns(self, columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { columns: Some(names(columns)), ..self }
    }

    /// Further columns that hold one value in all rows of a series.
    pub fn static_cols(self, columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { static_cols: names(columns), ..self }
    }

    /// Static column of the times that series end at.
    pub fn end_col(self, name: impl Into<String>) -> Self {
        Self { end_col: Some(name.into()), ..self }
    }

    /// Columns that hold categories.
    pub fn categories(self, columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { categories: names(columns), ..self }
    }

    /// The frequency.
    pub fn freq(self, freq: Freq) -> Self {
        Self { freq: Some(freq), ..self }
    }

    /// The zone of the times.
    pub fn zone(self, zone: Zone) -> Self {
        Self { zone: Some(zone), ..self }
    }

    /// How the times are written.
    pub fn time_format(self, format: TimeFormat) -> Self {
        Self { time_format: Some(format), ..self }
    }

    /// The language in which months are named.
    pub fn locale(self, locale: Locale) -> Self {
        Self { locale: Some(locale), ..self }
    }

    /// How numbers are written in texts.
    pub fn numbers(self, numbers: NumberFormat) -> Self {
        Self { numbers, ..self }
    }

    /// Values that stand for missing ones.
    pub fn missing(self, values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { missing: names(values), ..self }
    }

    /// Texts that stand for 0.
    pub fn zeros(self, texts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { zeros: names(texts), ..self }
    }

    /// Marks behind numbers that only say how these came about.
    pub fn number_flags(self, flags: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { number_flags: names(flags), ..self }
    }

    /// How rows and values that are missing between others are filled.
    pub fn fill(self, fill: Fill) -> Self {
        Self { fill: Some(fill), ..self }
    }

    /// Leaves out series of which no value is known.
    pub fn without_unknown(self) -> Self {
        Self { drop_unknown: true, ..self }
    }

    /// How several rows of one series and time become one.
    pub fn aggregate(self, how: Aggregate) -> Self {
        Self { aggregate: Some(how), ..self }
    }

    /// A coarser frequency to gather rows in.
    pub fn resample(self, freq: Freq) -> Self {
        Self { resample: Some(freq), ..self }
    }

    /// Keeps periods to gather rows in that are not complete, at the beginning and the end of a series.
    pub fn with_partial_periods(self) -> Self {
        Self { keep_partial: true, ..self }
    }

    /// A step whose nearest multiple each time is moved to.
    pub fn snap(self, step: Freq) -> Self {
        Self { snap: Some(step), ..self }
    }

    /// Leaves out rows of a time that stands far from all others of its series, as where a year was mistyped, and that is after `until`, as
    /// is what was meant: without this it is a mistake. Others stay, for [`Panel::between`](crate::Panel::between) to cut;
    /// [`Trimmed`](crate::Trimmed) counts those that are left out.
    ///
    /// ```
    /// use foretell_data::{Panel, ReadOptions};
    ///
    /// let days = (1..=9).map(|day| format!("2024-05-0{day},{day}\n")).collect::<String>();
    /// let text = format!("ds,y\n{days}2042-07-01,10\n");
    /// let options = ReadOptions::new().without_far_times_after("2024-05-07");
    /// let panel = Panel::read_csv(text.as_bytes(), "t.csv", &options)?;
    /// assert_eq!((panel.len(0), panel.trimmed().far), (9, 1));
    /// # Ok::<(), foretell_data::DataError>(())
    /// ```
    pub fn without_far_times_after(self, until: impl Into<String>) -> Self {
        Self { until: Some(until.into()), ..self }
    }

    /// Most bytes of memory that the panel may take while it is read.
    pub fn max_memory(self, bytes: u64) -> Self {
        let file = FileOptions { most_unpacked: Some(bytes), ..self.file };
        Self { max_memory: Some(bytes), file, ..self }
    }

    /// Most rows that a table may have.
    pub fn max_rows(self, rows: usize) -> Self {
        Self { max_rows: Some(rows), ..self }
    }

    /// Threads that read a long table; 0 is as many as the machine has.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

fn names(columns: impl IntoIterator<Item = impl Into<String>>) -> Vec<String> {
    columns.into_iter().map(Into::into).collect()
}

impl ReadOptions {
    /// The options that models remember, so that no one sets them twice: the layout, how times and numbers are
    /// written, what becomes of rows. The encoding belongs to a file, names of columns and the frequency models know anyway.
    pub fn remembered(&self) -> Self {
        let of_model = Self::default();
        Self {
            file: FileOptions { encoding: None, most_unpacked: None, ..self.file.clone() },
            id_col: of_model.id_col,
            time_col: None,
            target_col: of_model.target_col,
            columns: None,
            categories: Vec::new(),
            freq: None,
            max_memory: None,
            max_rows: None,
            until: None,
            notation: of_model.notation,
            threads: of_model.threads,
            ..self.clone()
        }
    }

    /// The changes of times.
    ///
    /// # Errors
    /// Periods to gather rows in without a way to do so, a step to snap to that is not of one length.
    pub(crate) fn periods(&self) -> Result<Periods, DataError> {
        if let (Some(freq), None) = (self.resample, self.aggregate) {
            let expected = format!(
                "said together with how the rows of a period become one ({})",
                Setting::Aggregate.to("sum")
            );
            return Err(TableError::setting("resample", freq, expected).into());
        }
        Periods::new(self.resample, self.snap)
    }

    /// Whether rows that follow each other can be read apart, as those of several files: nothing is inferred of all of them, filled
    /// between them or gathered in periods.
    pub fn reads_apart(&self) -> bool {
        self.freq.is_some() && self.fill.is_none() && self.resample.is_none()
    }

    /// The frequency of the panel, if it is set.
    pub(crate) fn said_freq(&self) -> Option<Freq> {
        self.freq.or(self.resample)
    }

    pub(crate) fn time_name(&self) -> &str {
        self.time_col.as_deref().unwrap_or("ds")
    }

    /// Which of the columns of a long table are missing in this one: the remedy for each of them names all.
    pub(super) fn missing_roles(&self, table: &dyn TableReader) -> ColumnRoles {
        let is_missing = |name: &str| table.find(name).is_none();
        let [ids, times, values] = [&self.id_col, self.time_name(), &self.target_col].map(is_missing);
        ColumnRoles { ids, times, values, or_wide: ids && values }
    }
}
