//! Tables beside the panel: static values, and future values of the columns known in advance.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::bounds::{LOOK, LOOK_AT_IDS};
use super::cells::finite;
use super::column::Column;
use super::keyed_series::KeyedSeries;
use super::of_all::{OfAll, no_ids};
use super::options::ReadOptions;
use super::origin::Origin;
use super::panel::Panel;
use super::spelling::StrangeIds;
use crate::error::DataError;
use crate::error::future::FutureError;
use crate::error::series::{Repeated, SeriesError};
use foretell_calendar::Clock;
use foretell_tables::{ColumnError, Flaw, Place, ReadNote, TableError, TableReader, check_sizes, open};

const ID_REMEDY: &str = "name it as in the panel's file";

impl Panel {
    /// Adds the columns of a file (Parquet by its name, else CSV) with one row per series; ids are in
    /// `options.id_col`. A folder or a pattern is all of its [files](foretell_tables::table_files).
    ///
    /// Rows of other series are allowed. A column with a cell that is no number is an error only
    /// when it is used.
    ///
    /// # Errors
    /// Series without a row, a series with two, and the faults of the file itself.
    pub fn with_static_file(self, path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, DataError> {
        self.with_static_files(&[path], options)
    }

    /// Adds the columns of several files, read as one table; else as [`with_static_file`](Self::with_static_file).
    ///
    /// # Errors
    /// Those of `with_static_file`, and files whose columns differ.
    pub fn with_static_files(
        self,
        paths: &[impl AsRef<Path>],
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        check_sizes(paths, options.max_memory)?;
        let table = open(paths, &options.file.beside(), |_| true)?;
        self.with_statics(table, &options.of_beside(paths))
    }

    /// Adds the columns of a table that has whole ids, or some of the columns that make these: its rows are then of all series that agree
    /// in them.
    pub(crate) fn with_statics(
        mut self,
        table: Box<dyn TableReader + '_>,
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        let (keyed, options) = KeyedSeries::of(self.ids(), &*table, options);
        let options = &*options;
        let mut table = options.with_marks(table)?;
        let table = &mut *table;
        table.read_numbers(options.numbers);
        let (id, only) = self.ids_of(table, options)?;
        let (extras, mut read): (Vec<usize>, Vec<Column>) = (table.columns().enumerate())
            .filter(|(i, name)| Some(*i) != id && !name.is_empty())
            .map(|(i, name)| (i, Column::to_read(name, options)))
            .unzip();
        let mut ids: Vec<String> = Vec::new();
        let mut origin = Origin::like(&table.place());
        let (mut id_bytes, mut looked) = (0, 0);
        let mut are_known = vec![false; read.len()];
        // Numbers and texts of each column.
        let mut kinds = vec![[0_usize; 2]; read.len()];
        while table.advance()? {
            let table = &*table;
            let name = table.id_or(id, &only)?;
            id_bytes += size_of::<String>() + name.len();
            if ids.len().is_multiple_of(LOOK) || id_bytes - looked > LOOK_AT_IDS {
                looked = id_bytes;
                let labels: usize = read.iter().map(Column::label_bytes).sum();
                let numbers = size_of::<f32>() * read.len() * ids.len();
                options.check_bounds(table.file(), ids.len(), id_bytes + labels + numbers)?;
            }
            let at = origin.at(table);
            origin.push(at);
            // What is wrong with the row of another series is no concern of this panel.
            let ours = !keyed.of_id(&name, |id| self.find(id)).is_empty();
            let bad = |i: usize| (Place { series: Some((&*name).into()), ..table.place() }, table.shown(i));
            let columns = read.iter_mut().zip(&extras).zip(are_known.iter_mut().zip(&mut kinds));
            for ((column, &i), (is_known, [numbers, texts])) in columns {
                let cell = column.cell(table, i);
                if ours {
                    *numbers += usize::from(cell.is_ok());
                    *texts += usize::from(is_text(cell.as_ref().err()));
                }
                let cell = if ours { cell } else { cell.or(Ok(0.0)) };
                if ours && !*is_known && !matches!(cell, Err(Flaw::Missing)) {
                    *is_known = true;
                    if let Err(flaw) = cell {
                        column.tell_rather(flaw, || bad(i));
                    }
                }
                column.push(cell, || bad(i));
            }
            ids.push(name.into_owned());
        }
        options.check_rows(table.file(), ids.len())?;
        let ids = ids.iter().map(String::as_str);
        let places = self.static_places(table.file(), ids, &keyed, |row| origin.place(row))?;
        for (column, [numbers, texts]) in read.iter_mut().zip(kinds) {
            match &mut column.values {
                Ok(values) => {
                    let value = |row: &usize| values.get(*row).copied().unwrap_or(0.0);
                    *values = places.iter().map(value).collect();
                }
                Err(bad) if is_text(Some(&bad.flaw)) && numbers > texts => bad.flaw = Flaw::AmidNumbers,
                Err(_) => {}
            }
        }
        self.add_statics(read)?;
        table.check_units()?;
        Ok(self.with_notes(table.notes()))
    }
}

fn is_text(flaw: Option<&Flaw>) -> bool {
    matches!(flaw, Some(Flaw::Text | Flaw::Accompanied))
}

impl Panel {
    /// The column of ids of a table beside the panel, or, where it has none, the id of the panel's only series.
    fn ids_of(
        &self,
        table: &dyn TableReader,
        options: &ReadOptions,
    ) -> Result<(Option<usize>, Arc<str>), DataError> {
        match self.n_series() {
            1 => Ok((table.id_column(&options.id_col, ID_REMEDY)?, self.id(0).clone())),
            _ => Ok((Some(table.column(&options.id_col, ID_REMEDY)?), "".into())),
        }
    }
}

/// Values of columns over the horizon: `h` rows after the end of every series of a panel.
#[derive(Clone)]
pub struct Future {
    series: usize,
    h: usize,
    table: Arc<str>,
    /// Each column is `[series, h]`.
    columns: Vec<Column>,
    ignored_rows: usize,
    notes: Vec<ReadNote>,
}

impl fmt::Debug for Future {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        f.debug_struct("Future")
            .field("series", &self.series)
            .field("h", &self.h)
            .field("columns", &columns)
            .finish()
    }
}

