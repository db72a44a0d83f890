//! Trained models in directories and as bytes.

use std::path::Path;

use foretell_calendar::Freq;
use foretell_checkpoint::ModelDirectory;
use foretell_estimator::MemoryLimit;

use crate::directory::inspect::Contents;
use crate::directory::saving::{checkpoint, from_bytes, from_files, load, save};
use crate::error::Error;
use crate::fitted::Fitted;

/// Directories.
impl Fitted {
    /// Writes the models to a directory that [`Fitted::load`] and `NeuralForecast.load` read. It appears
    /// whole or not at all; an existing model directory, with nothing else in it, is replaced only with `overwrite`. Models that
    /// neuralforecast does not have stand where it passes over them.
    ///
    /// # Errors
    /// If the directory exists and may not be replaced, cannot be written, or is being written by another process.
    pub fn save(&self, dir: impl AsRef<Path>, overwrite: bool) -> Result<(), Error> {
        self.save_at(&ModelDirectory::at(dir, overwrite)?)
    }

    /// Writes the models as [`Fitted::save`] does, to a place that was taken before: worth doing before a long
    /// training, since faults of the place are known then.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn save_at(&self, directory: &ModelDirectory) -> Result<(), Error> {
        save(&self.trained, self.interruption.as_ref(), directory)
    }

    /// Reads a directory that [`Fitted::save`] or `NeuralForecast.save` wrote, within [`MemoryLimit::of_machine`].
    ///
    /// # Errors
    /// Those of [`Fitted::load_within`].
    pub fn load(dir: impl AsRef<Path>) -> Result<Self, Error> {
        Self::load_within(dir, MemoryLimit::default())
    }

    /// Reads a directory that [`Fitted::save`] or `NeuralForecast.save` wrote, or a folder of a [pretrained network](crate::pretrained).
    /// Neither this nor a forecast takes more memory than `limit`.
    ///
    /// # Errors
    /// If it cannot be read, is larger than the limit, or holds a setting or a model that foretell does not have; models from
    /// outside must be registered first ([networks](crate::own_model::register), [others](crate::register_estimator)).
    pub fn load_within(dir: impl AsRef<Path>, limit: MemoryLimit) -> Result<Self, Error> {
        let (trained, interruption) = load(dir.as_ref(), limit)?;
        Ok(Self { trained, interruption })
    }

    /// The frequency that data must have: that of training, or none for [networks](crate::pretrained) from a folder.
    pub fn freq_of_data(&self) -> Option<Freq> {
        self.trained.freq_of_data()
    }
}

/// Bytes.
impl Fitted {
    /// What [`Fitted::save`] would write: settings, models and their tensors; of no bytes, as there is no file.
    ///
    /// # Errors
    /// If a model cannot be written.
    pub fn contents(&self) -> Result<Contents, Error> {
        Contents::of_checkpoint(checkpoint(&self.trained, self.interruption.as_ref()), 0, 0)
    }

    /// The bytes of the model in one piece with a checksum, with all that [`Fitted::save`] writes: for a database, a cache or
    /// another process.
    ///
    /// ```
    /// # use foretell::{Fitted, Forecaster, Freq, ModelSpec, Panel};
    /// # let panel = Panel::from_series(Freq::parse("D")?, [("a", 0, vec![1.0; 40])])?;
    /// # let fitted = Forecaster::new([ModelSpec::new("SeasonalNaive", 7, 14)?])?.fit(&panel)?;
    /// let bytes = fitted.to_bytes()?;
    /// let again = Fitted::from_bytes(&bytes)?;
    /// assert_eq!(again.predict(&panel, None)?.columns, fitted.predict(&panel, None)?.columns);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a model cannot be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        Ok(checkpoint(&self.trained, self.interruption.as_ref()).to_bytes()?)
    }

    /// Reads the bytes of [`Fitted::to_bytes`], within [`MemoryLimit::of_machine`].
    ///
    /// # Errors
    /// If the bytes are something else or were changed since, or hold a model that this program does not have.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let (trained, interruption) = from_bytes(bytes, MemoryLimit::default())?;
        Ok(Self { trained, interruption })
    }

    /// The files of the directory that [`Fitted::save`] would write, by their names: for an archive, or wherever there is no file system.
    ///
    /// # Errors
    /// If a model cannot be written.
    pub fn to_files(&self) -> Result<Vec<(String, Vec<u8>)>, Error> {
        Ok(checkpoint(&self.trained, self.interruption.as_ref()).to_files()?)
    }

    /// Reads the files of a directory, each with its name, as [`Fitted::load`] reads the directory.
    ///
    /// ```
    /// # use foretell::{Fitted, Forecaster, Freq, ModelSpec, Panel};
    /// # let panel = Panel::from_series(Freq::parse("D")?, [("a", 0, vec![1.0; 40])])?;
    /// # let fitted = Forecaster::new([ModelSpec::new("SeasonalNaive", 7, 14)?])?.fit(&panel)?;
    /// let files = fitted.to_files()?;
    /// let again = Fitted::from_files(files.iter().map(|(name, bytes)| (name.clone(), &bytes[..])))?;
    /// assert_eq!(again.predict(&panel, None)?.columns, fitted.predict(&panel, None)?.columns);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a file is missing or damaged, or holds a model that this program does not have.
    pub fn from_files<'f>(files: impl IntoIterator<Item = (String, &'f [u8])>) -> Result<Self, Error> {
        let (trained, interruption) = from_files(files, MemoryLimit::default())?;
        Ok(Self { trained, interruption })
    }
}
