//! Trained models.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use foretell::{
    ArrowTable, Categories, DecomposeOptions, ExplainOptions, Fitted, Future, InsampleOptions, Map,
    PathMethod, PredictOptions, SimulateOptions, ValidationOptions, Value,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;

use crate::attribution::attribution;
use crate::batches::batches;
use crate::error::{exception, parsed};
use crate::frame::PyFrame;
use crate::interval_sources::interval_sources;
use crate::panel::PyPanel;
use crate::prepared::PyPrepared;
use crate::pruning::prune;
use crate::told::Told;
use crate::watched::{interruptible, interruptible_unless, is_brief, wanted};

/// Trained models. They do not change; copies share what was learned.
#[pyclass(name = "Fitted", module = "foretell._foretell", frozen)]
pub(crate) struct PyFitted {
    pub(crate) fitted: Fitted,
    told: Told,
}

impl PyFitted {
    pub(crate) fn of(fitted: Fitted, told: Told) -> Self {
        Self { fitted, told }
    }

    /// Models whose warnings no one hears yet.
    pub(crate) fn read(fitted: Fitted, threads: usize) -> Result<Self, foretell::Error> {
        let told = Told::default();
        let fitted = fitted.threads(threads)?.on_warning(told.listener());
        Ok(Self { fitted, told })
    }

    /// The panel with the sums of the hierarchy that the models keep, if it lacks them.
    fn with_sums(&self, panel: &PyPanel) -> Result<PyPanel, foretell::Error> {
        let PyPanel { panel, options } = panel;
        Ok(PyPanel { panel: self.fitted.with_sums(panel.clone())?, options: options.clone() })
    }

    /// The future rows of a table, `h` steps of each series.
    fn future(
        &self,
        rows: Option<Vec<RecordBatch>>,
        panel: &PyPanel,
        h: usize,
    ) -> Result<Option<Future>, foretell::Error> {
        let read = |rows: Vec<RecordBatch>| {
            Future::from_table(ArrowTable::from_batches(rows)?, &panel.options, &panel.panel, h)
        };
        let future = rows.map(read).transpose()?;
        let ignored = future.as_ref().map_or(0, Future::ignored_rows);
        if ignored > 0 {
            self.told.add(format!("Dropped {ignored} unused rows from `futr_df`."));
        }
        Ok(future)
    }
}

#[pymethods]
impl PyFitted {
    /// Reads a directory that foretell or neuralforecast saved, and the panel in it if there is one. One that is no panel, as
    /// neuralforecast takes rows whatever the frequency says, is told by a warning.
    #[staticmethod]
    #[pyo3(signature = (path, threads = 0))]
    fn load(py: Python<'_>, path: &str, threads: usize) -> PyResult<(Self, Option<PyPanel>)> {
        let read = || {
            let (fitted, panel, flaw) = match Fitted::load_with_panel(path) {
                Ok((fitted, panel)) => (fitted, panel, None),
                Err(flaw @ foretell::Error::StoredPanel { .. }) => (Fitted::load(path)?, None, Some(flaw)),
                Err(error) => return Err(error),
            };
            let (names, categories) = (fitted.columns().clone(), fitted.categories());
            let panel = panel.map(|panel| PyPanel::stored(panel, &names, categories));
            let fitted = Self::read(fitted, threads)?;
            flaw.iter().for_each(|flaw| fitted.told.add(flaw.to_string()));
            Ok((fitted, panel))
        };
        let (fitted, panel) = py.detach(read).map_err(|error: foretell::Error| exception(error))?;
        fitted.told.tell(py)?;
        Ok((fitted, panel))
    }

    /// Reads what `to_bytes` wrote.
    #[staticmethod]
    #[pyo3(signature = (data, threads = 0))]
    fn from_bytes(py: Python<'_>, data: &[u8], threads: usize) -> PyResult<Self> {
        py.detach(|| Self::read(Fitted::from_bytes(data)?, threads)).map_err(exception)
    }