impl Future {
    /// Columns from slices, `[series, h]` each, in the panel's order of series.
    ///
    /// # Errors
    /// A slice of another length, a value that is not finite.
    pub fn new(panel: &Panel, h: usize, columns: &[(&str, &[f32])]) -> Result<Self, DataError> {
        check_horizon(h)?;
        let expected = panel.n_series() * h;
        let mut read = Vec::new();
        for (name, values) in columns {
            if values.len() != expected {
                let what = format!("future column `{name}`");
                return Err(DataError::Table(TableError::Length { what, expected, found: values.len() }));
            }
            let mut column = Column::new(*name);
            for (row, value) in values.iter().enumerate() {
                let place = || Place::of_series(panel.id(row / h), row % h);
                column.push(finite(*value), || (place(), value.to_string()));
            }
            column.usable()?;
            read.push(column);
        }
        Ok(Self {
            series: panel.n_series(),
            h,
            table: "the future table".into(),
            columns: read,
            ignored_rows: 0,
            notes: Vec::new(),
        })
    }

    /// Reads a long file (Parquet by its name, else CSV) that holds, for every series of the panel, the `h` rows that
    /// follow it. The columns of ids and times are named as in `options`; a target column is ignored, and so are rows
    /// before and after these `h`, and rows of other series ([`Future::ignored_rows`]). Rows of a table that has some of the columns
    /// that make ids are of all series that agree in them, and those of one without ids of every series, as of a calendar.
    ///
    /// # Errors
    /// Rows that are missing, there twice, or between two steps, and the faults of the file itself.
    /// A column with a cell that is no number is an error only when it is used.
    pub fn from_file(
        path: impl AsRef<Path>,
        options: &ReadOptions,
        panel: &Panel,
        h: usize,
    ) -> Result<Self, DataError> {
        Self::from_files(&[path], options, panel, h)
    }

    /// Reads several files as one table; else as [`from_file`](Self::from_file).
    ///
    /// # Errors
    /// Those of `from_file`, and files whose columns differ.
    pub fn from_files(
        paths: &[impl AsRef<Path>],
        options: &ReadOptions,
        panel: &Panel,
        h: usize,
    ) -> Result<Self, DataError> {
        check_sizes(paths, options.max_memory)?;
        let table = open(paths, &options.file.beside(), |_| true)?;
        Self::read_beside(table, &options.of_beside(paths), panel, h)
    }

