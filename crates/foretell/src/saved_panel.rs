//! Model directories with the panel of the training in them.

use std::path::Path;

use foretell_checkpoint::ModelDirectory;
use foretell_data::Panel;
use foretell_estimator::MemoryLimit;

use crate::directory::saving::{load_with_panel, save_with_panel};
use crate::error::Error;
use crate::fitted::Fitted;

impl Fitted {
    /// Writes the models as [`Fitted::save`], and the panel beside them: `NeuralForecast.load` then forecasts it without any data,
    /// as does [`Fitted::load_with_panel`]. Of its columns those are kept that the models read.
    ///
    /// ```
    /// # use foretell::{Fitted, Forecaster, Freq, ModelSpec, Panel};
    /// # let panel = Panel::from_series(Freq::parse("D")?, [("a", 0, (0..40).map(|day| day as f32).collect::<Vec<_>>())])?;
    /// # let fitted = Forecaster::new([ModelSpec::new("NLinear", 7, 14)?.set("max_steps", 2)?])?.fit(&panel)?;
    /// # let dir = std::env::temp_dir().join(format!("foretell-panel-{}", std::process::id()));
    /// fitted.save_with_panel(&panel, &dir, true)?;
    /// let (again, stored) = Fitted::load_with_panel(&dir)?;
    /// let stored = stored.expect("it was saved");
    /// assert_eq!(again.predict(&stored, None)?.columns, fitted.predict(&panel, None)?.columns);
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Fitted::save`], or if the panel lacks a column that a model reads.
    pub fn save_with_panel(
        &self,
        panel: &Panel,
        dir: impl AsRef<Path>,
        overwrite: bool,
    ) -> Result<(), Error> {
        let directory = ModelDirectory::at(dir, overwrite)?;
        save_with_panel(&self.trained, self.interruption(), panel, &directory)
    }

    /// Reads a directory as [`Fitted::load`], and the panel in it, on the scale of the data, if it has one. neuralforecast writes it
    /// unless `save_dataset` is false.
    ///
    /// # Errors
    /// Those of [`Fitted::load`], or if the panel cannot be read.
    pub fn load_with_panel(dir: impl AsRef<Path>) -> Result<(Self, Option<Panel>), Error> {
        let (trained, interruption, panel) = load_with_panel(dir.as_ref(), MemoryLimit::default())?;
        Ok((Self::of(trained, interruption), panel))
    }
}
