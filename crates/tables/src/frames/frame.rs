//! Forecasts as a table.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::forecast_column::{ColumnPart, ForecastColumn};
use super::models::{KnownColumns, ModelInTable};
use crate::error::TableError;
use crate::readers::joined_ids::id_name;
use foretell_calendar::{Freq, TimeStyle, Zone};

/// A long table of forecasts: one row per series and time (and cutoff).
///
/// Serialised with its fields under their names, NaN as nothing (`null` in JSON). What the columns hold is not written beside their
/// names, which tell it.
#[derive(Clone, PartialEq)]
pub struct Frame {
    /// Name of the id column.
    pub id_col: String,
    /// Name of the time column.
    pub time_col: String,
    /// The step between the times of a series; settles how times are written.
    pub freq: Freq,
    /// The zone of the times; nothing for integers and civil times.
    pub zone: Option<Zone>,
    /// Whether ids are integers where a form has types.
    pub integer_ids: bool,
    /// Series of each row.
    pub ids: Vec<Arc<str>>,
    /// Time of each row: an integer, or microseconds since 1970-01-01 00:00, on a civil clock or of UTC where there is a
    /// zone.
    pub times: Vec<i64>,
    /// Time of the last known row of each row's window, in cross-validation.
    pub cutoffs: Option<Vec<i64>>,
    /// Columns by name, one value per row.
    pub columns: Vec<(String, Vec<f32>)>,
    /// By name, those of the columns whose values have digits that single precision loses, with all of them.
    pub wide: BTreeMap<String, Vec<f64>>,
    /// The names of columns that hold whole numbers, up to 16777216 either way, and are written as such.
    pub integers: Vec<String>,
    /// By name, the texts of columns that hold labels: a value is the place of its text, from 1, and not known where there is none.
    pub labels: BTreeMap<String, Vec<Arc<str>>>,
    /// What columns hold, of those that were added as forecasts; the names of the others tell it.
    pub known: KnownColumns,
}

/// A file that is being written, of whatever format, part by part.
pub trait FrameWriter {
    /// Writes the rows of a part, whose columns are those of the first one.
    ///
    /// # Errors
    /// [`TableError::Write`] if the output refuses.
    ///
    /// # Panics
    /// If the columns of the part differ in length.
    fn write(&mut self, part: &Frame) -> Result<(), TableError>;

    /// Hands everything to the output.
    ///
    /// # Errors
    /// [`TableError::Write`] if the output refuses, or the format needs a part and there was none.
    fn finish(self: Box<Self>) -> Result<(), TableError>;
}

impl Frame {
    /// A frame without rows and columns.
    pub fn new(freq: Freq) -> Self {
        Self {
            id_col: "unique_id".into(),
            time_col: "ds".into(),
            freq,
            zone: None,
            integer_ids: false,
            ids: Vec::new(),
            times: Vec::new(),
            cutoffs: None,
            columns: Vec::new(),
            wide: BTreeMap::new(),
            integers: Vec::new(),
            labels: BTreeMap::new(),
            known: KnownColumns::default(),
        }
    }

    /// How the column of ids is called where the table is written: `unique_id` where several columns of the data make them.
    pub fn id_name(&self) -> &str {
        id_name(&self.id_col)
    }

    /// Adds a column of a forecast.
    pub fn push_forecast(&mut self, column: ForecastColumn, values: Vec<f32>) {
        let name = self.known.keep(column);
        self.columns.push((name, values));
    }

    /// Adds columns of forecasts.
    pub fn push_forecasts(&mut self, columns: impl IntoIterator<Item = (ForecastColumn, Vec<f32>)>) {
        columns.into_iter().for_each(|(column, values)| self.push_forecast(column, values));
    }

    /// What each of the columns holds, in their order; nothing for that of the actual values, and for the number of a sample path.
    pub fn forecast_columns(&self, target: &str) -> Vec<Option<ForecastColumn>> {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        self.known.of(&names, target)
    }

    /// The models that the table has forecasts or components of, with the places of their columns.
    pub fn models(&self, target: &str) -> Vec<ModelInTable> {
        ModelInTable::of(&self.forecast_columns(target))
    }

    /// The models of which forecasts or components were added, with the places of their columns.
    pub fn models_added(&self) -> Vec<ModelInTable> {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        ModelInTable::of(&self.known.added(&names))
    }

    /// The values of a part of a model's forecast.
    pub fn part(&self, model: &str, part: ColumnPart) -> Option<&[f32]> {
        let columns = self.forecast_columns("");
        let is_it = |column: &&Option<ForecastColumn>| {
            column.as_ref().is_some_and(|column| column.model() == model && column.part() == part)
        };
        columns
            .iter()
            .zip(&self.columns)
            .find(|(column, _)| is_it(column))
            .map(|(_, (_, values))| &values[..])
    }

    /// Whether a column holds whole numbers.
    pub fn is_integer(&self, name: &str) -> bool {
        self.integers.iter().any(|integer| integer == name)
    }

    /// Adds a column of texts, nothing where there is none.
    pub fn push_labels(&mut self, name: &str, texts: impl IntoIterator<Item = Option<Arc<str>>>) {
        let mut known: Vec<Arc<str>> = Vec::new();
        let mut place = |text: Arc<str>| {
            let place = known.iter().position(|known| *known == text).unwrap_or_else(|| {
                known.push(text);
                known.len() - 1
            });
            (place + 1) as f32
        };
        let values = texts.into_iter().map(|text| text.map_or(f32::NAN, &mut place)).collect();
        self.columns.push((name.to_owned(), values));
        self.labels.insert(name.to_owned(), known);
    }

