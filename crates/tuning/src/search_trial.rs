//! The trials of a search and their scores.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A set of hyper-parameters that a search tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchTrial {
    /// Its number, from 0.
    pub trial: usize,
    /// The model's name.
    pub model: String,
    /// Which of the spaces it is of.
    pub space: usize,
    /// The hyper-parameters that are searched.
    pub hyper_parameters: Map<String, Value>,
    /// Its score at each rung that it has reached, from the smallest budget; the least is best.
    pub scores: Vec<Option<f64>>,
    /// Seconds that its training and forecasts took, all rungs together.
    pub seconds: f64,
    /// Why it has no score, if it failed.
    pub failure: Option<String>,
}

impl SearchTrial {
    /// The score at the highest rung; nothing if it failed.
    pub fn score(&self) -> Option<f64> {
        self.scores.last().copied().flatten()
    }
}

/// The report of a search, after each training.
#[derive(Clone, Copy, Debug)]
pub struct SearchProgress<'a> {
    /// The last trial.
    pub trial: &'a SearchTrial,
    /// The least score so far at the highest rung that a trial has reached, and the number of its trial.
    pub best: Option<(f64, usize)>,
    /// Trials that were begun and have a score.
    pub done: usize,
    /// Trials of the search.
    pub trials: usize,
    /// How long those that are not done will take, if they take as long as those that are.
    pub left: Duration,
}
