//! Panels from files and record batches: long (a row per series and time) and wide (a column per
//! series).

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::bounds::{Bounds, LOOK};
use super::column::Column;
use super::laid_out::{check_named, explained, note_of_parts, told_apart};
use super::long_rows::LongColumns;
use super::options::ReadOptions;
use super::orders::with_orders;
use super::origin::Origin;
use super::pair::Pair;
use super::panel::Panel;
use super::rows::TableRows;
use super::unrounded::Unrounded;
use crate::error::DataError;
use crate::error::misread::MisreadTable;
use crate::error::series::SeriesError;
use crate::error::steps::StepError;
use foretell_calendar::{Clock, RepeatedTimes, TimeKind};
use foretell_tables::{
    ColumnError, ColumnRoles, FilePart, ReadNote, TableError, TableReader, TextTable, check_sizes, is_of_id,
    open, open_input,
};

const COLUMN_REMEDY: &str = "give one of these names, or add the column";

/// The column that says which values of the target are known: 1, or 0 where it is not.
pub const AVAILABLE_MASK: &str = "available_mask";
pub(super) const WEIGHT: &str = "sample_weight";

impl ReadOptions {
    pub(super) fn clock(&self, table: &dyn TableReader) -> Clock {
        let format = self.time_format.clone().filter(|_| !table.reads_its_times());
        Clock::new(format, self.zone.clone(), self.locale)
    }

    /// The kind of the times of the column `column`, once all rows were read. Integers that all look like dates are
    /// neither, unless someone says which.
    fn kind(
        &self,
        clock: &Clock,
        table: &Arc<str>,
        column: &str,
        times: usize,
    ) -> Result<TimeKind, DataError> {
        let kind = clock.kind.ok_or_else(|| DataError::NoRows { table: table.clone() })?;
        if (1..times).contains(&clock.quarters()) {
            let (file, column, quarters) = (table.clone(), column.to_owned(), clock.quarters());
            return Err(MisreadTable::MixedPeriods { file, column, quarters, of: times }.into());
        }
        let said =
            self.time_format.is_some() || self.freq.is_some_and(|freq| freq.kind() == TimeKind::Integer);
        match clock.integer_dates().filter(|_| kind == TimeKind::Integer && !said) {
            None => Ok(kind),
            Some(format) => {
                let (table, column) = (table.clone(), column.to_owned());
                Err(StepError::IntegerDates { table, column, format }.into())
            }
        }
    }
}

