//! Panels of series.

use std::path::PathBuf;

use foretell::{
    ArrowTable, ColumnNames, DataError, End, Frame, Freq, Panel, ReadNote, ReadOptions, TimeKind,
};
use pyo3::prelude::*;

use crate::batches::batches;
use crate::error::{exception, of_calendar};
use crate::frame::PyFrame;

/// Series of one frequency, read from a table with a row per series and time.
#[pyclass(name = "Panel", module = "foretell._foretell", frozen)]
pub(crate) struct PyPanel {
    pub(crate) panel: Panel,
    pub(crate) options: ReadOptions,
}

impl PyPanel {
    /// The panel of a model directory, whose columns have these names.
    pub(crate) fn stored(panel: Panel, names: &ColumnNames, categories: Vec<String>) -> Self {
        let options = ReadOptions::new().id_col(&names.id).time_col(&names.time).target_col(&names.target);
        let columns: Vec<String> = panel.column_names().map(ToOwned::to_owned).collect();
        Self { options: options.columns(columns).categories(categories).freq(panel.freq()), panel }
    }

    /// The panel that is read, with its static columns, whose series end as `end` says.
    fn completed(
        py: Python<'_>,
        read: impl FnOnce(&ReadOptions) -> Result<Panel, DataError> + Send,
        options: ReadOptions,
        statics: Option<&Bound<'_, PyAny>>,
        end: Option<&str>,
    ) -> PyResult<Self> {
        let end: Option<End> =
            end.map(str::parse).transpose().map_err(|error: DataError| exception(error))?;
        let statics = statics.map(batches).transpose()?;
        let complete = || -> Result<Panel, DataError> {
            let statics = |panel: Panel| match statics {
                Some(statics) => panel.with_static_table(ArrowTable::from_batches(statics)?, &options),
                None => Ok(panel),
            };
            Ok(read(&options)?.completed(end, &options, statics)?.0)
        };
        let panel = py.detach(complete).map_err(exception)?;
        Ok(Self { panel, options })
    }

    /// The ids and times of all rows.
    pub(crate) fn ids_and_times(&self) -> Frame {
        let mut frame = self.empty();
        for series in 0..self.panel.n_series() {
            frame.ids.extend(std::iter::repeat_n(self.panel.id(series).clone(), self.panel.len(series)));
            frame.times.extend(self.panel.times(series));
        }
        frame
    }

    /// A table of these series, without rows and columns.
    fn empty(&self) -> Frame {
        let mut frame = Frame::new(self.panel.freq());
        frame.id_col = self.options.id_col.clone();
        frame.time_col = self.options.time_col.clone().unwrap_or(frame.time_col);
        frame.zone = self.panel.zone().cloned();
        frame.integer_ids = self.panel.has_integer_ids();
        frame
    }
}

/// How tables are read whose ids, times and values have these names.
fn reading(
    [id, time, target]: [String; 3],
    columns: Vec<String>,
    categories: Vec<String>,
    freq: Option<&str>,
) -> PyResult<ReadOptions> {
    let options = ReadOptions::new().id_col(id).time_col(time).target_col(target);
    let mut options = options.columns(columns).categories(categories);
    options.freq = freq.map(Freq::parse).transpose().map_err(of_calendar)?;
    Ok(options)
}

#[pymethods]
impl PyPanel {
    /// Reads a table. Series that end before others are continued or left out as `end` says; those of which no value is known are left out, if they may be. Of the further columns only those named are kept; some of them, and of the static ones, hold categories.
    #[new]
    #[pyo3(signature = (data, freq, id_col, time_col, target_col, columns, categories, static_data = None, threads = 0, end = None, leave_out = false))]
    fn new(
        data: &Bound<'_, PyAny>,
        freq: Option<&str>,
        id_col: String,
        time_col: String,
        target_col: String,
        columns: Vec<String>,
        categories: Vec<String>,
        static_data: Option<&Bound<'_, PyAny>>,
        threads: usize,
        end: Option<&str>,
        leave_out: bool,
    ) -> PyResult<Self> {
        let names = [id_col, time_col, target_col];
        let mut options = reading(names, columns, categories, freq)?.threads(threads);
        options.drop_unknown = leave_out;
        let rows = batches(data)?;
        let read = |options: &ReadOptions| Panel::from_table(ArrowTable::from_batches(rows)?, options);
        Self::completed(data.py(), read, options, static_data, end)
    }

