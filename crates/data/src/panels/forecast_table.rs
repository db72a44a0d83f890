//! Tables of forecasts and of the actual values, as they stand in a file, in `f64`.

use std::path::Path;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::bounds::LOOK;
use super::options::ReadOptions;
use super::pair::Pair;
use super::panel::Panel;
use crate::error::DataError;
use foretell_calendar::{RepeatedTimes, TimeKind, Zone};
use foretell_tables::{
    ColumnRoles, Flaw, ID, KnownColumns, ModelInTable, ReadNote, TableError, TableReader, check_sizes, open,
};

/// The column of cross-validation that says where a row's window was cut.
pub(super) const CUTOFF: &str = "cutoff";

/// A table with a row per series and time, its rows as they stand in the file: forecasts of any tool, or the actual values.
#[derive(Clone, Debug, PartialEq)]
pub struct ForecastTable {
    /// The file, for messages.
    pub file: Arc<str>,
    /// The series of each row.
    pub ids: Vec<Arc<str>>,
    /// Whether their column is one of integers.
    pub integer_ids: bool,
    /// Whether there is no such column, and the rows are of one series that is not named.
    pub is_unnamed: bool,
    /// The time of each row, as [`TimeKind`] says.
    pub times: Vec<i64>,
    /// The kind of the times.
    pub kind: TimeKind,
    /// The zone of the times, if they have one.
    pub zone: Option<Zone>,
    /// The time of the last row that was known, where the table has a column `cutoff`.
    pub cutoffs: Option<Vec<i64>>,
    /// All columns of numbers; a missing number is NaN.
    pub columns: Vec<(String, Vec<f64>)>,
    /// What columns hold, where more is known than their names tell.
    pub known: KnownColumns,
    /// What readers took for granted.
    pub notes: Vec<ReadNote>,
}

/// The columns of a table that must hold numbers alone, if they hold any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumbersIn {
    /// All of them, as each may be the forecast of a model.
    AllColumns,
    /// That of the target: others are not looked at later, whatever they hold.
    Target,
}

impl NumbersIn {
    /// A file of such a table, its rows not yet read.
    pub(super) fn opened(
        self,
        path: &Path,
        options: &ReadOptions,
    ) -> Result<Box<dyn TableReader>, DataError> {
        // Actual values are laid out as the data are, forecasts as predict writes them.
        let mut table = match self {
            Self::Target => options.laid_out(open(&[path], &options.file, |_| true)?)?,
            Self::AllColumns => options.with_ids(open(&[path], &options.file.beside(), |_| true)?)?,
        };
        table.read_numbers(options.numbers);
        Ok(table)
    }

    /// Where ids and times are in a long table.
    pub(super) fn places(
        self,
        table: &mut dyn TableReader,
        options: &ReadOptions,
    ) -> Result<RolePlaces, DataError> {
        if let Some(pair) = options.unnamed_pair(table)? {
            return Ok(RolePlaces { id: None, time: pair.time, pair: Some(pair) });
        }
        // Forecasts without ids are of one series.
        let has = |name: &str| table.find(name).is_some();
        let is_one_series =
            has(options.time_name()) && (self == Self::AllColumns || has(&options.target_col));
        let missing = ColumnRoles { values: false, or_wide: false, ..options.missing_roles(table) };
        let id = match is_one_series {
            true => table.id_column(&options.id_col, missing)?,
            false => Some(table.column(&options.id_col, missing)?),
        };
        Ok(RolePlaces { id, time: table.column(options.time_name(), missing)?, pair: None })
    }
}

/// Where the ids and the times of a table are.
pub(super) struct RolePlaces {
    id: Option<usize>,
    pub(super) time: usize,
    /// The two columns of a table that has no others, whatever they are called.
    pub(super) pair: Option<Pair>,
}

/// A column while it is read.
struct PartialColumn {
    name: String,
    /// Its cells, while all of them are numbers or missing.
    values: Vec<f64>,
    has_numbers: bool,
    /// Whether a cell is neither missing nor a number of any writing and size.
    has_texts: bool,
    /// The error for the first cell that is not a finite number.
    flaw: Option<DataError>,
    /// Whether numbers in some cells and something else in others are an error.
    is_strict: bool,
}

