//! Forecasters from models that PyTorch wrote.

use std::path::Path;

use crate::directory::import::{ImportOptions, import};
use crate::error::Error;
use crate::fitted::Fitted;

/// A forecaster of imported models.
#[derive(Debug)]
pub struct Imported {
    /// The models, to forecast with or to save.
    pub fitted: Fitted,
    /// The parts of the files that were left out, and their effect, in words.
    pub left_out: Vec<String>,
}

impl Fitted {
    /// Reads models that PyTorch wrote: a checkpoint of PyTorch Lightning's (`.ckpt`), a state dictionary (`.pt`), or a
    /// directory that `NeuralForecast.save` of version 3.2 or older wrote. Nothing in the files is executed. [`Fitted::save`]
    /// saves the imported forecaster, and neuralforecast 3.3 reads the directory.
    ///
    /// # Errors
    /// If a file cannot be read, or needs Python; if `options` lack what it does not say; if its tensors are not those of the
    /// class with the hyper-parameters, with the names and shapes of those that are missing, too much or different.
    pub fn import(from: impl AsRef<Path>, options: &ImportOptions) -> Result<Imported, Error> {
        let (trained, left_out) = import(from.as_ref(), options)?;
        Ok(Imported { fitted: Self::of(trained, None), left_out })
    }
}
