//! Trainings that were ended before their end, and their record in model directories.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fitted_model::FittedModel;
use crate::training::checkpointing::{digest, trainings_in};

/// How far a training came that its listener interrupted. Model directories have it in an entry of their configuration that
/// neuralforecast passes over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interruption {
    /// The models that were trained last.
    pub models: Vec<InterruptedModel>,
    /// The columns of the models whose training had not begun.
    pub missing: Vec<String>,
    /// The digest that identifies the training, where its state was kept.
    training: Option<String>,
}

/// How far the training of a model came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterruptedModel {
    /// The model's column.
    pub model: String,
    /// Steps that were done.
    pub step: u64,
    /// Steps that were to be done.
    pub max_steps: u64,
}

impl Interruption {
    /// The training of models with these columns, of which these are trained, some not to their end.
    pub(crate) fn of(models: &[FittedModel], columns: &[String], training: Option<&Value>) -> Self {
        let of_model = |(place, (model, column)): (usize, (&FittedModel, &String))| {
            let outcome = model.outcome().filter(|o| o.interrupted || place + 1 == models.len())?;
            let max_steps = model.needs().max_steps?;
            Some(InterruptedModel { model: column.clone(), step: outcome.steps, max_steps })
        };
        Self {
            models: models.iter().zip(columns).enumerate().filter_map(of_model).collect(),
            missing: columns[models.len()..].to_vec(),
            training: training.map(|training| digest(&training.to_string())),
        }
    }

    /// Whether `dir` holds the state of that training (see [`Forecaster::checkpoint_to`](crate::Forecaster::checkpoint_to)).
    /// Continuing from there makes better models of the interrupted ones.
    pub fn has_state_in(&self, dir: impl AsRef<Path>) -> bool {
        let training = self.training.as_ref();
        training.is_some_and(|training| trainings_in(dir.as_ref()).contains(training))
    }
}

impl fmt::Display for Interruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_model = |InterruptedModel { model, step, max_steps }: &InterruptedModel| {
            format!("step {step} of {max_steps} of {model}")
        };
        f.write_str(&self.models.iter().map(of_model).collect::<Vec<_>>().join(" and "))?;
        match &self.missing[..] {
            [] => Ok(()),
            missing => write!(f, ", before {}", missing.join(", ")),
        }
    }
}