    /// The models in one piece, with a checksum.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &py.detach(|| self.fitted.to_bytes()).map_err(exception)?))
    }

    /// The network whose forecasts are in this column, or the only one, as an ONNX file.
    #[pyo3(signature = (model = None))]
    fn onnx<'py>(&self, py: Python<'py>, model: Option<&str>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &py.detach(|| self.fitted.onnx(model)).map_err(exception)?))
    }

    /// The models at these places, in this order; without ensembles, which are of all models.
    fn only(&self, places: Vec<usize>) -> PyResult<Self> {
        Ok(Self { fitted: self.fitted.only(&places).map_err(exception)?, told: self.told.clone() })
    }

    /// Writes a directory that foretell and neuralforecast load, with a panel that they then forecast without any data.
    #[pyo3(signature = (path, overwrite, panel = None))]
    fn save(&self, py: Python<'_>, path: &str, overwrite: bool, panel: Option<&PyPanel>) -> PyResult<()> {
        let write = || match panel {
            Some(panel) => self.fitted.save_with_panel(&panel.panel, path, overwrite),
            None => self.fitted.save(path, overwrite),
        };
        py.detach(write).map_err(exception)
    }

    /// The horizon.
    #[getter]
    fn h(&self) -> usize {
        self.fitted.h()
    }

    /// The frequency of the data of training; none of pretrained networks, which forecast data of any.
    #[getter]
    fn freq(&self) -> Option<String> {
        self.fitted.freq_of_data().map(|freq| freq.to_string())
    }

    /// The names of the columns of ids, times and the target in training.
    #[getter]
    fn id_time_target(&self) -> (String, String, String) {
        let names = self.fitted.columns().clone();
        (names.id, names.time, names.target)
    }

    /// The names of the models' columns, without suffixes.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.fitted.column_names()
    }

    /// The names and hyper-parameters of the models, as JSON.
    #[getter]
    fn models(&self) -> String {
        let specs: Vec<_> = self.fitted.models().iter().map(|model| model.spec()).collect();
        serde_json::to_string(&specs).expect("names and numbers")
    }

    /// The arguments of neuralforecast's trainer of each model, as JSON.
    #[getter]
    fn trainer_arguments(&self) -> String {
        let of_model = |model: &foretell::FittedModel| {
            model.spec().network().map(|network| network.trainer_arguments().clone()).unwrap_or_default()
        };
        let all: Vec<_> = self.fitted.models().iter().map(of_model).collect();
        serde_json::to_string(&all).expect("plain values")
    }

    /// The library whose tables the data of the training were: pandas, polars or pyarrow.
    #[getter]
    fn tables(&self) -> Option<String> {
        json!(self.fitted.kept_settings())["tables"].as_str().map(ToOwned::to_owned)
    }

    /// The models with these of the settings that they keep, as JSON, in place of their own.
    fn keep(&self, settings: &str) -> PyResult<Self> {
        let refuse = |error: serde_json::Error| PyValueError::new_err(format!("settings: {error}"));
        let asked: Map<String, Value> = serde_json::from_str(settings).map_err(refuse)?;
        let kept = self.fitted.kept_settings().with(&asked).map_err(refuse)?;
        Ok(Self { fitted: self.fitted.clone().keep(kept), told: self.told.clone() })
    }

    /// The settings that the models keep, as JSON with the names that `Forecaster` takes them by.
    #[getter]
    fn settings(&self) -> String {
        let [of_series, of_statics] = self.fitted.local_scalers();
        let features = self.fitted.features();
        let mut all = json!(self.fitted.kept_settings());
        all["local_scaler_type"] = json!(of_series.map(|scaler| scaler.to_string()));
        all["local_static_scaler_type"] = json!(of_statics.map(|scaler| scaler.to_string()));
        all["features"] = json!((!features.is_empty()).then(|| features.to_string()));
        all.to_string()
    }

    /// The names of the columns of ensembles.
    #[getter]
    fn ensembles(&self) -> Vec<&'static str> {
        self.fitted.ensembles().map(|(column, _)| column).collect()
    }

    /// The columns of the data that the models read beside the target.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.fitted.columns_read()
    }

    /// Those of them whose future values a forecast needs.
    #[getter]
    fn future_columns(&self) -> Vec<String> {
        self.fitted.future_columns()
    }

    /// The names of the columns of a forecast with these levels or quantiles, behind those of ids and times.
    #[pyo3(signature = (level = Vec::new(), quantiles = Vec::new()))]
    fn forecast_columns(&self, level: Vec<f64>, quantiles: Vec<f64>) -> PyResult<Vec<String>> {
        let options = PredictOptions::new().level(&level).quantiles(&quantiles);
        self.fitted.forecast_columns(&options).map_err(exception)
    }

    /// Parts of a multiple of this many series, in their order, have the forecasts of all of them to the last bit; none if a forecast
    /// needs all series at once.
    #[getter]
    fn series_per_part(&self) -> Option<usize> {
        self.fitted.series_per_part()
    }

    /// Whether forecasts add up by a hierarchy, which the models keep.
    #[getter]
    fn has_hierarchy(&self) -> bool {
        self.fitted.hierarchy().is_some()
    }

    /// The columns that hold categories.
    #[getter]
    fn categories(&self) -> Vec<String> {
        self.fitted.categories()
    }

    /// The categories of each of these columns that training saw; the first is number 1.
    #[getter]
    fn vocabulary(&self) -> Vec<(String, Vec<String>)> {
        let labels = |(column, categories): (&String, &Categories)| (column.clone(), categories.labels());
        self.fitted.vocabulary().iter().map(labels).collect()
    }

    /// How intervals were calibrated, as `windows:method:step`, or where they come from otherwise: `dropout:samples`, `spread`.
    #[getter]
    fn intervals(&self) -> Option<String> {
        self.fitted.intervals().map(|intervals| intervals.to_string())
    }

    /// The source of the intervals of each column of a forecast.
    #[getter]
    fn interval_sources(&self) -> Vec<(String, Option<String>)> {
        interval_sources(&self.fitted)
    }

    /// The absolute errors that intervals were calibrated by, of each series, cutoff and step. The panel that they are of says whether its
    /// ids are integers, which come in their order.
    #[pyo3(signature = (panel = None))]
    fn calibration_errors(&self, panel: Option<&PyPanel>) -> Option<PyFrame> {
        let mut errors = self.fitted.calibration_errors()?;
        errors.integer_ids |= panel.is_some_and(|panel| panel.panel.has_integer_ids());
        Some(PyFrame::of(errors, None))
    }

    /// The offset and the scale of each column that local scalers scale, of all rows but the last of each series: of columns of rows,
    /// series by series in the order of their ids, and of static columns.
    fn local_statistics(
        &self,
        py: Python<'_>,
        panel: &PyPanel,
        without_last: usize,
    ) -> PyResult<[BTreeMap<String, Vec<[f32; 2]>>; 2]> {
        let statistics = interruptible(py, || self.fitted.local_statistics(&panel.panel, without_last))?;
        let [mut of_rows, of_statics] = statistics.map_err(exception)?;
        if panel.panel.has_integer_ids() {
            let number = |series: &usize| panel.panel.id(*series).parse::<i64>().ok();
            let mut order: Vec<usize> = (0..panel.panel.n_series()).collect();
            order.sort_by_key(number);
            for pairs in of_rows.values_mut() {
                *pairs = order.iter().map(|&series| pairs[series]).collect();
            }
        }
        Ok([of_rows, of_statics])
    }

    /// How far training came, if it was interrupted.
    #[getter]
    fn interruption(&self) -> Option<String> {
        self.fitted.interruption().map(ToString::to_string)
    }

    /// The loss of the last step and of validation of each model, where they are known.
    #[getter]
    fn losses(&self) -> Vec<(Option<f64>, Option<f64>)> {
        let outcome = |model: &foretell::FittedModel| {
            model.outcome().map_or((None, None), |outcome| (Some(outcome.train_loss), outcome.valid_loss))
        };
        self.fitted.models().iter().map(outcome).collect()
    }

    /// Forecasts `h` steps after the end of each series, with intervals of these levels in percent or with quantiles; those of a step
    /// are sorted unless they are to stay as the models gave them.
    #[pyo3(signature = (panel, future = None, h = None, level = Vec::new(), raw_quantiles = false, quantiles = Vec::new()))]
    fn predict(
        &self,
        py: Python<'_>,
        panel: &PyPanel,
        future: Option<&Bound<'_, PyAny>>,
        h: Option<usize>,
        level: Vec<f64>,
        raw_quantiles: bool,
        quantiles: Vec<f64>,
    ) -> PyResult<PyFrame> {
        let rows = future.map(batches).transpose()?;
        let h = h.unwrap_or(self.fitted.h());
        let brief = is_brief(&self.fitted, panel.panel.n_series(), h);
        let result = interruptible_unless(py, brief, || {
            let panel = &self.with_sums(panel)?;
            let future = self.future(rows, panel, h)?;
            let options =
                PredictOptions::new().future(future.as_ref()).h(h).level(&level).quantiles(&quantiles);
            self.fitted.clone().raw_quantiles(raw_quantiles).predict_with(&panel.panel, &options)
        })?;
        self.told.tell(py)?;
        Ok(PyFrame::of(result.map_err(exception)?, None))
    }

    /// The models for arrays of other rows of these series.
    fn prepared(&self, panel: &PyPanel, raw_quantiles: bool) -> PyResult<PyPrepared> {
        let fitted = self.fitted.clone().raw_quantiles(raw_quantiles);
        PyPrepared::of(fitted, self.told.clone(), &panel.panel).map_err(exception)
    }

    /// Draws `n_paths` paths of the steps after the end of each series, which the column `sample_id` numbers.
    #[pyo3(signature = (panel, future, n_paths, seed, method, quantiles, h))]
    fn simulate(
        &self,
        py: Python<'_>,
        panel: &PyPanel,
        future: Option<&Bound<'_, PyAny>>,
        n_paths: usize,
        seed: u64,
        method: &str,
        quantiles: Vec<f64>,
        h: usize,
    ) -> PyResult<PyFrame> {
        let (rows, method) = (future.map(batches).transpose()?, parsed::<PathMethod>(method)?);
        let result = interruptible(py, || -> Result<_, foretell::Error> {
            let panel = &self.with_sums(panel)?;
            let future = self.future(rows, panel, h)?;
            let options = SimulateOptions::new(n_paths).seed(seed).method(method).h(h);
            let options = options.quantiles(&quantiles).future(future.as_ref());
            let frame = self.fitted.simulate(&panel.panel, &options).and_then(wanted)?;
            // Path by path, as neuralforecast has them, not series by series.
            let places = |path| {
                let steps = move |series| (0..h).map(move |step| (series * n_paths + path) * h + step);
                (0..panel.panel.n_series()).flat_map(steps)
            };
            Ok(frame.at(&(0..n_paths).flat_map(places).collect::<Vec<usize>>()))
        })?;
        self.told.tell(py)?;
        Ok(PyFrame::of(result.map_err(exception)?, None))
    }

    /// The contributions of the inputs to the forecasts of the next `h` steps by the networks of these columns, by a method of
    /// captum's name: a column
    /// `NAME:baseline` and one per input, `NAME:COLUMN@STEP`.
    #[pyo3(signature = (panel, future, models, method, output, h))]
    fn explain(
        &self,
        py: Python<'_>,
        panel: &PyPanel,
        future: Option<&Bound<'_, PyAny>>,
        models: Vec<String>,
        method: &str,
        output: usize,
        h: usize,
    ) -> PyResult<PyFrame> {
        let method = attribution(method)?;
        let rows = future.map(batches).transpose()?;
        let result = interruptible(py, || {
            let panel = &self.with_sums(panel)?;
            let future = self.future(rows, panel, h)?;
            let options = ExplainOptions::new(method).output(output).models(&models).h(h);
            self.fitted.explain(&panel.panel, &options.future(future.as_ref()))
        })?;
        self.told.tell(py)?;
        Ok(PyFrame::of(result.map_err(exception)?, None))
    }

    /// The parts that the forecasts of the next `h` steps are made of, as columns such as `NHITS:block_1`.
    #[pyo3(signature = (panel, future, h))]
    fn decompose(
        &self,
        py: Python<'_>,
        panel: &PyPanel,
        future: Option<&Bound<'_, PyAny>>,
        h: usize,
    ) -> PyResult<PyFrame> {
        let rows = future.map(batches).transpose()?;
        let result = interruptible(py, || {
            let panel = &self.with_sums(panel)?;
            let future = self.future(rows, panel, h)?;
            self.fitted.decompose(&panel.panel, &DecomposeOptions::new().future(future.as_ref()).h(h))
        })?;
        self.told.tell(py)?;
        Ok(PyFrame::of(result.map_err(exception)?, None))
    }

    /// The weights of columns and steps behind the forecasts of each model that has such, as JSON.
    #[pyo3(signature = (panel, future = None))]
    fn feature_importances(
        &self,
        py: Python<'_>,
        panel: &PyPanel,
        future: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let rows = future.map(batches).transpose()?;
        let result = interruptible(py, || {
            let panel = &self.with_sums(panel)?;
            let future = self.future(rows, panel, self.fitted.h())?;
            self.fitted.feature_importances(&panel.panel, future.as_ref())
        })?;
        self.told.tell(py)?;
        Ok(serde_json::to_string(&result.map_err(exception)?).expect("names and numbers"))
    }

    /// Marks the rows that are outside the intervals of `level` percent of their forecasts.
    fn anomalies(&self, py: Python<'_>, panel: &PyPanel, level: f64) -> PyResult<PyFrame> {
        let result = interruptible(py, || self.fitted.anomalies(&self.with_sums(panel)?.panel, level))?;
        self.told.tell(py)?;
        Ok(PyFrame::of(result.map_err(exception)?, None))
    }

    /// The models with fewer weights or units, as a JSON text says, and one of the scores of each network before and after.
    #[pyo3(signature = (panel, asked, progress = None))]
    fn prune(
        &self,
        py: Python<'_>,
        panel: &PyPanel,
        asked: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Self, String)> {
        let panel = self.with_sums(panel).map_err(exception)?;
        let pruned = prune(py, &self.fitted, &panel.panel, asked, progress.as_ref());
        self.told.tell(py)?;
        pruned.map(|(fitted, scores)| (Self::of(fitted, self.told.clone()), scores))
    }

    /// Forecasts the rows that are known, but for the last ones of each series, from a cutoff every `step_size` steps.
    #[pyo3(signature = (
        panel, step_size = 1, without_last = 0, level = Vec::new(), quantiles = Vec::new(), raw_quantiles = false,
    ))]
    fn predict_insample(
        &self,
        py: Python<'_>,
        panel: &PyPanel,
        step_size: usize,
        without_last: usize,
        level: Vec<f64>,
        quantiles: Vec<f64>,
        raw_quantiles: bool,
    ) -> PyResult<PyFrame> {
        let result = interruptible(py, || {
            let panel = self.with_sums(panel)?.panel.without_last(without_last);
            let options = InsampleOptions::new(step_size).from_padding().level(&level).quantiles(&quantiles);
            self.fitted.clone().raw_quantiles(raw_quantiles).predict_insample_with(&panel, &options)
        })?;
        self.told.tell(py)?;
        Ok(PyFrame::of(result.map_err(exception)?, Some(&panel.options.target_col)))
    }

    /// Forecasts `n_windows` windows at the end of each series without any training.
    #[pyo3(signature = (panel, n_windows, step_size, level = Vec::new(), quantiles = Vec::new(), raw_quantiles = false))]
    fn validate(
        &self,
        py: Python<'_>,
        panel: &PyPanel,
        n_windows: usize,
        step_size: usize,
        level: Vec<f64>,
        quantiles: Vec<f64>,
        raw_quantiles: bool,
    ) -> PyResult<PyFrame> {
        let options = ValidationOptions::new(n_windows, step_size).level(&level).quantiles(&quantiles);
        let options = options.raw_quantiles(raw_quantiles);
        let result =
            interruptible(py, || self.fitted.validate_with(&self.with_sums(panel)?.panel, &options))?;
        self.told.tell(py)?;
        Ok(PyFrame::of(result.map_err(exception)?.frame, Some(&panel.options.target_col)))
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.fitted)
    }
}
