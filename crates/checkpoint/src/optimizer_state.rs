//! The optimiser of a training, kept beside the network that it trained.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The optimiser of a network's training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OptimizerState {
    /// Its class: "Adam", ...
    pub optimizer: String,
    /// Steps of the trainings so far.
    pub steps: u64,
    /// Steps of the optimiser among these.
    pub updates: u64,
    /// The scale of the loss, of a training in half precision, as the one who trains writes it.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub scaler: Value,
    /// Its arrays with one number for each parameter, under PyTorch's names.
    #[serde(skip)]
    pub arrays: BTreeMap<String, Vec<f32>>,
}
