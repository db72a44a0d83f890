//! A panel: many series of one frequency, their columns, and what is known per series.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::cells::finite;
use super::column::Column;
use super::fill::{Filled, Trimmed};
use super::keyed_series::KeyedSeries;
use super::level::SeriesLevel;
use super::numbers::Numbers;
use super::origin::SLICES;
use super::spelling::StrangeIds;
use crate::error::DataError;
use crate::error::series::SeriesError;
use foretell_calendar::{Freq, Zone};
use foretell_messages::Setting;
use foretell_tables::{ColumnError, Hours, Place, ReadNote, TableError};

/// Series of one frequency, sorted by id, with the target `y`, further numeric columns of the same
/// rows, and static columns with one value per series.
///
/// Every series is regular: row `i` is `i` steps after its first, so times are computed, not
/// stored. Cloning and cutting rows off the end share the columns.
#[derive(Clone)]
pub struct Panel {
    freq: Freq,
    zone: Option<Zone>,
    pub(crate) series: Vec<Series>,
    pub(crate) data: Arc<Data>,
    pub(crate) statics: Arc<Vec<Column>>,
    notes: Arc<Vec<ReadNote>>,
}

/// One series: its rows in the columns, and the time of the first.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) id: Arc<str>,
    pub(crate) start: usize,
    pub(crate) len: usize,
    /// Where the room ends that it has in the columns.
    pub(crate) reach: usize,
    pub(crate) first_time: i64,
    /// Position among the static values.
    pub(crate) place: usize,
    /// The level that the values of `y` are relative to.
    pub(crate) level: SeriesLevel,
}

impl Series {
    pub(crate) fn rows(&self) -> Range<usize> {
        self.start..self.start + self.len
    }
}

#[derive(Clone)]
pub(crate) struct Data {
    /// File or "the panel", for messages.
    pub(crate) table: Arc<str>,
    pub(crate) y: Numbers,
    pub(crate) mask: Option<Numbers>,
    pub(crate) weight: Option<Numbers>,
    pub(crate) columns: Vec<Column>,
    pub(crate) freq_inferred: bool,
    pub(crate) integer_ids: bool,
    pub(crate) filled: Filled,
    pub(crate) trimmed: Trimmed,
}

impl Data {
    /// The values of series that came as slices, without further columns.
    pub(crate) fn of_slices(y: Vec<f32>) -> Self {
        Self {
            table: SLICES.into(),
            y: y.into(),
            mask: None,
            weight: None,
            columns: Vec::new(),
            freq_inferred: false,
            integer_ids: false,
            filled: Filled::default(),
            trimmed: Trimmed::default(),
        }
    }

    /// Everything but the numbers as it is.
    pub(crate) fn with_values(&self, y: Numbers, columns: Vec<Column>) -> Self {
        let (table, mask, weight) = (self.table.clone(), self.mask.clone(), self.weight.clone());
        Self { table, y, mask, weight, columns, ..*self }
    }

    pub(crate) fn shrink(&mut self) {
        let extras = self.columns.iter_mut().filter_map(|column| column.values.as_mut().ok());
        for values in extras.chain(&mut self.mask).chain(&mut self.weight).chain([&mut self.y]) {
            values.vec().shrink_to_fit();
        }
    }
}

impl Panel {
    pub(crate) fn new(freq: Freq, zone: Option<Zone>, series: Vec<Series>, data: Data) -> Self {
        Self { freq, zone, series, data: Arc::new(data), statics: Arc::default(), notes: Arc::default() }
    }

    /// The same with other series of the same columns.
    pub(crate) fn with_series(&self, series: Vec<Series>) -> Self {
        Self { series, ..self.clone() }
    }

    /// Number of series.
    pub fn n_series(&self) -> usize {
        self.series.len()
    }

    /// Number of rows of all series together.
    pub fn n_rows(&self) -> usize {
        self.series.iter().map(|series| series.len).sum()
    }

    /// The memory that the columns and series take, in bytes; the columns of a panel that was cut are those of the
    /// whole, and numbers in files take none.
    pub fn bytes(&self) -> usize {
        let ids = self.series.iter().map(|series| size_of::<Series>() + series.id.len());
        size_of::<f32>() * self.count(Numbers::len_in_memory) + ids.sum::<usize>()
    }

    /// The memory that the numbers of a copy with all columns take, in bytes.
    pub fn copied_bytes(&self) -> usize {
        size_of::<f32>() * self.count(|numbers| numbers.len())
    }

