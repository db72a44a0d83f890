//! One training of a search: hyper-parameters, a share of their steps, and the score of the forecasts.

use std::sync::{Arc, PoisonError, RwLock};

use foretell_data::Panel;
use foretell_estimator::{Verdict, Workers};
use foretell_evaluate::{Metric, ScoreBy};

use crate::error::Error;
use crate::forecaster::Forecaster;
use crate::model_spec::ModelSpec;
use crate::scores::cross_validation::{ValidationOptions, ValidationScores};
use crate::usage_error::UsageError;
use crate::warning::WarningListener;

/// Whether trainings are to end.
pub(super) type Stop = Arc<dyn Fn() -> bool + Send + Sync>;

/// How trainings of a search run.
pub(super) struct Trainer<'a> {
    pub(super) panel: &'a Panel,
    pub(super) configure: &'a (dyn Fn(Forecaster) -> Result<Forecaster, Error> + Send + Sync),
    pub(super) windows: ValidationOptions<'static>,
    pub(super) metric: Metric,
    pub(super) season: usize,
    /// Threads of each training.
    pub(super) threads: usize,
    /// Trainings side by side.
    pub(super) at_a_time: usize,
    pub(super) stop: Stop,
    /// Held to write by a training that needs all of the memory.
    pub(super) memory: RwLock<()>,
}

impl Trainer<'_> {
    /// The score of a model with this share of its steps; nothing if it was stopped.
    pub(super) fn score(&self, spec: &ModelSpec, budget: f64) -> Result<Option<f64>, Error> {
        let spec = match spec.as_ref().max_steps().filter(|_| budget < 1.0) {
            Some(steps) => spec.clone().set("max_steps", ((steps as f64 * budget).ceil() as u64).max(1))?,
            None => spec.clone(),
        };
        if self.at_a_time > 1 {
            let _beside = self.memory.read().unwrap_or_else(PoisonError::into_inner);
            match self.validate(spec.clone(), self.threads, self.at_a_time as u64) {
                Err(Error::Usage(UsageError::Memory(_))) => {}
                done => return done,
            }
        }
        // What does not fit beside others may fit alone: whether it does must not depend on how many there are.
        let _alone = self.memory.write().unwrap_or_else(PoisonError::into_inner);
        self.validate(spec, self.threads.saturating_mul(self.at_a_time), 1)
    }

    fn validate(&self, spec: ModelSpec, threads: usize, shares: u64) -> Result<Option<f64>, Error> {
        let mut forecaster = (self.configure)(Forecaster::new([spec])?)?;
        let stop = Arc::clone(&self.stop);
        let limit = forecaster.plan.memory.bytes();
        forecaster = forecaster
            .workers(&Workers::new(threads)?)
            .max_memory(limit / shares)
            .on_progress(move |_, _| if stop() { Verdict::Interrupt } else { Verdict::Continue });
        // Fifty trainings would say the same fifty times; the training of the winner says it.
        forecaster.plan.warnings = WarningListener::default();
        // Nor does a trial need intervals that are calibrated by a second training.
        forecaster.plan.intervals = None;
        let validation = match forecaster.cross_validate(self.panel, &self.windows) {
            Err(Error::NothingForecast { .. }) => return Ok(None),
            validation => validation?,
        };
        if validation.fitted.interrupted() {
            return Ok(None);
        }
        let options = ValidationScores::new(self.season);
        let table = validation.scores(self.panel, &[self.metric], ScoreBy::Rows, &options)?;
        // Metrics of quantiles and intervals have a column for each.
        let columns: Vec<f64> =
            table.metrics.iter().filter_map(|column| column.values.first()?.first().copied()).collect();
        Ok(Some(columns.iter().sum::<f64>() / columns.len() as f64))
    }
}
