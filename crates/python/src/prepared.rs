//! Trained models for arrays: what does not depend on the rows is read once.

use std::borrow::Cow;

use foretell::{Error, Fitted, Frame, Future, Panel, PredictOptions, TimeKind};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::error::exception;
use crate::frame::{Numbers, PyFrame};
use crate::told::Told;
use crate::watched::{interruptible_unless, is_brief};

/// A column of arrays: its name and the bytes of its numbers in single precision, `[series, steps]`.
type Column = (String, PyBackedBytes);

/// Trained models, and what they need of series beside their rows: ids, last times and static columns. It does not change.
#[pyclass(name = "Prepared", module = "foretell._foretell", frozen)]
pub(crate) struct PyPrepared {
    fitted: Fitted,
    told: Told,
    /// The series, of one row each.
    like: Panel,
    /// For each series in the order of forecasts, its place in the panel, which is sorted by id as text; `None` if both orders agree.
    places: Option<Vec<usize>>,
}

impl PyPrepared {
    /// Models for other rows of the series of this panel.
    ///
    /// # Errors
    /// If the sums of a hierarchy cannot be made of them.
    pub(crate) fn of(fitted: Fitted, told: Told, panel: &Panel) -> Result<Self, Error> {
        let panel = fitted.with_sums(panel.clone())?;
        let like = panel.with_new_rows(&vec![0.0; panel.n_series()], &[], None)?;
        Ok(Self { places: given_places(&like), fitted, told, like })
    }

    /// The forecasts of the series with these rows.
    fn forecast_rows(
        &self,
        rows: &Rows<'_>,
        ahead: &[Column],
        options: &PredictOptions<'_>,
    ) -> Result<Frame, Error> {
        let like = match rows.n_series == self.like.n_series() {
            true => Cow::Borrowed(&self.like),
            false => Cow::Owned(self.like.with_unknown_series(rows.n_series)),
        };
        let places = self.places.as_deref().filter(|places| places.len() == rows.n_series);
        let sorted = |columns: &[Column]| -> Vec<(String, Vec<f32>)> {
            let column = |(name, bytes): &Column| {
                (name.clone(), in_places(numbers(bytes, f32::from_ne_bytes), places))
            };
            columns.iter().map(column).collect()
        };
        let y = in_places(numbers(rows.y, f64::from_ne_bytes), places);
        let last = rows.last.map(|last| in_places(last.to_vec(), places));
        let past = sorted(rows.past);
        let panel = like.with_new_rows(&y, &named(&past), last.as_deref())?;
        let ahead = sorted(ahead);
        let h = options.h.unwrap_or(self.fitted.h());
        let future = match ahead.is_empty() {
            true => None,
            false => Some(Future::new(&panel, h, &named(&ahead))?),
        };
        self.fitted.predict_with(&panel, &options.future(future.as_ref()))
    }
}

/// The rows of series.
struct Rows<'a> {
    n_series: usize,
    y: &'a [u8],
    past: &'a [Column],
    last: Option<&'a [i64]>,
}

#[pymethods]
impl PyPrepared {
    /// The number of series that ids, last times and static columns are known of, sums of a hierarchy among them.
    #[getter]
    fn n_series(&self) -> usize {
        self.like.n_series()
    }

    /// Whether other series may be forecast, too: no model needs all at once, or static columns.
    #[getter]
    fn takes_any(&self) -> bool {
        self.fitted.series_per_part().is_some() && self.like.static_names().next().is_none()
    }

    /// Whether the times are timestamps; else they are integers.
    #[getter]
    fn has_timestamps(&self) -> bool {
        self.like.freq().kind() == TimeKind::Timestamp
    }

    /// The zone of the times, if they have one.
    #[getter]
    fn zone(&self) -> Option<String> {
        self.like.zone().map(ToString::to_string)
    }

    /// The columns of the forecasts of `h` steps of `n_series` series, `[series, h]` each, from the bytes of their targets in double
    /// precision, `[series, rows]`, those of further columns in single precision, and of these in the future, `[series, h]`; the
    /// series in the order of forecasts. The last rows are at the times `last`.
    #[pyo3(signature = (y, n_series, past, future, h, level, quantiles, last = None))]
    fn forecast<'py>(
        &self,
        py: Python<'py>,
        y: &[u8],
        n_series: usize,
        past: Vec<Column>,
        future: Vec<Column>,
        h: usize,
        level: Vec<f64>,
        quantiles: Vec<f64>,
        last: Option<Vec<i64>>,
    ) -> PyResult<Vec<Numbers<'py>>> {
        let rows = Rows { n_series, y, past: &past, last: last.as_deref() };
        let options = PredictOptions::new().h(h).level(&level).quantiles(&quantiles);
        let work = || self.forecast_rows(&rows, &future, &options);
        let result = interruptible_unless(py, is_brief(&self.fitted, n_series, h), work)?;
        self.told.tell(py)?;
        PyFrame::of(result.map_err(exception)?, None).numbers(py)
    }
}

/// The place of each series in the order of forecasts, which is that of numbers where ids are integers.
fn given_places(panel: &Panel) -> Option<Vec<usize>> {
    let numbers: Vec<Option<i64>> = panel.ids().map(|id| id.parse().ok()).collect();
    if !panel.has_integer_ids() || numbers.is_sorted() {
        return None;
    }
    let mut places: Vec<usize> = (0..numbers.len()).collect();
    places.sort_by_key(|&series| numbers[series]);
    Some(places)
}

/// Numbers of this machine.
fn numbers<T, const N: usize>(bytes: &[u8], read: impl Fn([u8; N]) -> T) -> Vec<T> {
    let (numbers, _) = bytes.as_chunks::<N>();
    numbers.iter().map(|number| read(*number)).collect()
}

/// The numbers of series, as many of each, at the places of these.
fn in_places<T: Copy>(given: Vec<T>, places: Option<&[usize]>) -> Vec<T> {
    let Some(places) = places else { return given };
    let each = given.len() / places.len().max(1);
    let mut sorted = given.clone();
    for (given, &place) in given.chunks_exact(each.max(1)).zip(places) {
        sorted[place * each..(place + 1) * each].copy_from_slice(given);
    }
    sorted
}

fn named(columns: &[(String, Vec<f32>)]) -> Vec<(&str, &[f32])> {
    columns.iter().map(|(name, values)| (name.as_str(), values.as_slice())).collect()
}
