//! The training of a network on lessons: a series each, with the forecast of its teacher at the end.

use serde_json::Value;

use crate::error::Error;
use crate::inputs::local_scalers::LocalScalers;
use crate::model_spec::ModelSpec;
use crate::training::plan::TrainingPlan;

/// The hyper-parameters by which windows are drawn from series.
pub(crate) const SAMPLING: [&str; 3] = ["step_size", "batch_size", "windows_batch_size"];

impl TrainingPlan {
    /// The model, where there is one alone.
    pub(crate) fn spec(&self) -> Option<&ModelSpec> {
        match &self.specs[..] {
            [spec] => Some(spec),
            _ => None,
        }
    }

    /// Has the only model, a network, draw one window of each of `series` series of `rows` rows, and as many series a step as it draws
    /// windows; gives the model as it was.
    pub(crate) fn draw_whole_series(&mut self, rows: usize, series: usize) -> Result<ModelSpec, Error> {
        let own = self.specs[0].clone();
        let windows = own.hyper_parameters().get("windows_batch_size").and_then(Value::as_u64);
        let windows = windows.map_or(series, |windows| series.min(windows as usize));
        for (name, value) in SAMPLING.into_iter().zip([rows, windows, windows]) {
            self.specs[0] = self.specs[0].clone().set(name, value)?;
        }
        Ok(own)
    }

    /// What is set beside the models that a training on lessons does not have, with what to do about it.
    pub(crate) fn beside_models(&self) -> Option<&'static str> {
        let LocalScalers { series, statics } = self.pipeline.local_scalers;
        let set = [
            (self.val_rows() > 0, "lessons are not validated; set no rows to validate on"),
            (
                series.is_some() || statics.is_some(),
                "lessons have no statistics of whole series; set scaler_type, by which each window is scaled",
            ),
            (!self.pipeline.features.is_empty(), "lessons have no computed features; leave them out"),
            (
                self.intervals.is_some()
                    || self.pipeline.settings.dropout.is_some()
                    || self.pipeline.settings.spread,
                "intervals are not learnt; calibrate those of the student afterwards, or teach a loss of quantiles",
            ),
            (!self.ensembles.is_empty(), "one student makes no ensemble; leave it out"),
            (
                self.pipeline.coherence.is_some(),
                "lessons are of single series; reconcile what the student forecasts",
            ),
        ];
        set.into_iter().find_map(|(is_set, reason)| is_set.then_some(reason))
    }
}
