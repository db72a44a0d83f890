//! The contents of a directory in which the state of training is kept.

use std::path::Path;

use foretell_estimator::StateFile;
use foretell_neural::{NetworkError, StateError, StateSummary};
use serde::Serialize;

use crate::error::Error;
use crate::training::checkpointing::{PLACE, state_files};

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
        let StateSummary { training: settings, step, finished, train_loss, valid_loss } =
            StateSummary::read(path).map_err(NetworkError::from)?;
        let models = settings[StateFile::MODELS].as_object();
        let own = models.and_then(|models| models.iter().find(|(_, own)| own[PLACE] == model));
        let (name, own) = own.ok_or_else(|| {
            let reason = "it is not what foretell wrote".to_owned();
            NetworkError::from(StateError::State { path: path.to_owned(), reason })
        })?;
        let max_steps = own["max_steps"].as_u64();
        Ok(Self { model: name.clone(), training, step, max_steps, finished, train_loss, valid_loss })
    }
}
