//! Forecasts over the history.

use foretell_data::{Frame, Panel};

use crate::error::Error;
use crate::forecaster::Fitted;

impl Fitted {
    /// Forecasts what is known already: `h` steps from a cutoff every `step_size` steps, the last forecast
    /// ending with the series, the first cutoff a row of it. Errors of forecasts of rows that
    /// a model was trained on say little about it: [`Forecaster::cross_validate`](crate::Forecaster::cross_validate) measures
    /// it on rows that it has not seen.
    ///
    /// The table has the columns `unique_id, ds, cutoff, y` (NaN where unknown) and those of the models.
    ///
    /// # Errors
    /// If the panel has another frequency or lacks a column that a model reads, `step_size` is 0, a series has fewer than
    /// `h + 1` rows, or it would take more memory than the limit.
    pub fn predict_insample(&self, panel: &Panel, step_size: usize) -> Result<Frame, Error> {
        self.forecast_history(panel, step_size, false)
    }

    /// [`Fitted::predict_insample`] with the forecast of the first `h` rows of a series too, if whole steps lead to it.
    /// It is made from padding alone, so it is about 0 wherever the series lies. neuralforecast has it.
    ///
    /// # Errors
    /// If the panel has another frequency or lacks a column that a model reads, `step_size` is 0, a series has fewer than
    /// `h` rows, or it would take more memory than the limit.
    pub fn predict_insample_from_padding(&self, panel: &Panel, step_size: usize) -> Result<Frame, Error> {
        self.forecast_history(panel, step_size, true)
    }

    fn forecast_history(&self, panel: &Panel, step_size: usize, from_padding: bool) -> Result<Frame, Error> {
        let frame = self.blocks_insample(panel, step_size, from_padding)?.whole()?;
        self.warn_of_unseen_categories_in(panel, usize::MAX, None)?;
        self.warn_of_non_finite(&frame.columns[1..]);
        Ok(frame)
    }
}
