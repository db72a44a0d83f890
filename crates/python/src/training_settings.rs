//! How models are trained, as the package says it: one JSON object.

use foretell::{
    ColumnNames, Ensemble, Features, Forecaster, Intervals, KeptSettings, LocalScaler, Precision,
    StepSettings,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;

use crate::error::{exception, parsed};

/// The names of `foretell._calls.ForecasterOptions`, of which those that models keep are fields of [`KeptSettings`], and what holds for
/// one training.
#[derive(Debug, Deserialize)]
pub(crate) struct TrainingSettings {
    id_col: String,
    time_col: String,
    target_col: String,
    #[serde(flatten)]
    kept: KeptSettings,
    #[serde(default)]
    val_size: usize,
    local_scaler_type: Option<String>,
    local_static_scaler_type: Option<String>,
    intervals: Option<String>,
    #[serde(default)]
    threads: usize,
    #[serde(flatten)]
    step: StepArguments,
    restore_best: Option<bool>,
    #[serde(default)]
    ensembles: Vec<String>,
    features: Option<String>,
    max_memory: Option<u64>,
    /// Where the state of the training is kept, and after how many steps each time.
    pub(crate) checkpoint: Option<(String, u64)>,
    #[serde(default)]
    keep_optimizer: bool,
    #[serde(default)]
    freeze: Vec<String>,
}

/// How steps are computed: what every training has, within the arguments of each.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct StepArguments {
    precision: Option<String>,
    low_memory: bool,
}

impl StepArguments {
    pub(crate) fn settings(&self) -> PyResult<StepSettings> {
        let precision = self.precision.as_deref().map_or(Ok(Precision::F32), precision_of)?;
        Ok(StepSettings { precision, low_memory: self.low_memory })
    }
}

impl TrainingSettings {
    /// Those of a JSON text.
    pub(crate) fn read(text: &str) -> PyResult<Self> {
        serde_json::from_str(text).map_err(|error| PyValueError::new_err(format!("settings: {error}")))
    }

    /// The forecaster with these settings.
    pub(crate) fn of(&self, forecaster: Forecaster) -> PyResult<Forecaster> {
        let [id, time, target] = [&self.id_col, &self.time_col, &self.target_col].map(Clone::clone);
        let mut forecaster = forecaster
            .keep(self.kept)
            .baselines(self.kept.baselines)
            .columns(ColumnNames { id, time, target })
            .val_size(self.val_size)
            .threads(self.threads)
            .restore_best(self.restore_best.unwrap_or(true))
            .steps_as(self.step.settings()?)
            .keep_optimizer(self.keep_optimizer)
            .freeze(self.freeze.clone());
        if let Some(name) = &self.local_scaler_type {
            forecaster = forecaster.local_scaler(parsed::<LocalScaler>(name)?);
        }
        if let Some(name) = &self.local_static_scaler_type {
            forecaster = forecaster.local_static_scaler(parsed::<LocalScaler>(name)?);
        }
        if let Some(text) = &self.intervals {
            forecaster = forecaster.intervals(parsed::<Intervals>(text)?);
        }
        for text in &self.ensembles {
            forecaster = forecaster.ensemble(parsed::<Ensemble>(text)?);
        }
        if let Some(text) = &self.features {
            forecaster = forecaster.features(parsed::<Features>(text)?).map_err(exception)?;
        }
        if let Some(bytes) = self.max_memory {
            forecaster = forecaster.max_memory(bytes);
        }
        if let Some((dir, every)) = &self.checkpoint {
            forecaster = forecaster.checkpoint_to(dir, (*every).max(1));
        }
        Ok(forecaster)
    }
}

/// The precision of this name; as Lightning has them, too.
fn precision_of(name: &str) -> PyResult<Precision> {
    match name {
        "f32" | "32" | "32-true" => Ok(Precision::F32),
        "bf16" | "bf16-mixed" | "bf16-true" => Ok(Precision::Bf16),
        "f16" | "16" | "16-mixed" | "16-true" => Ok(Precision::F16),
        other => Err(PyValueError::new_err(format!("precision must be f32, bf16 or f16, found {other:?}"))),
    }
}