    /// Reads a table that is laid out as the panel's.
    pub(crate) fn read_beside(
        table: Box<dyn TableReader + '_>,
        options: &ReadOptions,
        panel: &Panel,
        h: usize,
    ) -> Result<Self, DataError> {
        let hours = options.hours.or(panel.hours());
        let options = ReadOptions { hours, ..options.clone() };
        let (keyed, options) = KeyedSeries::of(panel.ids(), &*table, &options);
        Self::read_keyed(&mut *options.with_time(table)?, keyed, &options, panel, h)
    }

    pub(crate) fn read(
        table: &mut dyn TableReader,
        options: &ReadOptions,
        panel: &Panel,
        h: usize,
    ) -> Result<Self, DataError> {
        Self::read_keyed(table, KeyedSeries::default(), options, panel, h)
    }

    fn read_keyed(
        table: &mut dyn TableReader,
        mut keyed: KeyedSeries,
        options: &ReadOptions,
        panel: &Panel,
        h: usize,
    ) -> Result<Self, DataError> {
        check_horizon(h)?;
        table.read_numbers(options.numbers);
        let time = table.column(options.time_name(), ID_REMEDY)?;
        let mut of_all = match &keyed {
            KeyedSeries::Whole => OfAll::told(table, options, panel, time),
            _ => None,
        };
        let (id, only) = match &of_all {
            Some(_) => {
                keyed = KeyedSeries::All((0..panel.n_series()).collect());
                (None, "".into())
            }
            None => panel.ids_of(table, options)?,
        };
        let kind = panel.freq().kind();
        let (extras, mut columns): (Vec<usize>, Vec<Column>) = (table.columns().enumerate())
            .filter(|(i, name)| {
                ![id, Some(time)].contains(&Some(*i)) && *name != options.target_col && !name.is_empty()
            })
            .map(|(i, name)| (i, Column::to_read(name, options)))
            .unzip();
        // What is asked for takes its memory before the first row is read.
        let asked = panel.n_series().saturating_mul(h);
        let row = size_of::<i64>() + size_of::<Option<u64>>() + size_of::<f32>() * columns.len();
        let held = asked.saturating_mul(row);
        options.check_bounds(table.file(), asked, held)?;
        let mut times = Vec::new();
        for series in 0..panel.n_series() {
            times.extend(panel.future_times(series, h)?);
        }
        let mut seen: Vec<Option<u64>> = vec![None; times.len()];
        for column in &mut columns {
            column.values = Ok(vec![0.0; times.len()].into());
        }
        let shown = |time: i64| kind.display_in(panel.zone(), time);
        let format = options.time_format.clone().filter(|_| !table.reads_its_times());
        let (zone, locale) = (panel.zone().cloned(), options.locale);
        let mut clock = Clock::new(format, zone, locale).of_kind(kind);
        let (mut rows, mut ignored_rows, mut strange) = (0_usize, 0, StrangeIds::default());
        let periods = options.periods()?;
        while table.advance()? {
            let table = &*table;
            rows += 1;
            if rows.is_multiple_of(LOOK) {
                options.check_bounds(table.file(), rows, held)?;
            }
            let (id, time) = (table.id_or(id, &only)?, table.time(time, &mut clock)?);
            let time = periods.moved(Some(kind), panel.zone(), time + table.late_shift());
            let of_row = keyed.of_id(&id, |id| panel.find(id));
            if of_row.is_empty() {
                ignored_rows += 1;
                strange.note(&id);
                continue;
            }
            let mut is_needed = false;
            for &series in &*of_row {
                let needed = &times[series * h..][..h];
                let row = |time| needed.binary_search(&time).ok().map(|step| series * h + step);
                // Where clocks show the time twice, the first of both may have been before, here or in the panel.
                let passed = |row: &Option<usize>| row.is_none_or(|row| seen[row].is_some());
                let second = clock.later.filter(|_| passed(&row(time))).and_then(row);
                let Some(row) = second.or_else(|| row(time)) else {
                    if time < needed[0] || time > needed[h - 1] {
                        continue;
                    }
                    let needed = format!("{} to {}", shown(needed[0]), shown(needed[h - 1]));
                    let (id, time) = (panel.id(series).to_string(), shown(time));
                    return Err(FutureError::Extra { at: table.place().into(), id, time, needed }.into());
                };
                is_needed = true;
                let at = table.place();
                if let Some(earlier) = seen[row].replace(at.row) {
                    if of_all.is_some() {
                        return Err(no_ids(table, options, None));
                    }
                    let earlier = Place { row: earlier, ..at.clone() }.into();
                    let (id, time) = (panel.id(series).to_string(), shown(time));
                    return Err(SeriesError::DuplicateRow {
                        at: at.into(),
                        earlier,
                        id,
                        time,
                        remedy: Repeated::Beside,
                    }
                    .into());
                }
                for (column, &i) in columns.iter_mut().zip(&extras) {
                    let cell = column.cell(table, i).map_err(|flaw| match flaw {
                        Flaw::Missing => Flaw::Ahead,
                        flaw => flaw,
                    });
                    column.set(row, cell, || (table.place(), table.shown(i)));
                }
            }
            ignored_rows += usize::from(!is_needed);
            of_all.iter_mut().for_each(|of_all| of_all.look_at(table));
        }
        if let Some(of_one) = of_all.as_ref().and_then(OfAll::of_one) {
            return Err(no_ids(table, options, Some(&of_one)));
        }
        options.check_rows(table.file(), rows)?;
        let missing = seen.iter().enumerate().filter(|(_, row)| row.is_none()).map(|(row, _)| row);
        let count = missing.clone().count();
        if count > 0 {
            let lacking = missing
                .clone()
                .filter(|row| row % h == 0 || seen[row / h * h].is_some())
                .map(|row| &**panel.id(row / h));
            if let Some((ours, theirs)) = strange.spelt_otherwise(lacking) {
                return Err(SeriesError::SpeltOtherwise { table: table.file().clone(), ours, theirs }.into());
            }
            let named = |row| format!("{} at {}", panel.id(row / h), shown(times[row]));
            let rows = missing.take(8).map(named).collect();
            return Err(FutureError::Missing { table: table.file().clone(), count, h, rows }.into());
        }
        table.check_units()?;
        let (table, mut notes) = (table.file().clone(), table.notes());
        if of_all.is_some() {
            notes.push(ReadNote::OfAllSeries { table: table.clone() });
        }
        Ok(Self { series: panel.n_series(), h, table, columns, ignored_rows, notes })
    }