    /// The text of a value of such a column.
    pub fn label(&self, name: &str, value: f32) -> Option<&str> {
        let place = (value as usize).checked_sub(1)?;
        Some(self.labels.get(name)?.get(place)?)
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.ids.len()
    }

    /// Values of a column.
    pub fn column(&self, name: &str) -> Option<&[f32]> {
        self.columns.iter().find(|(known, _)| known == name).map(|(_, values)| values.as_slice())
    }

    /// Values of a column with all their digits.
    pub fn wide_column(&self, name: &str) -> Option<Cow<'_, [f64]>> {
        match self.wide.get(name) {
            Some(values) => Some(values.into()),
            None => self.column(name).map(|values| values.iter().map(|&y| f64::from(y)).collect()),
        }
    }

    /// Adds a column of these values, [wide](Self::wide) if `is_wide`, else in single precision alone.
    pub fn push_wide(&mut self, name: &str, values: Vec<f64>, is_wide: bool) {
        self.columns.push((name.to_owned(), values.iter().map(|&value| value as f32).collect()));
        if is_wide {
            self.wide.insert(name.to_owned(), values);
        }
    }

    /// How the times are written where a format knows only texts.
    pub fn time_style(&self) -> TimeStyle {
        let cutoffs = self.cutoffs.as_deref().unwrap_or(&[]);
        TimeStyle::of(self.freq, self.zone.as_ref(), self.times.iter().chain(cutoffs).copied())
    }

    /// Appends the rows of a part of the same table.
    ///
    /// # Panics
    /// If its columns are others.
    #[track_caller]
    pub fn append(&mut self, part: Self) {
        let names = |frame: &Self| frame.columns.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(names(self), names(&part), "columns of a part");
        assert_eq!(self.cutoffs.is_some(), part.cutoffs.is_some(), "cutoffs of a part");
        self.ids.extend_from_slice(&part.ids);
        self.times.extend_from_slice(&part.times);
        self.cutoffs.iter_mut().for_each(|cutoffs| cutoffs.extend(part.cutoffs.iter().flatten()));
        let rows = self.n_rows() - part.n_rows();
        for ((name, values), (_, own)) in self.columns.iter_mut().zip(part.columns) {
            if self.wide.contains_key(name) || part.wide.contains_key(name) {
                let narrow = |values: &[f32]| values.iter().map(|&y| f64::from(y)).collect::<Vec<f64>>();
                let wide = self.wide.entry(name.clone()).or_insert_with(|| narrow(&values[..rows]));
                wide.extend(part.wide.get(name).cloned().unwrap_or_else(|| narrow(&own)));
            }
            values.extend(own);
        }
    }

    /// Leaves the first `steps` rows of every `horizon`.
    ///
    /// # Panics
    /// If its rows are not some times `horizon`, or `steps` is more than that.
    #[track_caller]
    pub fn keep_first_steps(&mut self, horizon: usize, steps: usize) {
        let rows = self.n_rows();
        assert!(
            steps <= horizon && rows.is_multiple_of(horizon),
            "{steps} steps of {rows} rows by {horizon}"
        );
        if steps == horizon {
            return;
        }
        fn keep<T>(values: &mut Vec<T>, horizon: usize, steps: usize) {
            let mut row = 0;
            values.retain(|_| {
                row += 1;
                (row - 1) % horizon < steps
            });
        }
        keep(&mut self.ids, horizon, steps);
        keep(&mut self.times, horizon, steps);
        self.cutoffs.iter_mut().for_each(|cutoffs| keep(cutoffs, horizon, steps));
        self.columns.iter_mut().for_each(|(_, values)| keep(values, horizon, steps));
        self.wide.values_mut().for_each(|values| keep(values, horizon, steps));
    }

    /// The rows of the series whose ids `keep` keeps.
    pub fn of_series(&self, keep: impl Fn(&str) -> bool) -> Self {
        let rows: Vec<usize> = (0..self.n_rows()).filter(|&row| keep(&self.ids[row])).collect();
        self.at(&rows)
    }

    /// The rows at these places, in this order.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn at(&self, rows: &[usize]) -> Self {
        fn of<T: Clone>(values: &[T], rows: &[usize]) -> Vec<T> {
            rows.iter().map(|&row| values[row].clone()).collect()
        }
        Self {
            id_col: self.id_col.clone(),
            time_col: self.time_col.clone(),
            zone: self.zone.clone(),
            ids: of(&self.ids, rows),
            times: of(&self.times, rows),
            cutoffs: self.cutoffs.as_ref().map(|cutoffs| of(cutoffs, rows)),
            columns: self.columns.iter().map(|(name, values)| (name.clone(), of(values, rows))).collect(),
            wide: self.wide.iter().map(|(name, values)| (name.clone(), of(values, rows))).collect(),
            integers: self.integers.clone(),
            labels: self.labels.clone(),
            known: self.known.clone(),
            ..*self
        }
    }

    pub(crate) fn check(&self) {
        let rows = self.n_rows();
        assert_eq!(self.times.len(), rows, "times and ids of a frame");
        assert!(self.cutoffs.as_ref().is_none_or(|c| c.len() == rows), "cutoffs of {rows} rows");
        for (name, values) in &self.columns {
            assert_eq!(values.len(), rows, "column `{name}` and ids of a frame");
        }
        for (name, values) in &self.wide {
            assert_eq!(values.len(), rows, "wide column `{name}` and ids of a frame");
        }
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let freq = self.freq.to_string();
        f.debug_struct("Frame")
            .field("rows", &self.n_rows())
            .field("columns", &columns)
            .field("freq", &freq)
            .finish()
    }
}