    /// A sum over the columns.
    fn count(&self, numbers: impl Fn(&Numbers) -> usize) -> usize {
        let Data { y, mask, weight, columns, .. } = &*self.data;
        let further = columns.iter().filter_map(|column| column.values.as_ref().ok());
        further.chain(mask).chain(weight).chain([y]).map(numbers).sum()
    }

    /// # Panics
    /// If there is none of this number.
    #[track_caller]
    fn at(&self, series: usize) -> &Series {
        let count = self.n_series();
        self.series
            .get(series)
            .unwrap_or_else(|| panic!("series {series} of a panel of {count}, counted from 0"))
    }

    /// Number of rows of a series.
    #[track_caller]
    pub fn len(&self, series: usize) -> usize {
        self.at(series).len
    }

    /// Whether there is no series (a built panel has at least one; a cut one may not).
    pub fn is_empty(&self) -> bool {
        self.series.is_empty()
    }

    /// Rows of the longest series.
    pub fn max_len(&self) -> usize {
        self.series.iter().map(|series| series.len).max().unwrap_or(0)
    }

    /// Rows of the shortest series.
    pub fn min_len(&self) -> usize {
        self.series.iter().map(|series| series.len).min().unwrap_or(0)
    }

    /// The step between rows.
    pub fn freq(&self) -> Freq {
        self.freq
    }

    /// Whether the ids came as integers, not as texts.
    pub fn has_integer_ids(&self) -> bool {
        self.data.integer_ids
    }

    /// The zone of the times; nothing for integers and civil times.
    pub fn zone(&self) -> Option<&Zone> {
        self.zone.as_ref()
    }

    /// Whether the frequency was inferred from the times.
    pub fn freq_is_inferred(&self) -> bool {
        self.data.freq_inferred
    }

    /// The rows and cells that [`Fill`](crate::Fill) added, if it was set.
    pub fn filled(&self) -> Filled {
        self.data.filled
    }

    /// The rows that were left out, before and after what is known of a series.
    pub fn trimmed(&self) -> Trimmed {
        self.data.trimmed
    }

    /// The assumptions of readers about the files, those of static columns included.
    pub fn notes(&self) -> &[ReadNote] {
        &self.notes
    }

    /// Which hours the numbers of hours that made its times name, where these ended.
    pub(crate) fn hours(&self) -> Option<Hours> {
        let ending = |note: &ReadNote| matches!(note, ReadNote::HoursEnding { .. });
        self.notes.iter().any(ending).then_some(Hours::Ending)
    }

    pub(crate) fn with_notes(mut self, notes: Vec<ReadNote>) -> Self {
        if !notes.is_empty() {
            Arc::make_mut(&mut self.notes).extend(notes);
        }
        self
    }

    /// Id of a series.
    #[track_caller]
    pub fn id(&self, series: usize) -> &Arc<str> {
        &self.at(series).id
    }

