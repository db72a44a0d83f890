//! Models before training.

use std::sync::{Mutex, PoisonError};

use foretell::hierarchy::{Hierarchy, Reconciliation};
use foretell::{DistillationOptions, Forecaster, ValidationOptions};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error::{exception, parsed};
use crate::fitted::PyFitted;
use crate::frame::PyFrame;
use crate::panel::PyPanel;
use crate::spec;
use crate::told::Told;
use crate::training_settings::TrainingSettings;
use crate::watched::{ModelLosses, Watch};

/// A summing matrix, `[series, series at the bottom]`: the ids of its rows and of its columns, the matrix row by row, and the name of
/// a method of reconciliation.
pub(crate) type SummingMatrix = (Vec<String>, Vec<String>, Vec<f64>, String);

/// Models before training, and how they are to be trained; it trains once.
#[pyclass(name = "Forecaster", module = "foretell._foretell", frozen)]
pub(crate) struct PyForecaster {
    /// Taken by the training.
    forecaster: Mutex<Option<Forecaster>>,
    columns: Vec<String>,
    categories: Vec<String>,
    /// Where the state of the training is kept.
    state: Option<String>,
    told: Told,
    watch: Watch,
}

#[pymethods]
impl PyForecaster {
    /// Models of a JSON text, and the settings of their training as another; `start` has models that they continue from. Where there is no
    /// `hierarchy`, forecasts add up by that of `like`, if it has one.
    #[new]
    #[pyo3(signature = (models, settings, start = None, hierarchy = None, like = None))]
    fn new(
        models: &str,
        settings: &str,
        start: Option<&PyFitted>,
        hierarchy: Option<SummingMatrix>,
        like: Option<&PyFitted>,
    ) -> PyResult<Self> {
        let (told, watch) = (Told::default(), Watch::default());
        let mut forecaster = Forecaster::new(spec::read(models)?).map_err(exception)?;
        if let Some(start) = start {
            forecaster = forecaster.start_from(&start.fitted).without_settings();
        }
        let settings = TrainingSettings::read(settings)?;
        forecaster = settings
            .of(forecaster)?
            .on_warning(told.listener())
            .on_progress(watch.listener())
            .while_wanted(watch.question());
        if let Some((rows, columns, matrix, method)) = hierarchy {
            let sums = Hierarchy::from_summing_matrix(&rows, &columns, &matrix).map_err(exception)?;
            forecaster = forecaster.hierarchy(sums, parsed::<Reconciliation>(&method)?).map_err(exception)?;
        } else if let Some((sums, method)) = like.and_then(|like| like.fitted.hierarchy()) {
            forecaster = forecaster.hierarchy(sums.clone(), method).map_err(exception)?;
        }
        let (columns, categories) = (forecaster.columns_read(), forecaster.categories());
        let state = settings.checkpoint.map(|(dir, _)| dir);
        Ok(Self { forecaster: Mutex::new(Some(forecaster)), columns, categories, state, told, watch })
    }

    /// The columns of the data that the models read beside the target.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.columns.clone()
    }

    /// Those of these and of the static ones that hold categories.
    #[getter]
    fn categories(&self) -> Vec<String> {
        self.categories.clone()
    }

    /// Whether fits to parts of the series make, joined, the models of all.
    #[getter]
    fn fits_by_parts(&self) -> bool {
        let forecaster = self.forecaster.lock().unwrap_or_else(PoisonError::into_inner);
        forecaster.as_ref().is_some_and(Forecaster::fits_by_parts)
    }

    /// The losses of the training of each model, step by step.
    #[getter]
    fn losses(&self) -> Vec<ModelLosses> {
        self.watch.losses()
    }

    /// Trains the models, validated on the rows of another panel if there is one, or on what others forecast: these, the most of
    /// their forecasts to learn, and the number of mixtures beside each series. What was learned, and the exception that ended the training early, if
    /// one did.
    #[pyo3(signature = (panel, progress = None, validation = None, teacher = None))]
    fn fit(
        &self,
        py: Python<'_>,
        panel: &PyPanel,
        progress: Option<Py<PyAny>>,
        validation: Option<&PyPanel>,
        teacher: Option<(PyRef<'_, PyFitted>, usize, usize)>,
    ) -> PyResult<(PyFitted, Option<PyErr>)> {
        let mut forecaster = self.take()?;
        if let Some(validation) = validation {
            forecaster = forecaster.val_data(&validation.panel);
        }
        let teacher = teacher.map(|(teacher, lessons, mixtures)| {
            (teacher.fitted.clone(), DistillationOptions::new().lessons(lessons).mixtures(mixtures))
        });
        let (result, stopped) = self.watch.run(py, progress.as_ref(), move || match teacher {
            Some((teacher, options)) => {
                forecaster.distil(&teacher, &panel.panel, &options).map(|distilled| distilled.fitted)
            }
            None => forecaster.fit(&panel.panel),
        });
        let fitted = self.finish(py, result, &stopped)?;
        Ok((PyFitted::of(fitted, self.told.clone()), stopped))
    }

    /// Trains the models and forecasts `n_windows` windows of `h` steps at the end of each series: the forecasts, what was learned, and
    /// the exception that ended the training early, if one did.
    #[pyo3(signature = (
        panel, n_windows, step_size, refit = 0, level = Vec::new(), progress = None, h = None, quantiles = Vec::new(),
        raw_quantiles = false,
    ))]
    fn cross_validate(
        &self,
        py: Python<'_>,
        panel: &PyPanel,
        n_windows: usize,
        step_size: usize,
        refit: usize,
        level: Vec<f64>,
        progress: Option<Py<PyAny>>,
        h: Option<usize>,
        quantiles: Vec<f64>,
        raw_quantiles: bool,
    ) -> PyResult<(PyFrame, PyFitted, Option<PyErr>)> {
        let forecaster = self.take()?;
        let options = ValidationOptions::new(n_windows, step_size).refit(refit).level(&level);
        let mut options = options.quantiles(&quantiles).raw_quantiles(raw_quantiles);
        options.h = h;
        let (result, stopped) =
            self.watch.run(py, progress.as_ref(), || forecaster.cross_validate(&panel.panel, &options));
        let validation = self.finish(py, result, &stopped)?;
        let frame = PyFrame::of(validation.frame, Some(&panel.options.target_col));
        Ok((frame, PyFitted::of(validation.fitted, self.told.clone()), stopped))
    }
}

impl PyForecaster {
    fn take(&self) -> PyResult<Forecaster> {
        let forecaster = self.forecaster.lock().unwrap_or_else(PoisonError::into_inner).take();
        forecaster.ok_or_else(|| PyRuntimeError::new_err("this forecaster was trained already; make another"))
    }

    /// Removes the state that was kept of a training which is at its end, and tells of warnings. Where nothing came of an interrupted training, the exception is that of the interruption.
    fn finish<T>(
        &self,
        py: Python<'_>,
        result: Result<T, foretell::Error>,
        stopped: &Option<PyErr>,
    ) -> PyResult<T> {
        self.told.tell(py)?;
        let result = result.map_err(|error| match stopped {
            Some(stopped) => stopped.clone_ref(py),
            None => exception(error),
        })?;
        if let (Some(dir), None) = (&self.state, stopped) {
            foretell::remove_training_state(dir).map_err(exception)?;
        }
        Ok(result)
    }
}