    pub(crate) fn of_columns([series, h]: [usize; 2], table: Arc<str>, columns: Vec<Column>) -> Self {
        Self { series, h, table, columns, ignored_rows: 0, notes: Vec::new() }
    }

    pub(crate) fn with_columns(&self, columns: Vec<Column>) -> Self {
        Self { columns, table: self.table.clone(), notes: self.notes.clone(), ..*self }
    }

    /// Adds a column, `[series, h]`.
    pub(crate) fn add(&mut self, column: Column) -> Result<(), DataError> {
        if self.columns.iter().any(|known| known.name == column.name) {
            return Err(ColumnError::Duplicate { table: self.table.clone(), column: column.name }.into());
        }
        self.columns.push(column);
        Ok(())
    }

    /// Number of series.
    pub(crate) fn n_series(&self) -> usize {
        self.series
    }

    /// Rows of all series together.
    pub(crate) fn n_rows(&self) -> usize {
        self.series * self.h
    }

    pub(crate) fn table(&self) -> &Arc<str> {
        &self.table
    }

    /// Rows of the file that no forecast needs: before the horizon, after it, or of other series.
    pub fn ignored_rows(&self) -> usize {
        self.ignored_rows
    }

    /// The assumptions of the reader about the file.
    pub fn notes(&self) -> &[ReadNote] {
        &self.notes
    }

    /// The horizon.
    pub fn h(&self) -> usize {
        self.h
    }

    /// Names of the columns, also of those whose use would be an error.
    pub fn column_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.columns.iter().map(|column| column.name.as_str())
    }

    pub(crate) fn columns(&self) -> &[Column] {
        &self.columns
    }

    pub(crate) fn columns_mut(&mut self) -> &mut [Column] {
        &mut self.columns
    }

    /// Values of a column, `[series, h]`.
    ///
    /// # Errors
    /// No such column, or one that is not wholly numeric.
    pub fn column(&self, name: &str) -> Result<&[f32], DataError> {
        match self.columns.iter().find(|column| column.name == name) {
            Some(column) => column.usable(),
            None => {
                let remedy = "add the column to the future table";
                Err(TableError::missing_column(&self.table, name, self.column_names(), remedy).into())
            }
        }
    }
}

fn check_horizon(h: usize) -> Result<(), DataError> {
    const MOST: usize = i32::MAX as usize;
    match h {
        1..=MOST => Ok(()),
        _ => Err(TableError::setting("h", h, format!("1 to {MOST}")).into()),
    }
}

#[cfg(test)]
#[path = "covariates_tests.rs"]
mod tests;
