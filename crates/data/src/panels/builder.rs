//! Panels from slices.

use std::fmt;
use std::sync::Arc;

use super::cells::{admitted, check_mask, check_weight, finite};
use super::column::{BadCell, Column};
use super::fill::Fill;
use super::level::SeriesLevel;
use super::panel::{Data, Panel, Series};
use super::rows::TableRows;
use super::unrounded::Unrounded;
use crate::error::DataError;
use crate::error::series::SeriesError;
use foretell_calendar::{Freq, LATE_ZONE, Time, TimeFlaw, TimeKind, Zone, zone::in_range};
use foretell_tables::{ColumnError, Flaw, Place, TableError};

/// Collects a panel from slices; see [`Panel::builder`].
///
/// The first mistake is kept and reported by [`build`](Self::build).
pub struct PanelBuilder {
    kind: TimeKind,
    zone: Option<Zone>,
    /// Whether there are times that a zone changes.
    civil: bool,
    freq: Option<Freq>,
    rows: TableRows,
    statics: Vec<(String, Vec<(String, f32)>)>,
    fault: Option<DataError>,
}

impl fmt::Debug for PanelBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PanelBuilder")
            .field("kind", &self.kind)
            .field("rows", &self.rows.len())
            .field("fault", &self.fault)
            .finish()
    }
}

impl PanelBuilder {
    pub(crate) fn new(kind: TimeKind) -> Self {
        let (target, missing_as) = (Some("y".to_owned()), Some(f32::NAN.to_string()));
        let rows = TableRows { target, missing_as, ..TableRows::default() };
        Self { kind, zone: None, civil: false, freq: None, rows, statics: Vec::new(), fault: None }
    }

    /// Sets the frequency; else it is inferred from the longest series and confirmed on all.
    pub fn freq(mut self, freq: Freq) -> Self {
        self.freq = Some(freq);
        self
    }

    /// Says that the times are instants, microseconds since 1970-01-01 00:00 UTC, in that zone.
    /// It goes before the times.
    pub fn zone(mut self, zone: Zone) -> Self {
        if self.civil {
            self.fault.get_or_insert(bad_time(0, zone.to_string(), LATE_ZONE));
        }
        self.zone = Some(zone);
        self
    }

    /// Fills rows and values that are missing; without it they are mistakes.
    pub fn fill(mut self, fill: Fill) -> Self {
        self.rows.fill = Some(fill);
        self
    }

    /// Appends rows of one series.
    pub fn series<'t, T: Into<Time<'t>> + Copy>(mut self, id: &str, times: &[T], y: &[f32]) -> Self {
        self.rows.unrounded.append(&self.rows.y, &Unrounded::default(), y);
        self.push_series(id, times, y)
    }

    fn push_series<'t, T: Into<Time<'t>> + Copy>(mut self, id: &str, times: &[T], y: &[f32]) -> Self {
        if times.is_empty() && y.is_empty() {
            self.fault.get_or_insert(SeriesError::Empty { id: id.to_owned() }.into());
        }
        self.check_len(&format!("y of series `{id}`"), times.len(), y.len());
        for _ in times {
            self.rows.push_id(id);
        }
        self.append(times, y)
    }

    /// Appends rows of one series whose values have more digits than single precision: where it would lose their steps, the series
    /// has a [`SeriesLevel`].
    pub fn wide_series<'t, T: Into<Time<'t>> + Copy>(mut self, id: &str, times: &[T], y: &[f64]) -> Self {
        self.rows.unrounded.is_wanted = true;
        self.rows.unrounded.extend(&self.rows.y, y);
        let rounded: Vec<f32> = y.iter().map(|&y| y as f32).collect();
        self.push_series(id, times, &rounded)
    }

    /// Appends rows in the long layout: an id, a time and a value for each, in any order.
    pub fn rows<'t, I: AsRef<str>, T: Into<Time<'t>> + Copy>(
        mut self,
        ids: &[I],
        times: &[T],
        y: &[f32],
    ) -> Self {
        self.check_len("ids", times.len(), ids.len());
        self.check_len("y", times.len(), y.len());
        self.rows.unrounded.append(&self.rows.y, &Unrounded::default(), y);
        for id in ids {
            self.rows.push_id(id.as_ref());
        }
        self.append(times, y)
    }

    fn append<'t, T: Into<Time<'t>> + Copy>(mut self, times: &[T], y: &[f32]) -> Self {
        for &time in times {
            let time = time.into();
            self.civil |= time.is_civil();
            match self.resolve(self.n_rows(), time) {
                Ok(time) => self.rows.times.push(time),
                Err(fault) => {
                    self.fault.get_or_insert(fault);
                    self.rows.times.push(0);
                }
            }
        }
        self.rows.y.extend_from_slice(y);
        self
    }