    /// Reads files one after another, whose numbers go to files without names in the directory `scratch`: a panel that may be larger
    /// than memory. The other arguments are those of a table.
    #[staticmethod]
    #[pyo3(signature = (files, scratch, freq, id_col, time_col, target_col, columns, categories, static_data = None, threads = 0, end = None))]
    fn by_turns(
        py: Python<'_>,
        files: Vec<PathBuf>,
        scratch: PathBuf,
        freq: Option<&str>,
        id_col: String,
        time_col: String,
        target_col: String,
        columns: Vec<String>,
        categories: Vec<String>,
        static_data: Option<&Bound<'_, PyAny>>,
        threads: usize,
        end: Option<&str>,
    ) -> PyResult<Self> {
        let names = [id_col, time_col, target_col];
        let options = reading(names, columns, categories, freq)?.threads(threads);
        let read = |options: &ReadOptions| Panel::from_files_by_turns(&files, options, &scratch);
        Self::completed(py, read, options, static_data, end)
    }

    /// The series without their last rows; those that have no others are left out.
    fn without_last(&self, rows: usize) -> Self {
        Self { panel: self.panel.without_last(rows), options: self.options.clone() }
    }

    /// Whether its times are timestamps.
    #[getter]
    fn has_timestamps(&self) -> bool {
        self.panel.freq().kind() == TimeKind::Timestamp
    }

    /// Number of series.
    #[getter]
    fn n_series(&self) -> usize {
        self.panel.n_series()
    }

    /// Rows of the longest series.
    #[getter]
    fn max_len(&self) -> usize {
        self.panel.max_len()
    }

    /// Rows of the shortest series.
    #[getter]
    fn min_len(&self) -> usize {
        self.panel.min_len()
    }

    /// The ids of series that were left out, as no value of them is known.
    #[getter]
    fn left_out(&self) -> Vec<String> {
        let ids = |note: &ReadNote| match note {
            ReadNote::NothingKnown { series, .. } => series.iter().map(|(id, _)| id.clone()).collect(),
            _ => Vec::new(),
        };
        self.panel.notes().iter().flat_map(ids).collect()
    }

    /// The step between rows.
    #[getter]
    fn freq(&self) -> String {
        self.panel.freq().to_string()
    }

    /// The ids and times of the `h` steps after each series; with none, of the last row of each.
    fn future(&self, py: Python<'_>, h: usize) -> PyResult<PyFrame> {
        let mut frame = self.empty();
        py.detach(|| {
            for series in 0..self.panel.n_series() {
                let times = match h {
                    0 => vec![self.panel.time(series, self.panel.len(series) - 1)],
                    h => self.panel.future_times(series, h)?,
                };
                frame.ids.extend(times.iter().map(|_| self.panel.id(series).clone()));
                frame.times.extend(times);
            }
            Ok(PyFrame::of(frame, None))
        })
        .map_err(|error: DataError| exception(error))
    }

    /// All rows: ids, times and the target.
    fn rows(&self, py: Python<'_>) -> PyFrame {
        py.detach(|| {
            let mut frame = self.ids_and_times();
            let mut target = Vec::with_capacity(self.panel.n_rows());
            for series in 0..self.panel.n_series() {
                target.extend(self.panel.known_values(series, 0..self.panel.len(series)));
            }
            frame.push_wide(&self.options.target_col, target, self.panel.has_levels());
            PyFrame::of(frame, None)
        })
    }
}
