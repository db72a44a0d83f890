//! Forecasts over the history.

use foretell_data::{Frame, Panel, Span};

use crate::error::Error;
use crate::forecaster::Fitted;

impl Fitted {
    /// Forecasts what is known already: `h` steps from a cutoff every `step_size` steps, the last forecast
    /// ending with the series, the first cutoff before its first rows, where a model sees nothing. What the models
    /// were trained on is no test of them: for that there is
    /// [`Forecaster::cross_validate`](crate::Forecaster::cross_validate).
    ///
    /// The table has the columns `unique_id, ds, cutoff, y` (NaN where unknown) and those of the models.
    ///
    /// # Errors
    /// As [`Fitted::predict`]; if `step_size` is 0, or a series has fewer than `h` rows.
    pub fn predict_insample(&self, panel: &Panel, step_size: usize) -> Result<Frame, Error> {
        self.check_frequency(panel)?;
        let h = self.h();
        if let Some(short) = (0..panel.n_series()).find(|&series| panel.len(series) < h) {
            return Err(Error::ShortForInsample {
                id: panel.id(short).to_string(),
                rows: panel.len(short),
                h,
            });
        }
        let scaled = self.seen(panel, 0)?;
        let told =
            self.tell(panel, &scaled, &[], self.spanning(&scaled.panel, Span::Insample { step_size }))?;
        Ok(self.table(panel, told)?.0)
    }
}