    /// Ids of all series, sorted.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = &Arc<str>> {
        self.series.iter().map(|series| &series.id)
    }

    /// The series of that id.
    pub fn find(&self, id: &str) -> Option<usize> {
        self.series.binary_search_by(|series| (*series.id).cmp(id)).ok()
    }

    /// The target of a series, relative to its [`level`](Self::level). Where `available_mask` is 0 and there was no value it is 0.
    #[track_caller]
    pub fn y(&self, series: usize) -> &[f32] {
        &self.data.y[self.at(series).rows()]
    }

    /// 1 where `y` is known, 0 elsewhere; nothing if all of it is.
    #[track_caller]
    pub fn available_mask(&self, series: usize) -> Option<&[f32]> {
        self.data.mask.as_ref().map(|mask| &mask[self.at(series).rows()])
    }

    /// Weights of the rows in the loss, if there are any.
    #[track_caller]
    pub fn sample_weight(&self, series: usize) -> Option<&[f32]> {
        self.data.weight.as_ref().map(|weight| &weight[self.at(series).rows()])
    }

    /// Names of the further columns, also of those whose use would be an error.
    pub fn column_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.data.columns.iter().map(|column| column.name.as_str())
    }

    /// Names of the static columns, also of those whose use would be an error.
    pub fn static_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.statics.iter().map(|column| column.name.as_str())
    }

    /// A further column of a series.
    ///
    /// # Errors
    /// No such column, or one that is not wholly numeric.
    #[track_caller]
    pub fn column(&self, name: &str, series: usize) -> Result<&[f32], DataError> {
        Ok(&self.whole_column(name)?[self.at(series).rows()])
    }

    /// A static value of a series.
    ///
    /// # Errors
    /// No such column, or one that is not wholly numeric.
    #[track_caller]
    pub fn static_value(&self, name: &str, series: usize) -> Result<f32, DataError> {
        Ok(self.static_column(name)?[self.at(series).place])
    }

    pub(crate) fn whole_column(&self, name: &str) -> Result<&[f32], DataError> {
        self.find_column(name)?.usable()
    }

    pub(crate) fn find_column(&self, name: &str) -> Result<&Column, DataError> {
        const REMEDY: &str = "give one of these names, or add the column";
        let column = self.data.columns.iter().find(|column| column.name == name);
        let lacks = || TableError::missing_column(&self.data.table, name, self.column_names(), REMEDY);
        Ok(column.ok_or_else(lacks)?)
    }

    pub(crate) fn static_column(&self, name: &str) -> Result<&[f32], DataError> {
        self.find_static(name)?.usable()
    }

    pub(crate) fn find_static(&self, name: &str) -> Result<&Column, DataError> {
        let column = self.statics.iter().find(|column| column.name == name);
        column.ok_or_else(|| {
            let table = "the static table".into();
            let remedy = format!(
                "give one of these names, or add the column to the static table ({})",
                Setting::StaticTable
            );
            TableError::missing_column(&table, name, self.static_names(), remedy).into()
        })
    }

    /// The level that the target of a series is relative to: that of offset 0 and scale 1, unless single precision would lose its steps.
    #[track_caller]
    pub fn level(&self, series: usize) -> SeriesLevel {
        self.at(series).level
    }

    /// Whether a series is held relative to a level.
    pub fn has_levels(&self) -> bool {
        self.series.iter().any(|series| !series.level.is_default())
    }

    /// The same values, of which each series is held relative to the level that `level` says. Nothing is copied where all have it
    /// already.
    pub fn with_levels(&self, level: impl Fn(&str) -> SeriesLevel) -> Self {
        let mut panel = self.clone();
        if self.series.iter().all(|series| level(&series.id) == series.level) {
            return panel;
        }
        let data = Arc::make_mut(&mut panel.data);
        for series in &mut panel.series {
            let to = level(&series.id);
            let y = &mut data.y[series.rows()];
            if to != series.level {
                let mask = data.mask.as_ref().map(|mask| &mask[series.rows()]);
                for (row, y) in y.iter_mut().enumerate() {
                    // What stands in place of an unknown value is none.
                    if *y != 0.0 || mask.is_none_or(|mask| mask[row] != 0.0) {
                        *y = to.hold(series.level.value(*y));
                    }
                }
            }
            series.level = to;
        }
        panel
    }

    /// Takes the values that a panel holds for those relative to the levels that `level` says.
    pub fn held_at(mut self, level: impl Fn(&str) -> SeriesLevel) -> Self {
        self.series.iter_mut().for_each(|series| series.level = level(&series.id));
        self
    }

    /// The values of some rows of a series with all their digits, NaN where `available_mask` says that they are not known.
    pub fn known_values(&self, series: usize, rows: Range<usize>) -> Vec<f64> {
        let level = self.level(series);
        self.known_y(series, rows).iter().map(|y| level.value(*y)).collect()
    }

    /// The values of some rows of a series relative to its [`level`](Self::level), NaN where `available_mask` says that they are not
    /// known.
    pub fn known_y(&self, series: usize, rows: Range<usize>) -> Cow<'_, [f32]> {
        let y = &self.y(series)[rows.clone()];
        match self.available_mask(series) {
            None => Cow::Borrowed(y),
            Some(mask) => {
                let known = y.iter().zip(&mask[rows]);
                known.map(|(&y, &mask)| if mask == 0.0 { f32::NAN } else { y }).collect()
            }
        }
    }

    /// Time of a row of a series.
    ///
    /// # Panics
    /// If the series has no such row.
    #[track_caller]
    pub fn time(&self, series: usize, row: usize) -> i64 {
        let &Series { first_time, len, .. } = self.at(series);
        assert!(row < len, "row {row} of a series of {len} rows");
        self.freq.next_in(self.zone(), first_time, row as i64).expect("checked when the panel was built")
    }

    /// Times of a series.
    pub fn times(&self, series: usize) -> impl Iterator<Item = i64> {
        (0..self.len(series)).map(move |row| self.time(series, row))
    }

    /// The `h` times that follow a series.
    ///
    /// # Errors
    /// [`StepError::TimeRange`](crate::StepError::TimeRange) if they leave the calendar.
    pub fn future_times(&self, series: usize, h: usize) -> Result<Vec<i64>, DataError> {
        let &Series { first_time, len, .. } = self.at(series);
        let times = (len..len + h).map(|row| self.freq.next_in(self.zone(), first_time, row as i64));
        times.collect::<Option<_>>().ok_or_else(|| DataError::time_range(self.id(series)))
    }

    /// The panel without the last `rows` rows of each series; a series with no row left is gone.
    /// Nothing is copied.
    pub fn without_last(&self, rows: usize) -> Self {
        let mut cut = self.clone();
        cut.series.retain_mut(|series| {
            series.len = series.len.saturating_sub(rows);
            series.len > 0
        });
        cut
    }

    /// The panel without the series of fewer than `rows` rows. Nothing is copied.
    pub fn without_shorter_than(&self, rows: usize) -> Self {
        let mut long = self.clone();
        long.series.retain(|series| series.len >= rows);
        long
    }

    /// Adds a static column: one value for each series, found by id.
    ///
    /// # Errors
    /// A name twice, an id twice, or series without a value.
    pub fn with_static(mut self, name: &str, values: &[(&str, f32)]) -> Result<Self, DataError> {
        let ids = values.iter().map(|(id, _)| *id);
        let places = self.static_places(&name.into(), ids, &KeyedSeries::default(), Place::row)?;
        let mut column = Column::new(name);
        for row in places {
            // A place of a series that was cut from the panel has no row.
            let value = values.get(row).map_or(0.0, |(_, value)| *value);
            let place = |row: usize| values.get(row).map(|(id, _)| Place::of_series(&(*id).into(), 0));
            column.push(finite(value), || (place(row).unwrap_or(Place::row(row)), value.to_string()));
        }
        self.add_statics([column])?;
        Ok(self)
    }

    /// For each place among the static values, the row of the table that has it.
    pub(super) fn static_places<'a>(
        &self,
        table: &Arc<str>,
        ids: impl Iterator<Item = &'a str>,
        keyed: &KeyedSeries,
        place: impl Fn(usize) -> Place,
    ) -> Result<Vec<usize>, DataError> {
        let n_places = self.series.iter().map(|series| series.place + 1).max().unwrap_or(0);
        let (mut rows, mut strange) = (vec![usize::MAX; n_places], StrangeIds::default());
        for (row, id) in ids.enumerate() {
            let series = keyed.of_id(id, |id| self.find(id));
            if series.is_empty() {
                strange.note(id);
            }
            for &series in &*series {
                let slot = &mut rows[self.at(series).place];
                if *slot != usize::MAX {
                    return Err(SeriesError::DuplicateStatic { at: place(row), id: id.to_owned() }.into());
                }
                *slot = row;
            }
        }
        let missing = self.series.iter().filter(|series| rows[series.place] == usize::MAX);
        let keys: Vec<_> = missing.clone().map(|series| keyed.key(&series.id)).collect();
        if let Some((ours, theirs)) = strange.spelt_otherwise(keys.iter().map(|key| &**key)) {
            return Err(SeriesError::SpeltOtherwise { table: table.clone(), ours, theirs }.into());
        }
        match missing.clone().count() {
            0 => Ok(rows),
            count => Err(SeriesError::StaticMissing {
                table: table.clone(),
                count,
                ids: missing.take(8).map(|series| series.id.to_string()).collect(),
            }
            .into()),
        }
    }

    pub(crate) fn add_statics(&mut self, columns: impl IntoIterator<Item = Column>) -> Result<(), DataError> {
        let statics = Arc::make_mut(&mut self.statics);
        for column in columns {
            if statics.iter().any(|known| known.name == column.name) {
                let table = "the static table".into();
                return Err(ColumnError::Duplicate { table, column: column.name }.into());
            }
            statics.push(column);
        }
        Ok(())
    }
}

impl fmt::Debug for Panel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (freq, zone) = (self.freq.to_string(), self.zone.as_ref().map(ToString::to_string));
        f.debug_struct("Panel")
            .field("series", &self.n_series())
            .field("rows", &self.n_rows())
            .field("freq", &freq)
            .field("zone", &zone)
            .field("columns", &self.column_names().collect::<Vec<_>>())
            .field("static_columns", &self.static_names().collect::<Vec<_>>())
            .finish()
    }
}

#[cfg(test)]
#[path = "panel_tests.rs"]
mod tests;