    /// Rows so far.
    pub(crate) fn n_rows(&self) -> usize {
        self.rows.times.len()
    }

    /// The time of a row as the panel keeps it.
    pub(crate) fn resolve(&self, row: usize, time: Time<'_>) -> Result<i64, DataError> {
        time.resolve(self.kind, self.zone.as_ref()).map_err(|why| bad_time(row, time.to_string(), why))
    }

    /// Adds a further column: a value for each row appended, in the same order.
    pub fn column(mut self, name: &str, values: &[f32]) -> Self {
        let mut column = Column::new(name);
        column.values = Ok(values.to_vec().into());
        self.rows.columns.push(column);
        self
    }

    /// Adds a column of categories: a label for each row appended, in the same order.
    pub fn categories<L: AsRef<str>>(mut self, name: &str, labels: &[L]) -> Self {
        let mut column = Column::of_labels(name);
        for (row, label) in labels.iter().enumerate() {
            // What is missing may yet be filled.
            let cell = column.label(label.as_ref()).or_else(|flaw| match flaw {
                Flaw::Missing => Ok(f32::NAN),
                flaw => Err(flaw),
            });
            column.push(cell, || (Place::row(row), label.as_ref().to_owned()));
        }
        self.rows.columns.push(column);
        self
    }

    /// Marks with 0 the rows whose `y` is not known; their `y` may be NaN.
    pub fn available_mask(mut self, values: &[f32]) -> Self {
        self.rows.mask = Some(values.to_vec());
        self
    }

    /// Weighs the rows in the loss; each weight is 0 or more.
    pub fn sample_weight(mut self, values: &[f32]) -> Self {
        self.rows.weight = Some(values.to_vec());
        self
    }

    /// Adds a static column: one value for each series, found by id.
    pub fn static_column(mut self, name: &str, values: &[(&str, f32)]) -> Self {
        let values = values.iter().map(|(id, value)| ((*id).to_owned(), *value)).collect();
        self.statics.push((name.to_owned(), values));
        self
    }

    /// Sorts by (id, time) and checks everything.
    ///
    /// # Errors
    /// Lengths that differ, values that are not finite, duplicates, gaps, a frequency that cannot
    /// be inferred or does not fit, static values that are missing. A further column with a value
    /// that is not finite is an error only when it is used. Rows are counted from 0, each series by itself.
    pub fn build(mut self) -> Result<Panel, DataError> {
        let rows = self.rows.len();
        for column in std::mem::take(&mut self.rows.columns) {
            let found = column.values.as_ref().map_or(rows, |values| values.len());
            self.check_len(&format!("column `{}`", column.name), rows, found);
            if self.rows.columns.iter().any(|known| known.name == column.name) {
                let (table, column) = (self.rows.origin.table(), column.name.clone());
                self.fault.get_or_insert(ColumnError::Duplicate { table, column }.into());
            }
            self.rows.columns.push(column);
        }
        let mask = self.rows.mask.as_ref().map_or(rows, Vec::len);
        self.check_len("available_mask", rows, mask);
        let weight = self.rows.weight.as_ref().map_or(rows, Vec::len);
        self.check_len("sample_weight", rows, weight);
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        self.rows.place_bad_cells();
        self.rows.check_values()?;
        let mut panel = self.rows.finish(self.kind, self.zone, self.freq)?;
        for (name, values) in &self.statics {
            let values: Vec<(&str, f32)> = values.iter().map(|(id, v)| (id.as_str(), *v)).collect();
            panel = panel.with_static(name, &values)?;
        }
        Ok(panel)
    }

    fn check_len(&mut self, what: &str, expected: usize, found: usize) {
        if expected != found {
            self.fault.get_or_insert(DataError::Table(TableError::Length {
                what: what.to_owned(),
                expected,
                found,
            }));
        }
    }
}

fn bad_time(row: usize, value: String, why: TimeFlaw) -> DataError {
    TableError::bad_time(Place::row(row), "ds", value, why).into()
}

impl Panel {
    /// The panel with ids that are integers where a form has types, such as Arrow; they must be.
    pub fn with_integer_ids(mut self) -> Self {
        Arc::make_mut(&mut self.data).integer_ids = true;
        self
    }

    /// Starts a panel from slices whose times are of that kind; [`Time`] lists their types.
    pub fn builder(kind: TimeKind) -> PanelBuilder {
        PanelBuilder::new(kind)
    }