impl PartialColumn {
    /// Reads the cell of a row.
    ///
    /// # Errors
    /// If the column has numbers, and cells that are none.
    fn read_cell(&mut self, table: &dyn TableReader, column: usize) -> Result<(), DataError> {
        match table.wide_number(column) {
            Ok(value) => {
                self.has_numbers = true;
                if self.flaw.is_none() {
                    self.values.push(value);
                }
            }
            Err(Flaw::Missing) if self.flaw.is_none() => self.values.push(f64::NAN),
            Err(Flaw::Missing) => {}
            Err(flaw) => {
                self.has_texts |= !matches!(
                    flaw,
                    Flaw::Infinite
                        | Flaw::TooLarge
                        | Flaw::DecimalComma
                        | Flaw::CommaOfThousands
                        | Flaw::DecimalPoint
                        | Flaw::Grouped
                );
                if self.flaw.is_none() {
                    self.values = Vec::new();
                    let flaw = if flaw == Flaw::Text { Flaw::AmidForecasts } else { flaw };
                    self.flaw = Some(table.bad_value(column, flaw).into());
                }
            }
        }
        match self.flaw.take_if(|_| self.is_strict && self.has_numbers) {
            Some(flaw) => Err(flaw),
            None => Ok(()),
        }
    }

    /// The column, if it is one of numbers.
    ///
    /// # Errors
    /// If its cells are numbers that are too large or written in another way.
    fn finish(self) -> Result<Option<(String, Vec<f64>)>, DataError> {
        match self.flaw {
            None => Ok(Some((self.name, self.values))),
            Some(flaw) if self.is_strict && !self.has_texts => Err(flaw),
            // A column of texts is no forecast.
            Some(_) => Ok(None),
        }
    }
}

