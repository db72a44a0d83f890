//! Tables of forecasts and of the actual values, as they stand in a file, in `f64`.

use std::path::Path;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::options::{ID_REMEDY, ReadOptions, TIME_REMEDY};
use super::read::LOOK;
use crate::calendar::clock::Clock;
use crate::calendar::kind::TimeKind;
use crate::calendar::zone::Zone;
use crate::error::DataError;
use crate::error::flaw::Flaw;
use crate::tables::file_options::FileOptions;
use crate::tables::open::open;
use crate::tables::table::TableReader;

/// The column of cross-validation that says where a row's window was cut.
const CUTOFF: &str = "cutoff";

/// A table with a row per series and time, its rows as they stand in the file: forecasts of any tool, or the actual values.
#[derive(Clone, Debug, PartialEq)]
pub struct ForecastTable {
    /// The file, for messages.
    pub file: Arc<str>,
    /// The series of each row.
    pub ids: Vec<Arc<str>>,
    /// Whether their column is one of integers.
    pub integer_ids: bool,
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
}

/// A column's name and its numbers, while all of its cells are some.
type Numbers = (String, Option<Vec<f64>>);

impl ForecastTable {
    /// Reads a file: Parquet by its name, else text. Ids and times are in the columns that `options` names, the times of cutoffs in
    /// `cutoff` if there is one. Of the other columns those of numbers are kept.
    ///
    /// # Errors
    /// A column that is missing, times that cannot be read, no rows, more than [`ReadOptions::max_memory`] has room for.
    pub fn from_file(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, DataError> {
        let mut table = open(&[path], &options.file.beside(), |_| true)?;
        table.read_numbers(options.numbers);
        Self::read(&mut *table, options)
    }

    /// The rows of a table; else as [`ForecastTable::from_file`].
    pub(crate) fn read(table: &mut dyn TableReader, options: &ReadOptions) -> Result<Self, DataError> {
        let id = table.column(&options.id_col, ID_REMEDY)?;
        let time = table.column(options.time_name(), TIME_REMEDY)?;
        let cutoff = table.find(CUTOFF);
        let (places, mut columns): (Vec<usize>, Vec<Numbers>) = (table.columns().enumerate())
            .filter(|(i, name)| ![Some(id), Some(time), cutoff].contains(&Some(*i)) && !name.is_empty())
            .map(|(i, name)| (i, (name.to_owned(), Some(Vec::new()))))
            .unzip();
        let mut clock =
            Clock { zone: options.zone.clone(), format: options.time_format.clone(), ..Clock::default() };
        let (mut known, mut ids) = (FxHashSet::<Arc<str>>::default(), Vec::<Arc<str>>::new());
        let (mut times, mut cutoffs, mut integer_ids) = (Vec::new(), cutoff.map(|_| Vec::new()), false);
        // A reference to the id, a time, a cutoff, and the numbers; vectors may have twice the room that they need.
        let row = 2 * (16 + 8 + 8 + size_of::<f64>() * columns.len());
        while table.advance()? {
            if times.len().is_multiple_of(LOOK) {
                options.check_memory(table.file(), times.len(), times.len() * row)?;
            }
            let name = table.id(id)?;
            let same = ids.last().filter(|last| ***last == *name).or_else(|| known.get(&*name)).cloned();
            ids.push(same.unwrap_or_else(|| {
                let id: Arc<str> = Arc::from(&*name);
                known.insert(id.clone());
                id
            }));
            integer_ids = table.integer_ids(id);
            times.push(table.time(time, &mut clock)?);
            if let (Some(column), Some(cutoffs)) = (cutoff, &mut cutoffs) {
                cutoffs.push(table.time(column, &mut clock)?);
            }
            for ((_, column), &i) in columns.iter_mut().zip(&places) {
                let Some(values) = column else { continue };
                match table.wide_number(i) {
                    Ok(value) => values.push(value),
                    Err(Flaw::Missing) => values.push(f64::NAN),
                    // A column of texts is no forecast.
                    Err(_) => *column = None,
                }
            }
        }
        let kind = clock.kind.ok_or_else(|| DataError::NoRows { table: table.file().clone() })?;
        let columns = columns.into_iter().filter_map(|(name, values)| Some((name, values?))).collect();
        let file = table.file().clone();
        Ok(Self { file, ids, integer_ids, times, kind, zone: clock.zone, cutoffs, columns })
    }

    /// The column of that name.
    ///
    /// # Errors
    /// [`DataError::MissingColumn`] with the columns there are.
    pub fn column(&self, name: &str) -> Result<&[f64], DataError> {
        let names = self.columns.iter().map(|(name, _)| name.as_str());
        let values = self.columns.iter().find(|(column, _)| column == name).map(|(_, column)| &column[..]);
        values.ok_or_else(|| {
            let remedy = "give one of these columns of numbers";
            DataError::missing_column(&self.file, name, names, remedy)
        })
    }
}

/// The label of each series in a column of files, read as one table: of the static table, or of any in which each series has one.
///
/// # Errors
/// A column that is missing, or a series with two labels.
pub fn series_labels(
    paths: &[impl AsRef<Path>],
    id_col: &str,
    column: &str,
) -> Result<FxHashMap<Arc<str>, String>, DataError> {
    let wanted = |name: &str| name == id_col || name == column;
    let mut table = open(paths, &FileOptions::default(), wanted)?;
    let id = table.column(id_col, ID_REMEDY)?;
    let place = table.column(column, "give one of these columns")?;
    let mut labels = FxHashMap::<Arc<str>, String>::default();
    while table.advance()? {
        let table = &*table;
        let label = table.label(place).map_err(|flaw| table.bad_value(place, flaw))?;
        match labels.get(&*table.id(id)?) {
            Some(known) if *known != label => {
                return Err(DataError::DuplicateStatic { at: table.place(), id: table.id(id)?.into_owned() });
            }
            Some(_) => {}
            None => _ = labels.insert(Arc::from(&*table.id(id)?), label.into_owned()),
        }
    }
    Ok(labels)
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
        assert!(error.contains("no column `note`; it has `y`, `A`"), "{error}");
        let labels = series_labels(&[&path], "unique_id", "cutoff").unwrap();
        assert_eq!(labels["a"], "2024-01-01");
        assert!(matches!(series_labels(&[&path], "unique_id", "ds"), Err(DataError::DuplicateStatic { .. })));
    }
}
