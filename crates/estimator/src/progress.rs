//! The report of a training run after each step, and the answer of its listener.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The state after a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Steps taken.
    pub step: u64,
    /// Steps to take at most.
    pub max_steps: u64,
    /// The loss of this step's batch, on the windows' scale.
    #[serde(with = "crate::nan_as_null")]
    pub train_loss: f64,
    /// The validation loss on the data's scale, after a step with a check.
    pub valid_loss: Option<f64>,
    /// The rate of this step.
    pub learning_rate: f64,
    /// Steps so far that changed no weight, since gradients overflowed in `f16`.
    #[serde(default)]
    pub skipped_steps: u64,
    /// Since the first step began; zero in a browser.
    pub elapsed: Duration,
}

/// Called after every step; its verdict may stop the run.
pub type Listener<'a> = &'a mut (dyn FnMut(&Progress) -> Verdict + Send);

/// How a training run ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Steps taken.
    pub steps: u64,
    /// The loss of the last batch; NaN (null in JSON) before the first step.
    #[serde(with = "crate::nan_as_null")]
    pub train_loss: f64,
    /// The last validation loss, or that of the weights that early stopping went back to.
    pub valid_loss: Option<f64>,
    /// Whether the listener interrupted it.
    pub interrupted: bool,
    /// Steps among them that changed no weight, since gradients overflowed in `f16`.
    #[serde(default)]
    pub skipped_steps: u64,
}

impl Outcome {
    /// That of a run before its first step.
    pub fn of_no_step() -> Self {
        Self { steps: 0, train_loss: f64::NAN, valid_loss: None, interrupted: false, skipped_steps: 0 }
    }
}

/// The listener's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Go on.
    Continue,
    /// Stop here and keep the weights: this model is done.
    Stop,
    /// Stop here and keep the weights, and train no model after this one; the run may be resumed later.
    Interrupt,
}