impl Panel {
    /// Reads a file: Parquet where its name ends in `.parquet` or `.pq`, else text, as
    /// [`from_csv`](Self::from_csv). A folder, or a pattern such as `parts/*.parquet`, is all of its
    /// [files](foretell_tables::table_files).
    ///
    /// # Errors
    /// Every mistake names the file, the line or row and the column, and says what to do.
    pub fn from_file(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, DataError> {
        Self::from_files(&[path], options)
    }

    /// Reads several files as one table, in this order. All have the columns of the first, in any order; folders of Hive's layout
    /// are columns: `region=EU/part-0.parquet` has a column `region`.
    ///
    /// # Errors
    /// Those of [`from_file`](Self::from_file), and files whose columns differ.
    pub fn from_files(paths: &[impl AsRef<Path>], options: &ReadOptions) -> Result<Self, DataError> {
        // A pipe gives its text once.
        let stays = |path: &&Path| path.metadata().is_ok_and(|found| found.is_file() || found.is_dir());
        let again = paths.iter().map(AsRef::as_ref).all(|path| stays(&path) || !path.exists());
        check_sizes(paths, options.max_memory)?;
        read_wanted(|wanted| open(paths, &options.file, wanted), options, again)
    }

    /// Reads a part of a file, as [`from_files`](Self::from_files) reads the file.
    pub(super) fn from_part(part: &FilePart, options: &ReadOptions) -> Result<Self, DataError> {
        check_sizes(&[&part.path], options.max_memory)?;
        read_wanted(|wanted| part.open(&options.file, wanted), options, part.path.is_file())
    }

    /// Reads a CSV file, separated by commas, semicolons, tabs or bars; it may be compressed by gzip or Zstandard.
    ///
    /// Long: the columns `available_mask` (0 or 1) and `sample_weight` (0 or more) have their
    /// meaning in training; every other column is kept under its name. Rows may come in any order.
    /// A further column with a cell that is no number is an error only when it is used.
    ///
    /// # Errors
    /// A file that cannot be read, and every mistake of [`from_file`](Self::from_file), with file, line and column.
    pub fn from_csv(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, DataError> {
        let path = path.as_ref();
        let open = || Ok(Box::new(TextTable::open(path, &options.file)?) as Box<dyn TableReader>);
        read_again(open, options, path.is_file())
    }

    /// Reads CSV text from `input`, called `name` in messages; else as [`from_csv`](Self::from_csv).
    ///
    /// # Errors
    /// Input that cannot be read, and every mistake of [`from_file`](Self::from_file), with `name`, line and column.
    pub fn read_csv(input: impl Read + Send, name: &str, options: &ReadOptions) -> Result<Self, DataError> {
        read(Box::new(TextTable::new(input, name.into(), &options.file)?), options, true)
    }

    /// Reads text from a source that gives it once, called `name` in messages: JSON where it begins so, else CSV.
    ///
    /// # Errors
    /// Those of [`read_csv`](Self::read_csv).
    pub fn read_text(input: impl Read + Send, name: &str, options: &ReadOptions) -> Result<Self, DataError> {
        read(open_input(input, name, &options.file)?, options, true)
    }
}

/// Tells of a column whether it is read.
pub(super) type Wanted<'a> = Box<dyn Fn(&str) -> bool + Send + 'a>;

/// Reads a table of which `open` need open no more columns than are wanted; `again` if it can be opened more than once.
pub(super) fn read_wanted<'a>(
    open: impl Fn(Wanted<'a>) -> Result<Box<dyn TableReader + 'a>, TableError>,
    options: &'a ReadOptions,
    again: bool,
) -> Result<Panel, DataError> {
    let end = options.end_col.as_deref().unwrap_or(&options.id_col);
    let names = [options.time_name(), &options.target_col, AVAILABLE_MASK, WEIGHT, end];
    let is_role = move |name: &str| names.contains(&name) || is_of_id(&options.id_col, name);
    let open_wanted = || match options.columns.as_deref().filter(|_| !options.reads_all_columns()) {
        None => open(Box::new(|_| true)),
        Some(columns) => {
            open(Box::new(move |name| is_role(name) || columns.iter().any(|column| column == name)))
        }
    };
    read_again(open_wanted, options, again).or_else(|error| match error {
        // The columns that were passed over belong into the message.
        DataError::Table(TableError::Column(ColumnError::Missing { .. })) => {
            read(open(Box::new(|_| true))?, options, false)
        }
        error if again => Err(told_apart(error, options, || open(Box::new(|_| true)))),
        error => Err(error),
    })
}

/// Reads a table, and once again with all digits of its target where single precision loses steps, or has all values of a series as 0:
/// so these take no memory where no one needs them. What can be opened only once is read with all of them.
fn read_again<'a>(
    open: impl Fn() -> Result<Box<dyn TableReader + 'a>, TableError>,
    options: &ReadOptions,
    again: bool,
) -> Result<Panel, DataError> {
    let panel = read(open()?, options, !again)?;
    let is_zero = |note: &ReadNote| matches!(note, ReadNote::ReadAsZero { .. });
    let lost = || panel.notes().iter().any(is_zero) && panel.has_zero_series();
    match again && (panel.is_coarse() || lost()) {
        false => Ok(panel),
        true => {
            drop(panel);
            read(open()?, options, true)
        }
    }
}

/// Reads a table; `unrounded` if the digits of its target beyond single precision are looked at.
pub(crate) fn read(
    table: Box<dyn TableReader + '_>,
    options: &ReadOptions,
    unrounded: bool,
) -> Result<Panel, DataError> {
    let mut table = options.laid_out(table)?;
    table.read_numbers(options.numbers);
    let unrounded = Unrounded::wanted(unrounded);
    let read = match options.wide {
        true => read_wide(&mut *table, options, unrounded),
        false => read_long(&mut *table, options, unrounded),
    };
    match read {
        Ok(panel) => {
            let end =
                options.end_col.iter().filter(|name| panel.column_names().any(|column| column == *name));
            let end = end.filter(|name| !options.static_cols.contains(name));
            let names: Vec<&str> = options.static_cols.iter().chain(end).map(String::as_str).collect();
            Ok(panel
                .with_constants(&names)?
                .with_alike_ids_noted()
                .with_marks_noted()
                .with_totals_noted(options.wide)
                .with_notation_noted(&options.notation, &options.id_col))
        }
        Err(error) => Err(explained(with_orders(error, &mut *table), &*table, options)),
    }
}

fn read_long(
    table: &mut dyn TableReader,
    options: &ReadOptions,
    unrounded: Unrounded,
) -> Result<Panel, DataError> {
    let pair = options.unnamed_pair(table)?;
    if pair.is_some() {
        check_named(table)?;
    }
    let two = table.header().iter().filter(|name| !name.is_empty()).count() == 2;
    let named = [options.time_name(), &options.target_col].iter().all(|name| table.find(name).is_some());
    let missing = options.missing_roles(table);
    let [id, time, target] = match pair {
        Some(Pair { time, target, .. }) => [None, Some(time), Some(target)],
        None => [
            match named || two {
                true => table.id_column(&options.id_col, missing)?,
                false => Some(table.column(&options.id_col, missing)?),
            },
            Some(table.column(options.time_name(), missing)?),
            Some(table.column(&options.target_col, missing)?),
        ],
    };
    let (Some(time), Some(target)) = (time, target) else { unreachable!("both are there") };
    let target_name = table.header()[target].clone();
    let mask = table.find(AVAILABLE_MASK);
    let weight = table.find(WEIGHT);
    let known = [id, Some(time), Some(target), mask, weight];
    let (extras, columns): (Vec<usize>, Vec<Column>) = (table.columns().enumerate())
        .filter(|(i, name)| !known.contains(&Some(*i)) && !name.is_empty())
        .map(|(i, name)| (i, Column::to_read(name, options)))
        .unzip();
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let missing = options.columns.iter().flatten().find(|column| !names.contains(&column.as_str()));
    if let Some(column) = missing {
        let holds =
            ["the ids of the series", "the times", "what is forecast", "which rows are known", "weights"];
        if let Some(i) = table.find(column)
            && let Some(what) = known.iter().position(|known| *known == Some(i)).map(|role| holds[role])
        {
            return Err(
                ColumnError::Taken { table: table.file().clone(), column: column.clone(), what }.into()
            );
        }
        return Err(table.missing_column(column, names.into_iter(), COLUMN_REMEDY).into());
    }
    let wanted = |name: &String| {
        options.columns.as_ref().is_none_or(|columns| columns.contains(name))
            || options.end_col.as_ref() == Some(name)
    };
    let (extras, columns): (Vec<usize>, Vec<Column>) =
        extras.into_iter().zip(columns).filter(|(_, column)| wanted(&column.name)).unzip();
    let mut rows = TableRows {
        origin: Origin::like(&table.place()),
        mask: mask.map(|_| Vec::new()),
        weight: weight.map(|_| Vec::new()),
        unrounded,
        columns,
        target: Some(target_name.clone()),
        fill: options.fill,
        drop_unknown: options.drop_unknown,
        aggregate: options.aggregate,
        until: options.until.clone(),
        max_rows: options.max_rows,
        threads: options.threads,
        ..TableRows::default()
    };
    let periods = options.periods()?;
    let columns =
        LongColumns { id, only: &target_name, time, target, mask, weight, extras, periods, options };
    let (mut clock, mut repeated) = (options.clock(table), RepeatedTimes::default());
    // The first row settles what times are. Those that clocks show twice are told apart by the rows before.
    let first = pair.is_some_and(|pair| pair.at_row) || table.advance()?;
    if first {
        columns.take_row(table, &mut rows, &mut clock, &mut repeated)?;
    }
    let bounds = Bounds::new(options, table.file());
    let mut share = bounds.share();
    if first && options.zone.is_none() {
        columns.take_parts(table, &mut rows, &mut clock, &bounds, &mut share)?;
    }
    while table.advance()? {
        columns.take_row(table, &mut rows, &mut clock, &mut repeated)?;
        share.look(&rows)?;
    }
    share.look_now(&rows)?;
    rows.times.shift(table.late_shift());
    rows.within.shift(table.late_shift());
    table.check_units()?;
    rows.note(table.notes());
    rows.partial = Some((columns.periods, options.keep_partial));
    let kind = options.kind(&clock, table.file(), &table.header()[time], rows.len())?;
    let panel = rows.finish(kind, clock.zone, options.said_freq());
    panel.map_err(|error| match error {
        // A row too many, or several series of which no one said which row is whose.
        DataError::Series(SeriesError::DuplicateRow { at, earlier, time, remedy, .. }) if id.is_none() => {
            let (id_col, columns) = (options.id_col.clone(), table.all_columns().to_vec());
            DataError::Series(SeriesError::DuplicateTime { at, earlier, time, remedy, id_col, columns })
        }
        error => error,
    })
}

fn read_wide(
    table: &mut dyn TableReader,
    options: &ReadOptions,
    unrounded: Unrounded,
) -> Result<Panel, DataError> {
    let time = match &options.time_col {
        Some(name) => table.column(name, ColumnRoles::TIMES)?,
        None => 0,
    };
    let ids: Vec<(usize, Arc<str>)> =
        (table.columns().enumerate()).filter(|(i, _)| *i != time).map(|(i, name)| (i, name.into())).collect();
    let (unnamed, ids): (Vec<_>, Vec<_>) = ids.into_iter().partition(|(_, id)| id.is_empty());
    if ids.is_empty() {
        return Err(ColumnError::NoSeries(table.file().clone()).into());
    }
    if options.time_col.is_none() {
        check_named(table)?;
    }
    let mut origin = Origin::like(&table.place());
    let mut rows = TableRows {
        origin: origin.clone(),
        unrounded: Unrounded::wanted(unrounded.is_wanted),
        fill: options.fill,
        drop_unknown: options.drop_unknown,
        aggregate: options.aggregate,
        until: options.until.clone(),
        max_rows: options.max_rows,
        threads: options.threads,
        ..TableRows::default()
    };
    let periods = options.periods()?;
    let (mut clock, mut repeated) = (options.clock(table), RepeatedTimes::default());
    let (mut times, mut within, mut lines, mut skipped) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let column = || (Vec::new(), Unrounded::wanted(unrounded.is_wanted));
    let mut values: Vec<(Vec<f32>, Unrounded)> = ids.iter().map(|_| column()).collect();
    while table.advance()? {
        let table = &*table;
        let instant = table.time(time, &mut clock)?;
        let instant = match options.zone {
            None => instant,
            Some(_) => repeated.resolve(0, instant, clock.later).map_err(|why| table.bad_time(time, why))?,
        };
        times.push(periods.moved(clock.kind, clock.zone.as_ref(), instant));
        within.push(instant);
        skipped.push(clock.skipped);
        lines.push(origin.at(table));
        if let Some((i, _)) = unnamed.iter().find(|(i, _)| !table.shown(*i).trim().is_empty()) {
            return Err(ColumnError::Unnamed { at: table.place(), number: i + 1 }.into());
        }
        for (values, (i, _)) in values.iter_mut().zip(&ids) {
            let y = rows.admit(table, *i, false)?;
            if unrounded.is_wanted {
                values.1.push(&values.0, table.wide_number(*i).unwrap_or(f64::from(y)));
            }
            values.0.push(y);
        }
        // An hour that never was, in a table with a row for each hour of the day.
        if clock.skipped && values.iter().all(|(y, _)| y.last().is_some_and(|y| y.is_nan())) {
            for (y, digits) in &mut values {
                y.pop();
                digits.each(|digits| digits.truncate(y.len()));
            }
            times.pop();
            within.pop();
            lines.pop();
            skipped.pop();
            continue;
        }
        let read = times.len() * ids.len();
        if read / LOOK > (read - ids.len()) / LOOK {
            // Values are copied series by series once all are read.
            options.check_bounds(table.file(), read, size_of::<f32>() * read)?;
        }
    }
    options.check_rows(table.file(), times.len() * ids.len())?;
    rows.origin = origin;
    times.iter_mut().chain(&mut within).for_each(|time| *time += table.late_shift());
    let kind = options.kind(&clock, table.file(), &table.header()[time], times.len())?;

    let mut order: Vec<usize> = (0..times.len()).collect();
    order.sort_by_key(|&i| times[i]);
    for ((_, id), values) in ids.iter().zip(&mut values) {
        for &i in &order {
            if skipped[i] {
                rows.skipped.push(rows.len());
            }
            rows.push_id(id);
            rows.times.push(times[i]);
            if periods.resample.is_some() {
                rows.within.push(within[i]);
            }
            rows.unrounded.push(&rows.y, values.1.get(i, values.0[i]));
            rows.y.push(values.0[i]);
            rows.origin.push(lines[i]);
        }
        // What was copied is let go of.
        *values = (Vec::new(), Unrounded::default());
    }
    table.check_units()?;
    rows.note(table.notes().into_iter().chain(note_of_parts(table)).collect());
    rows.partial = Some((periods, options.keep_partial));
    rows.finish(kind, clock.zone, options.said_freq())
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