impl ForecastTable {
    /// Reads a file of forecasts: Parquet by its name, else text. Ids and times are in the columns that `options` names, the times of
    /// cutoffs in `cutoff` if there is one. Of the other columns those of numbers are kept; those in which no cell is a number, such
    /// as notes, are left out.
    ///
    /// # Errors
    /// A column that is missing, times that cannot be read, a cell that is no number in a column that has numbers, no rows, more than
    /// [`ReadOptions::max_memory`] has room for.
    pub fn from_file(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, DataError> {
        Self::open(path.as_ref(), options, NumbersIn::AllColumns, &[])
    }

    /// The same of these models, whose columns must hold numbers: those of others are left out where they hold something else, as an
    /// infinite forecast. All models, if none is named.
    ///
    /// # Errors
    /// The errors of `from_file`, but for cells of other models.
    pub fn of_models_from_file(
        path: impl AsRef<Path>,
        options: &ReadOptions,
        models: &[String],
    ) -> Result<Self, DataError> {
        Self::open(path.as_ref(), options, NumbersIn::AllColumns, models)
    }

    /// Reads a file of actual values, which may have further columns of any kind and is laid out as a panel's file is: wide, with hours
    /// across, of two columns whatever they are called. Its values are in the column that `options` names as the target. Else as
    /// [`ForecastTable::from_file`].
    ///
    /// # Errors
    /// The errors of `from_file`, but for cells of other columns than that of the target.
    pub fn actual_from_file(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, DataError> {
        Self::open(path.as_ref(), options, NumbersIn::Target, &[])
    }

    fn open(
        path: &Path,
        options: &ReadOptions,
        numbers: NumbersIn,
        models: &[String],
    ) -> Result<Self, DataError> {
        check_sizes(&[path], options.max_memory)?;
        let mut table = numbers.opened(path, options)?;
        match numbers == NumbersIn::Target && options.wide {
            true => Self::read_wide(&mut *table, options),
            false => Self::read_of_models(&mut *table, options, numbers, models),
        }
    }

    /// The values of a panel as a table with this column of values; those that are not known are NaN.
    pub fn of_panel(panel: &Panel, target: &str) -> Self {
        let mut table = Self {
            file: "the data".into(),
            ids: Vec::with_capacity(panel.n_rows()),
            integer_ids: false,
            is_unnamed: false,
            times: Vec::with_capacity(panel.n_rows()),
            kind: panel.freq().kind(),
            zone: panel.zone().cloned(),
            cutoffs: None,
            columns: Vec::new(),
            known: KnownColumns::default(),
            notes: panel.notes().to_vec(),
        };
        let mut values = Vec::with_capacity(panel.n_rows());
        for series in 0..panel.n_series() {
            let rows = panel.len(series);
            table.ids.extend(std::iter::repeat_n(panel.id(series), rows).cloned());
            table.times.extend(panel.times(series));
            values.extend(panel.known_values(series, 0..rows));
        }
        table.columns.push((target.to_owned(), values));
        table
    }

    /// The rows of a table of one column of times, and one of values for each series.
    fn read_wide(table: &mut dyn TableReader, options: &ReadOptions) -> Result<Self, DataError> {
        let time = options.time_col.as_ref().map_or(Ok(0), |name| table.column(name, ColumnRoles::TIMES))?;
        let series: Vec<(usize, Arc<str>)> = (table.columns().enumerate())
            .filter(|(i, name)| *i != time && !name.is_empty())
            .map(|(i, name)| (i, Arc::from(name)))
            .collect();
        let (mut clock, mut repeated) = (options.clock(table), RepeatedTimes::default());
        let (mut ids, mut times, mut values) = (Vec::new(), Vec::new(), Vec::new());
        while table.advance()? {
            let instant = table.time(time, &mut clock)?;
            let instant = match options.zone {
                None => instant,
                Some(_) => {
                    repeated.resolve(0, instant, clock.later).map_err(|why| table.bad_time(time, why))?
                }
            };
            for (column, id) in &series {
                values.push(match table.wide_number(*column) {
                    Ok(value) => value,
                    Err(Flaw::Missing) => f64::NAN,
                    Err(flaw) => return Err(table.bad_value(*column, flaw).into()),
                });
                ids.push(id.clone());
                times.push(instant + table.late_shift());
            }
            options.check_bounds(table.file(), times.len(), times.len() * 64)?;
        }
        let kind = clock.kind.ok_or_else(|| DataError::NoRows { table: table.file().clone() })?;
        let (file, columns) = (table.file().clone(), vec![(options.target_col.clone(), values)]);
        let (zone, known, mut notes) = (clock.zone, KnownColumns::default(), table.notes());
        notes.extend(options.notation.note(file.clone()));
        let (integer_ids, is_unnamed, cutoffs) = (false, false, None);
        Ok(Self { file, ids, integer_ids, is_unnamed, times, kind, zone, cutoffs, columns, known, notes })
    }

    /// The rows of a table; else as [`ForecastTable::from_file`].
    pub(crate) fn read(
        table: &mut dyn TableReader,
        options: &ReadOptions,
        numbers: NumbersIn,
    ) -> Result<Self, DataError> {
        Self::read_of_models(table, options, numbers, &[])
    }

    /// The same, with numbers in the columns of these models, if some are named.
    fn read_of_models(
        table: &mut dyn TableReader,
        options: &ReadOptions,
        numbers: NumbersIn,
        models: &[String],
    ) -> Result<Self, DataError> {
        let RolePlaces { id, time, pair } = numbers.places(table, options)?;
        // As in a panel, the only series is called as its column of values.
        let names_target = pair.filter(|_| numbers == NumbersIn::Target);
        let only =
            names_target.map_or(options.target_col.clone(), |pair| table.header()[pair.target].clone());
        let cutoff = table.find(CUTOFF).filter(|_| pair.is_none());
        let others = columns_of_others(table, &options.target_col, models);
        let is_strict = |name: &str| {
            numbers == NumbersIn::AllColumns && !others.contains(name) || name == options.target_col
        };
        let (places, mut columns): (Vec<usize>, Vec<PartialColumn>) = (table.columns().enumerate())
            .filter(|(i, name)| ![id, Some(time), cutoff].contains(&Some(*i)) && !name.is_empty())
            .map(|(i, name)| {
                let name = if names_target.is_some() { &*options.target_col } else { name };
                let (name, values, is_strict) = (name.to_owned(), Vec::new(), is_strict(name));
                let column = PartialColumn {
                    name,
                    values,
                    has_numbers: false,
                    has_texts: false,
                    flaw: None,
                    is_strict,
                };
                (i, column)
            })
            .unzip();
        let (mut clock, mut repeated) = (options.clock(table), RepeatedTimes::default());
        let (mut known, mut ids) = (FxHashMap::<Arc<str>, usize>::default(), Vec::<Arc<str>>::new());
        let (mut times, mut cutoffs, mut integer_ids) = (Vec::new(), cutoff.map(|_| Vec::new()), false);
        // A reference to the id, a time, a cutoff, and the numbers; vectors may have twice the room that they need.
        let row = 2 * (16 + 8 + 8 + size_of::<f64>() * columns.len());
        let (mut at_row, mut last) = (pair.is_some_and(|pair| pair.at_row), 0);
        while std::mem::take(&mut at_row) || table.advance()? {
            if times.len().is_multiple_of(LOOK) {
                options.check_bounds(table.file(), times.len(), times.len() * row)?;
            }
            let name = table.id_or(id, &only)?;
            if ids.last().is_none_or(|last| **last != *name) {
                let number = known.len();
                last = *known.entry(Arc::from(&*name)).or_insert(number);
                ids.push(known.get_key_value(&*name).map_or_else(|| Arc::from(&*name), |(id, _)| id.clone()));
            } else {
                ids.extend_from_within(ids.len() - 1..);
            }
            integer_ids = id.is_some_and(|id| table.integer_ids(id));
            let instant = table.time(time, &mut clock)?;
            // Clocks show some times twice; which one a row is of, the rows before tell, of one forecast of a series.
            times.push(match options.zone.is_some() && cutoff.is_none() {
                false => instant,
                true => {
                    (repeated.resolve(last, instant, clock.later)).map_err(|why| table.bad_time(time, why))?
                }
            });
            if let (Some(column), Some(cutoffs)) = (cutoff, &mut cutoffs) {
                cutoffs.push(table.time(column, &mut clock)?);
            }
            for (column, &i) in columns.iter_mut().zip(&places) {
                column.read_cell(table, i)?;
            }
        }
        options.check_rows(table.file(), times.len())?;
        if id.is_none() && numbers == NumbersIn::AllColumns && come_again(&times, cutoffs.as_deref()) {
            return Err(table.missing_column(&options.id_col, table.columns(), ColumnRoles::IDS).into());
        }
        times.iter_mut().for_each(|time| *time += table.late_shift());
        let kind = clock.kind.ok_or_else(|| DataError::NoRows { table: table.file().clone() })?;
        let columns = columns.into_iter().filter_map(|column| column.finish().transpose());
        let columns = columns.collect::<Result<_, _>>()?;
        let file = table.file().clone();
        let (zone, known, mut notes) = (clock.zone, KnownColumns::default(), table.notes());
        notes.extend(options.notation.note(file.clone()));
        let is_unnamed = id.is_none();
        Ok(Self { file, ids, integer_ids, is_unnamed, times, kind, zone, cutoffs, columns, known, notes })
    }

    /// The table with the id of the only series that its rows may be of, where it has no column of ids; a table that has one is unchanged.
    ///
    /// # Errors
    /// If there are several such series.
    pub fn of_series<'a>(mut self, ids: impl IntoIterator<Item = &'a Arc<str>>) -> Result<Self, DataError> {
        if self.is_unnamed {
            let mut ids = ids.into_iter();
            let first = ids.next().cloned();
            if ids.any(|id| Some(id) != first.as_ref()) {
                return Err(self.without_ids(ID));
            }
            self.ids = first.map_or(self.ids.clone(), |id| vec![id; self.ids.len()]);
        }
        Ok(self)
    }

    /// The rows of those series that `is_kept`.
    pub fn of_ids(&self, is_kept: impl Fn(&str) -> bool) -> Self {
        let rows: Vec<usize> = (0..self.ids.len()).filter(|&row| is_kept(&self.ids[row])).collect();
        let times = |times: &Vec<i64>| rows.iter().map(|&row| times[row]).collect();
        let column = |(name, values): &(String, Vec<f64>)| {
            (name.clone(), rows.iter().map(|&row| values[row]).collect())
        };
        Self {
            file: self.file.clone(),
            ids: rows.iter().map(|&row| self.ids[row].clone()).collect(),
            integer_ids: self.integer_ids,
            is_unnamed: self.is_unnamed,
            times: times(&self.times),
            kind: self.kind,
            zone: self.zone.clone(),
            cutoffs: self.cutoffs.as_ref().map(times),
            columns: self.columns.iter().map(column).collect(),
            known: self.known.clone(),
            notes: self.notes.clone(),
        }
    }

    /// The error of a table that has no column of ids, called so, where there are several series.
    pub fn without_ids(&self, id_col: &str) -> DataError {
        let names = self.columns.iter().map(|(name, _)| name.as_str());
        TableError::missing_column(&self.file, id_col, names, ColumnRoles::IDS).into()
    }

    /// The times of the rows where these are gathered in periods or moved to steps, as `options` say; else unchanged.
    ///
    /// # Errors
    /// Periods to gather rows in without a way to do so, a step to move to that is not of one length.
    pub fn gathered_times(&self, options: &ReadOptions) -> Result<Vec<i64>, DataError> {
        let periods = options.periods()?;
        let moved = |time: &i64| periods.moved(Some(self.kind), self.zone.as_ref(), *time);
        Ok(self.times.iter().map(moved).collect())
    }

    /// The models that the table has forecasts or components of, with the places of their columns.
    pub fn models(&self, target: &str) -> Vec<ModelInTable> {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        ModelInTable::of(&self.known.of(&names, target))
    }

    /// The column of that name.
    ///
    /// # Errors
    /// [`ColumnError::Missing`](foretell_tables::ColumnError::Missing) with the columns there are.
    pub fn column(&self, name: &str) -> Result<&[f64], DataError> {
        let names = self.columns.iter().map(|(name, _)| name.as_str());
        let values = self.columns.iter().find(|(column, _)| column == name).map(|(_, column)| &column[..]);
        values.ok_or_else(|| {
            let remedy =
                if self.columns.is_empty() { "add it" } else { "give one of these columns of numbers" };
            TableError::missing_column(&self.file, name, names, remedy).into()
        })
    }
}

/// The columns of other models than these, if some are named.
fn columns_of_others(table: &dyn TableReader, target: &str, models: &[String]) -> FxHashSet<String> {
    if models.is_empty() {
        return FxHashSet::default();
    }
    let names: Vec<&str> = table.columns().collect();
    let columns = KnownColumns::default().of(&names, target);
    let others = names.iter().zip(&columns).filter(|(_, column)| {
        column.as_ref().is_some_and(|column| !models.iter().any(|model| model == column.model()))
    });
    others.map(|(name, _)| (*name).to_owned()).collect()
}

/// Whether a time comes again, of one cutoff.
fn come_again(times: &[i64], cutoffs: Option<&[i64]>) -> bool {
    let mut seen = FxHashSet::default();
    let cutoff = |row: usize| cutoffs.map_or(0, |cutoffs| cutoffs[row]);
    times.iter().enumerate().any(|(row, time)| !seen.insert((cutoff(row), *time)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits_and_texts_are_left_out() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("f.csv");
        let text = "unique_id,ds,cutoff,y,A,note\na,2024-01-02,2024-01-01,20000001,0.1,x\na,2024-01-03,2024-01-01,,0.2,\n";
        std::fs::write(&path, text).unwrap();
        let table = ForecastTable::from_file(&path, &ReadOptions::default()).unwrap();
        assert_eq!(table.column("A").unwrap(), [0.1, 0.2]);
        assert!(table.column("y").unwrap()[0] == 20_000_001.0 && table.column("y").unwrap()[1].is_nan());
        assert_eq!(table.cutoffs.as_ref().map(Vec::len), Some(2));
        let error = table.column("note").unwrap_err().to_string();
        assert!(
            error.contains("no column `note`; it has `y`, `A`; give one of these columns of numbers"),
            "{error}"
        );
        let texts = read(&[("note", &["x"])]).unwrap().column("y").unwrap_err().to_string();
        let told = "f.csv has no column `y`; it has no columns beside those it must have, such as ids and times; add it";
        assert!(texts.ends_with(told), "{texts}");
    }

    /// The table of a file of these columns beside ids and times, each with a cell a row.
    fn read(columns: &[(&str, &[&str])]) -> Result<ForecastTable, DataError> {
        read_as(columns, NumbersIn::AllColumns)
    }

    fn read_as(columns: &[(&str, &[&str])], numbers: NumbersIn) -> Result<ForecastTable, DataError> {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("f.csv");
        let header: Vec<&str> =
            ["unique_id", "ds"].into_iter().chain(columns.iter().map(|(name, _)| *name)).collect();
        let mut text = header.join(";") + "\n";
        for row in 0..columns[0].1.len() {
            let cells: Vec<&str> = columns.iter().map(|(_, cells)| cells[row]).collect();
            text += &format!("a;{};{}\n", row + 1, cells.join(";"));
        }
        std::fs::write(&path, text).unwrap();
        ForecastTable::open(&path, &ReadOptions::default(), numbers, &[])
    }

    #[test]
    fn what_columns_of_other_models_hold_stops_nothing() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("f.csv");
        let text = "unique_id,ds,A,A-lo-80,B,B-lo-80\na,1,1,0,inf,x\na,2,2,1,3,2\n";
        std::fs::write(&path, text).unwrap();
        let read = |models: &[&str]| {
            let models: Vec<String> = models.iter().map(ToString::to_string).collect();
            let table = ForecastTable::of_models_from_file(&path, &ReadOptions::default(), &models)?;
            Ok::<_, DataError>(table.columns.into_iter().map(|(name, _)| name).collect::<Vec<_>>())
        };
        assert_eq!(read(&["A"]).unwrap(), ["A", "A-lo-80"]);
        for models in [&["B"][..], &["A", "B"], &[]] {
            let error = read(models).unwrap_err().to_string();
            assert!(error.contains("line 2, column `B`: \"inf\" is not finite"), "{error}");
        }
    }

    #[test]
    fn a_cell_among_numbers_that_is_none_is_an_error_with_its_place() {
        for (cells, line, part) in [
            (["1", "1.5x", "2"], 3, "\"1.5x\" is not a number alone"),
            (["1", "", "45.046 kg"], 4, "\"45.046 kg\" is not a number alone"),
            (["1", "sold out", "2"], 3, "\"sold out\" is not a number, as other cells of its column are"),
            (["NaN", "sold out", "2"], 3, "\"sold out\" is not a number, as other cells"),
            (["sold out", "n/a", "2"], 2, "\"sold out\" is not a number, as other cells"),
            (["1", "-", "2"], 3, "\"-\" is a dash"),
            (["1", "2", "inf"], 4, "\"inf\" is not finite"),
            (["inf", "", "inf"], 2, "\"inf\" is not finite"),
            (["1", "1,5", "2"], 3, "\"1,5\" has a decimal comma"),
            (["1,5", "", "2,5"], 2, "\"1,5\" has a decimal comma"),
        ] {
            let error = read(&[("A", &["1"; 3]), ("B", &cells)]).unwrap_err().to_string();
            assert!(error.contains(&format!("f.csv, line {line}, column `B`: {part}")), "{cells:?}: {error}");
        }
    }

    #[test]
    fn forecasts_without_ids_are_of_the_only_series() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("f.csv");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            ForecastTable::from_file(&path, &ReadOptions::default())
        };
        let ids: [Arc<str>; 2] = ["north".into(), "north".into()];
        for text in [
            "ds,yhat\n2024-01-01,1\n2024-01-02,2\n",
            "ds,yhat,lower\n2024-01-01,1,0\n2024-01-02,2,1\n",
            "Month,yhat\n2024-01,1\n2024-02,2\n",
        ] {
            let table = read(text).unwrap();
            assert!(table.is_unnamed && table.column("yhat").unwrap() == [1.0, 2.0], "{text}");
            assert_eq!(table.of_series(&ids).unwrap().ids, ids, "{text}");
        }
        // Several series, here or beside it.
        let error = read("ds,yhat,x\n2024-01-01,1,1\n2024-01-01,2,1\n").unwrap_err().to_string();
        assert!(error.contains("has no column `unique_id`; it has `ds`, `yhat`, `x`"), "{error}");
        let several: [Arc<str>; 2] = ["north".into(), "south".into()];
        let error = read("ds,yhat\n2024-01-01,1\n").unwrap().of_series(&several).unwrap_err().to_string();
        assert!(
            error.contains("has no column `unique_id`; it has `yhat`; say which column has the ids"),
            "{error}"
        );
        let named = read("unique_id,ds,yhat\na,2024-01-01,1\n").unwrap();
        assert_eq!(named.clone().of_series(&several).unwrap(), named);
    }

    #[test]
    fn columns_without_a_number_are_left_out() {
        let texts = [["a", "b", ""], ["5 kg", "6 kg", "?"], ["True", "False", "nan"], ["-", "", "n/a"]];
        for cells in texts {
            let table = read(&[("note", &cells), ("A", &["1", "2", ""])]).unwrap();
            assert_eq!(table.columns.len(), 1, "{cells:?}");
            assert_eq!(table.column("A").unwrap()[..2], [1.0, 2.0]);
        }
        let missing = read(&[("A", &["", "n/a"])]).unwrap();
        assert!(missing.column("A").unwrap().iter().all(|value| value.is_nan()));
    }

    #[test]
    fn of_actual_values_only_those_of_the_target_must_be_numbers() {
        let further = |y: &[&str; 2]| read_as(&[("shelf", &["7", "A"]), ("y", y)], NumbersIn::Target);
        let table = further(&["1", ""]).unwrap();
        assert_eq!(table.columns.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["y"]);
        let error = further(&["1", "many"]).unwrap_err().to_string();
        assert!(error.contains("f.csv, line 3, column `y`: \"many\" is not a number"), "{error}");
    }

    #[test]
    fn actual_values_are_recognised_as_the_data_are() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.csv");
        let read = |text: &str, options: &ReadOptions| {
            std::fs::write(&path, text).unwrap();
            let table = ForecastTable::actual_from_file(&path, options).unwrap();
            let ids = table.ids.iter().map(|id| id.to_string()).collect::<Vec<_>>();
            (ids, table.column("y").unwrap().to_vec())
        };
        let two = ["Month,Sales EUR\n2024-01,5\n2024-02,6\n", "Sales EUR,Month\n5,2024-01\n6,2024-02\n"];
        for text in two {
            assert_eq!(read(text, &ReadOptions::new()), (vec!["Sales EUR".to_owned(); 2], vec![5.0, 6.0]));
        }
        let one = read("ds,y,price\n1,5,x\n2,6,x\n", &ReadOptions::new());
        assert_eq!(one, (vec!["y".to_owned(); 2], vec![5.0, 6.0]));
        let wide = read("day,a,b\n1,5,7\n2,6,\n", &ReadOptions::new().wide());
        assert_eq!(wide.0, ["a", "b", "a", "b"]);
        assert!(wide.1[..3] == [5.0, 7.0, 6.0] && wide.1[3].is_nan());
    }

    #[test]
    fn an_hour_that_clocks_show_twice_is_two_hours() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.csv");
        let hours = ["01:00", "02:00", "02:00", "03:00"].map(|hour| format!("a,2023-10-29 {hour}:00,1\n"));
        std::fs::write(&path, format!("unique_id,ds,y\n{}", hours.concat())).unwrap();
        let options = ReadOptions::new().zone(foretell_calendar::Zone::parse("Europe/Berlin").unwrap());
        let times = ForecastTable::actual_from_file(&path, &options).unwrap().times;
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] == 3_600_000_000), "{times:?}");
    }

    #[test]
    fn texts_of_other_kinds_of_files_are_read_alike() {
        use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
        use foretell_tables::ArrowTable;
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("f.parquet");
        let read = |cells: [Option<&str>; 3]| {
            let batch = RecordBatch::try_from_iter([
                ("unique_id", Arc::new(StringArray::from(vec!["a"; 3])) as ArrayRef),
                ("ds", Arc::new(Int64Array::from(vec![1, 2, 3]))),
                ("A", Arc::new(StringArray::from(cells.to_vec()))),
            ])
            .unwrap();
            let file = std::fs::File::create(&path).unwrap();
            let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
            writer.write(&batch).unwrap();
            writer.close().unwrap();
            let options = ReadOptions::default();
            (
                ForecastTable::from_file(&path, &options),
                ForecastTable::from_table(ArrowTable::from_batches([batch]).unwrap(), &options),
            )
        };
        let (file, batch) = read([Some("1"), None, Some("1.5x")]);
        let (file, batch) = (file.unwrap_err().to_string(), batch.unwrap_err().to_string());
        assert!(file.contains("f.parquet, row 2, column `A`: \"1.5x\" is not a number alone"), "{file}");
        assert!(batch.contains("row 2, column `A`: \"1.5x\" is not a number alone"), "{batch}");
        let (file, batch) = read([Some("x"), None, Some("y")]);
        assert!(file.unwrap().columns.is_empty() && batch.unwrap().columns.is_empty());
    }
}
