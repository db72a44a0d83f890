//! How networks are pruned, as the package says it: one JSON object.

use std::sync::Arc;

use foretell::{Fitted, Panel, PruneOptions, while_wanted};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;

use crate::error::{exception, parsed};
use crate::training_settings::StepArguments;
use crate::watched::Watch;

/// The arguments of `NeuralForecast.prune`.
#[derive(Debug, Deserialize)]
struct Asked {
    sparsity: f64,
    structured: bool,
    by: String,
    steps: Option<u64>,
    learning_rate: Option<f64>,
    n_windows: usize,
    season: Option<usize>,
    #[serde(flatten)]
    training: StepArguments,
}

impl Asked {
    fn options(&self) -> PyResult<PruneOptions> {
        let mut options = PruneOptions::new(self.sparsity)
            .by(parsed(&self.by)?)
            .structured(self.structured)
            .n_windows(self.n_windows)
            .steps_as(self.training.settings()?);
        if let Some(steps) = self.steps {
            options = options.steps(steps);
        }
        if let Some(rate) = self.learning_rate {
            options = options.learning_rate(rate);
        }
        if let Some(season) = self.season {
            options = options.season(season);
        }
        Ok(options)
    }
}

/// The models with fewer weights or units, trained on with what is left, and a JSON text of the scores of each network before and after.
pub(crate) fn prune(
    py: Python<'_>,
    fitted: &Fitted,
    panel: &Panel,
    asked: &str,
    progress: Option<&Py<PyAny>>,
) -> PyResult<(Fitted, String)> {
    let asked: Asked =
        serde_json::from_str(asked).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let (options, watch) = (asked.options()?, Watch::default());
    // Nothing of an interrupted pruning is kept, so that its scores end with it, too.
    let (result, stopped) = watch.run(py, progress, || {
        while_wanted(Arc::new(watch.question()), || fitted.prune_with(panel, &options, watch.listener()))
    });
    if let Some(stopped) = stopped {
        return Err(stopped);
    }
    let pruned = result.map_err(exception)?;
    Ok((pruned.fitted, serde_json::to_string(&pruned.scores).expect("names and numbers")))
}