    /// A panel of regular series, each as id, [`Time`] of its first row, and `y`.
    ///
    /// # Errors
    /// Two series of one id, a value that is not finite, a time of another kind than the frequency's or beyond the
    /// calendar, no rows.
    pub fn from_series<'t, I: AsRef<str>, T: Into<Time<'t>>, Y: AsRef<[f32]>>(
        freq: Freq,
        series: impl IntoIterator<Item = (I, T, Y)>,
    ) -> Result<Self, DataError> {
        let mut builder = Self::builder(freq.kind()).freq(freq);
        let (mut sources, mut rows) = (Vec::new(), 0);
        for (id, first, y) in series {
            sources.push((Arc::<str>::from(id.as_ref()), builder.resolve(rows, first.into())?, y));
            rows += sources.last().map_or(0, |(_, _, y)| y.as_ref().len());
        }
        sources.sort_by(|a, b| a.0.cmp(&b.0));
        if let Some(panel) = Self::of_regular(freq, &sources) {
            return Ok(panel);
        }
        // Something is missing at an edge, or wrong: what is said of it is the same for all slices.
        for (id, first, y) in sources {
            let times = freq.times(first, y.as_ref().len());
            let times = times.ok_or_else(|| DataError::time_range(&id))?;
            builder = builder.series(&id, &times, y.as_ref());
        }
        builder.build()
    }

    /// A panel of sorted series whose values are all finite: no time needs to be computed but the first and the last.
    fn of_regular<Y: AsRef<[f32]>>(freq: Freq, sources: &[(Arc<str>, i64, Y)]) -> Option<Self> {
        let (mut series, mut all) = (Vec::with_capacity(sources.len()), Vec::new());
        all.reserve_exact(sources.iter().map(|(_, _, y)| y.as_ref().len()).sum());
        let twice = sources.windows(2).any(|pair| pair[0].0 == pair[1].0);
        if twice || sources.is_empty() {
            return None;
        }
        for (place, (id, first_time, y)) in sources.iter().enumerate() {
            let (y, start) = (y.as_ref(), all.len());
            let last = freq.next(*first_time, y.len() as i64 - 1)?;
            let in_calendar = [*first_time, last].iter().all(|time| in_range(freq.kind(), None, *time));
            if y.is_empty() || !in_calendar || !y.iter().all(|value| value.is_finite()) {
                return None;
            }
            all.extend_from_slice(y);
            let (id, reach) = (id.clone(), all.len());
            let (first_time, level) = (*first_time, SeriesLevel::default());
            series.push(Series { id, start, len: y.len(), reach, first_time, place, level });
        }
        Some(Self::new(freq, None, series, Data::of_slices(all)))
    }
}

impl TableRows {
    /// Says of which series the labels are that cannot be used: it may not have been known when they came.
    fn place_bad_cells(&mut self) {
        for i in 0..self.columns.len() {
            let Err(BadCell { at, .. }) = &self.columns[i].values else { continue };
            let row = at.row as usize;
            let place = (row < self.len()).then(|| self.source(row));
            if let (Err(bad), Some(place)) = (&mut self.columns[i].values, place) {
                bad.at = place;
            }
        }
    }

    /// Checks values from slices as cells of a file are checked when they are read.
    fn check_values(&mut self) -> Result<(), DataError> {
        for row in 0..self.len() {
            let bad =
                |column: &str, value: f32, flaw| TableError::bad_value(self.source(row), column, value, flaw);
            let mut masked = false;
            if let Some(mask) = &self.mask {
                check_mask(mask[row]).map_err(|flaw| bad("available_mask", mask[row], flaw))?;
                masked = mask[row] == 0.0;
            }
            if let Some(weight) = &self.weight {
                check_weight(weight[row]).map_err(|flaw| bad("sample_weight", weight[row], flaw))?;
            }
            let y = match admitted(finite(self.y[row]), masked, self.fill) {
                // At the edges of a series, that is no mistake.
                Err(Flaw::Missing) => f32::NAN,
                y => y.map_err(|flaw| bad("y", self.y[row], flaw))?,
            };
            if y != self.y[row] {
                self.unrounded.each(|values| values[row] = f64::from(y));
            }
            self.y[row] = y;
            for i in 0..self.columns.len() {
                let Ok(values) = &self.columns[i].values else { continue };
                let value = values[row];
                let cell = match admitted(finite(value), masked, self.fill) {
                    Err(Flaw::Missing) if y.is_nan() => Ok(f32::NAN),
                    cell => cell,
                };
                let bad = |flaw| BadCell { at: self.source(row), value: value.to_string(), flaw };
                let cell = cell.map_err(bad);
                match (&mut self.columns[i].values, cell) {
                    (Ok(values), Ok(value)) => values[row] = value,
                    (values, Err(bad)) => *values = Err(bad),
                    (Err(_), Ok(_)) => {}
                }
            }
        }
        Ok(())
    }
}
