//! What a directory holds in which the state of training is kept.

use std::path::Path;

use foretell_checkpoint::{TensorFile, TensorValues};
use serde::Serialize;
use serde_json::Value;

use crate::error::Error;
use crate::resume::{MODELS, PLACE, TRAIN_LOSS, VALID_LOSSES, state_files};

/// How far the training of a model is, as [`Forecaster::checkpoint_to`](crate::Forecaster::checkpoint_to) keeps it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelState {
    /// The model's column.
    pub model: String,
    /// Which of the trainings of the run it is, from 0: intervals and refitting take several.
    pub training: usize,
    /// Steps that are done.
    pub step: u64,
    /// Steps that are to be done.
    pub max_steps: Option<u64>,
    /// Whether nothing is left to be done.
    pub finished: bool,
    /// The loss of the last step.
    pub train_loss: Option<f64>,
    /// The loss of the last check on the validation windows.
    pub valid_loss: Option<f64>,
}

impl ModelState {
    /// The states that a directory holds, by training and model; none if it is no such directory.
    ///
    /// # Errors
    /// If a state cannot be read.
    pub fn all_in(dir: impl AsRef<Path>) -> Result<Vec<Self>, Error> {
        let mut files = state_files(dir.as_ref());
        files.sort_unstable();
        files.into_iter().map(|(training, model, path)| Self::read(training, model, &path)).collect()
    }

    fn read(training: usize, model: usize, path: &Path) -> Result<Self, Error> {
        let TensorFile { metadata, tensors } = TensorFile::read(path)?;
        let damaged =
            || Error::State { path: path.to_owned(), reason: "it is not what foretell wrote".to_owned() };
        let entry = |name: &str| {
            let value = metadata.get(name).and_then(|text| serde_json::from_str::<Value>(text).ok());
            value.ok_or_else(damaged)
        };
        let settings = entry("training")?;
        let models = settings[MODELS].as_object().ok_or_else(damaged)?;
        let (name, own) = models.iter().find(|(_, own)| own[PLACE] == model).ok_or_else(damaged)?;
        let last = |name: &str| match tensors.get(name)?.values() {
            TensorValues::F64(losses) => losses.last().copied(),
            _ => None,
        };
        Ok(Self {
            model: name.clone(),
            training,
            step: entry("step")?.as_u64().ok_or_else(damaged)?,
            max_steps: own["max_steps"].as_u64(),
            finished: entry("finished")?.as_bool().ok_or_else(damaged)?,
            train_loss: last(TRAIN_LOSS),
            valid_loss: last(VALID_LOSSES),
        })
    }
}
