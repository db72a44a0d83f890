//! How networks are pruned.

use foretell_estimator::{SparsityScope, StepSettings};

use crate::error::Error;
use crate::setters::setters;
use crate::smaller_error::SmallerError;
use crate::usage_error::UsageError;

/// Horizons at the end of each series that are scored, if nothing else is said.
const N_WINDOWS: usize = 3;

/// How much of the networks goes, and how they are trained on: see [`Fitted::prune`](crate::Fitted::prune).
#[derive(Clone, Debug)]
pub struct PruneOptions {
    pub(crate) sparsity: f64,
    pub(crate) scope: SparsityScope,
    pub(crate) structured: bool,
    pub(crate) steps: Option<u64>,
    pub(crate) learning_rate: Option<f64>,
    pub(crate) n_windows: usize,
    pub(crate) season: Option<usize>,
    pub(crate) step: StepSettings,
}

impl PruneOptions {
    /// This share of the weights of each matrix becomes zero, at least 0 and below 1.
    pub fn new(sparsity: f64) -> Self {
        Self {
            sparsity,
            scope: SparsityScope::default(),
            structured: false,
            steps: None,
            learning_rate: None,
            n_windows: N_WINDOWS,
            season: None,
            step: StepSettings::default(),
        }
    }

    /// Whether weights are compared within their matrix, the default, or all of them with each other.
    pub fn by(mut self, scope: SparsityScope) -> Self {
        self.scope = scope;
        self
    }

    setters! {
        /// Removes hidden units in place of single weights, the least important ones of each layer, so that products get smaller.
        structured(bool);
        /// Steps of training on what is left; by default a quarter of each network's `max_steps`. Weights become zero over the first 70 %
        /// of them, or at once if there are none.
        steps(u64) = Some(steps);
        /// The learning rate of these steps; by default that of each network.
        learning_rate(f64) = Some(learning_rate);
        /// Horizons at the end of each series that are not trained on, and whose forecasts are scored before and after; 3 by default.
        n_windows(usize);
        /// Steps of a season, for [`Metrics::mase`](crate::Metrics::mase); by default as usual for the frequency.
        season(usize) = Some(season);
    }

    /// How the steps of this training are computed, as [`Forecaster::steps_as`](crate::Forecaster::steps_as) says it.
    pub fn steps_as(mut self, step: StepSettings) -> Self {
        self.step = step;
        self
    }

    /// Whether the share is one, and there is something to score.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if !(0.0..1.0).contains(&self.sparsity) {
            return Err(SmallerError::SparsityOutOfRange { found: self.sparsity }.into());
        }
        match self.n_windows {
            0 => Err(UsageError::NoWindows { n_windows: 0, step_size: 1 }.into()),
            _ => Ok(()),
        }
    }
}
