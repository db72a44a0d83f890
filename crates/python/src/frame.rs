//! Tables of forecasts.

use std::collections::HashMap;
use std::sync::Arc;

use foretell::{Frame, KnownColumns, TimeKind};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyCapsule, PyList};

use crate::frame_text::text;
use crate::stream::stream;

/// A table of forecasts: ids, times, cutoffs if there are any, and numbers. Any library that speaks Arrow's C interface reads
/// it; numpy takes its columns as bytes.
#[pyclass(name = "Frame", module = "foretell._foretell", frozen)]
pub(crate) struct PyFrame(Frame);

impl PyFrame {
    /// Rows in the order of neuralforecast: integer ids by their values; the target, if there is one, behind the models.
    pub(crate) fn of(mut frame: Frame, target: Option<&str>) -> Self {
        if let Some(place) = target.and_then(|name| frame.columns.iter().position(|(own, _)| own == name)) {
            let target = frame.columns.remove(place);
            frame.columns.push(target);
        }
        if frame.integer_ids {
            by_number(&mut frame);
        }
        Self(frame)
    }
}

/// A column of numbers: its name, their kind as numpy calls it, and their bytes.
pub(crate) type Numbers<'py> = (String, &'static str, Bound<'py, PyByteArray>);

impl PyFrame {
    /// All columns behind ids, times and cutoffs.
    pub(crate) fn numbers<'py>(&self, py: Python<'py>) -> PyResult<Vec<Numbers<'py>>> {
        let numbers = |(name, _): &(String, Vec<f32>)| {
            let kind = match self.0.integers.contains(name) {
                true => "i8",
                false if self.is_wide(name) => "f8",
                false => "f4",
            };
            Ok((name.clone(), kind, self.column(py, name)?))
        };
        self.0.columns.iter().map(numbers).collect()
    }
}

/// Sorts the rows by their ids as numbers; the rows of a series stay in their order.
fn by_number(frame: &mut Frame) {
    let number = |id: &Arc<str>| id.parse::<i64>().ok();
    let numbers: Vec<Option<i64>> = frame.ids.iter().map(number).collect();
    if numbers.is_sorted() {
        return;
    }
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by_key(|&row| numbers[row]);
    fn taken<T: Clone>(values: &[T], order: &[usize]) -> Vec<T> {
        order.iter().map(|&row| values[row].clone()).collect()
    }
    frame.ids = taken(&frame.ids, &order);
    frame.times = taken(&frame.times, &order);
    frame.cutoffs = frame.cutoffs.as_ref().map(|cutoffs| taken(cutoffs, &order));
    for (_, values) in &mut frame.columns {
        *values = taken(values, &order);
    }
    for values in frame.wide.values_mut() {
        *values = taken(values, &order);
    }
}

fn bytes<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    values: &[T],
    write: impl Fn(T) -> [u8; N],
) -> PyResult<Bound<'py, PyByteArray>> {
    PyByteArray::new_with(py, values.len() * N, |out| {
        let (numbers, _) = out.as_chunks_mut::<N>();
        numbers.iter_mut().zip(values).for_each(|(number, &value)| *number = write(value));
        Ok(())
    })
}

#[pymethods]
impl PyFrame {
    fn __len__(&self) -> usize {
        self.0.n_rows()
    }

    /// The names of all columns, in their order.
    #[getter]
    fn names(&self) -> Vec<String> {
        let Frame { time_col, cutoffs, columns, .. } = &self.0;
        let mut names = vec![self.0.id_name().to_owned(), time_col.clone()];
        names.extend(cutoffs.as_ref().map(|_| "cutoff".to_owned()));
        names.extend(columns.iter().map(|(name, _)| name.clone()));
        names
    }

    /// Whether times are timestamps, in microseconds; else they are integers.
    #[getter]
    fn has_timestamps(&self) -> bool {
        self.0.freq.kind() == TimeKind::Timestamp
    }

    /// The zone of the times, if they have one.
    #[getter]
    fn zone(&self) -> Option<String> {
        self.0.zone.as_ref().map(ToString::to_string)
    }

    /// The table with other names of columns; those whose new name is nothing are left out.
    fn renamed(&self, names: HashMap<String, Option<String>>) -> Self {
        let mut frame = Frame { known: KnownColumns::default(), ..self.0.clone() };
        frame.columns.retain(|(name, _)| !matches!(names.get(name), Some(None)));
        frame.wide.retain(|name, _| !names.contains_key(name));
        for (name, _) in &mut frame.columns {
            if let Some(Some(new)) = names.get(name) {
                if let Some(wide) = self.0.wide.get(name) {
                    frame.wide.insert(new.clone(), wide.clone());
                }
                name.clone_from(new);
            }
        }
        Self(frame)
    }

    /// The ids, each once for its neighbouring rows, and how many rows these are, as the bytes of `i8`.
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyByteArray>)> {
        let runs = || self.0.ids.chunk_by(|a, b| a == b);
        let counts: Vec<i64> = runs().map(|run| run.len() as i64).collect();
        let integers = || runs().map(|run| run[0].parse().ok()).collect::<Option<Vec<i64>>>();
        let ids = match Some(()).filter(|()| self.0.integer_ids).and_then(|()| integers()) {
            Some(numbers) => PyList::new(py, numbers)?,
            None => PyList::new(py, runs().map(|run| &*run[0]))?,
        };
        Ok((ids, bytes(py, &counts, i64::to_ne_bytes)?))
    }

    /// Whether a column has more digits than single precision holds.
    fn is_wide(&self, name: &str) -> bool {
        self.0.wide.contains_key(name)
    }

    /// The names of the columns of whole numbers, which [`PyFrame::column`] gives as `i8` too.
    #[getter]
    fn integers(&self) -> Vec<String> {
        self.0.integers.clone()
    }

    /// The times, the cutoffs or a column of whole numbers as the bytes of `i8`, or another column as those of `f4`, of `f8` where it is
    /// wide.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyByteArray>> {
        if name == self.0.time_col {
            return bytes(py, &self.0.times, i64::to_ne_bytes);
        }
        if let Some(values) = self.0.wide.get(name) {
            return bytes(py, values, f64::to_ne_bytes);
        }
        if let Some(values) = self.0.column(name).filter(|_| self.0.is_integer(name)) {
            let whole: Vec<i64> = values.iter().map(|value| *value as i64).collect();
            return bytes(py, &whole, i64::to_ne_bytes);
        }
        if let Some(values) = self.0.column(name) {
            return bytes(py, values, f32::to_ne_bytes);
        }
        match &self.0.cutoffs {
            Some(cutoffs) if name == "cutoff" => bytes(py, cutoffs, i64::to_ne_bytes),
            _ => Err(PyKeyError::new_err(name.to_owned())),
        }
    }

    /// The table as a stream of Arrow: ids, times in microseconds, numbers in single precision, in double where they are wide.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer hand out its own types.
        drop(requested_schema);
        stream(py, self.0.record_batch())
    }

    /// The rows, as people read them.
    fn __str__(&self) -> String {
        text(&self.0, &self.names())
    }

    fn __repr__(&self) -> String {
        format!("<foretell.Frame of {} rows: {}>", self.0.n_rows(), self.names().join(", "))
    }
}
