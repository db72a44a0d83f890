//! What is known of a forecast before it is made: the series that models forecast in another way than their hyper-parameters say,
//! and the steps whose future is read.

use std::sync::Arc;

use foretell_data::Panel;

use crate::coherence::Coherence;
use crate::error::Error;
use crate::fallbacks::{check_fallbacks, fallbacks, fallbacks_of};
use crate::fitted::Fitted;
use crate::forecaster::Forecaster;
use crate::reconciliation_error::ReconciliationError;
use crate::series_fallback::SeriesFallback;
use crate::warning::Warning;

impl Forecaster {
    /// The series of a panel that models will forecast in another way than their hyper-parameters say, as by their last value; the
    /// fit warns of them.
    pub fn fallbacks(&self, panel: &Panel) -> Vec<SeriesFallback> {
        let panel = &self.plan.held(panel);
        fallbacks(self.plan.models().into_iter().zip(self.plan.column_names()), panel)
    }

    /// Leaves those series at the bottom out of the hierarchy that the panel has no rows of, with a warning, and sums that are of no
    /// others.
    ///
    /// # Errors
    /// If the panel has none of the series.
    pub fn leave_out_absent(&mut self, panel: &Panel) -> Result<(), Error> {
        let Some(coherence) = &self.plan.pipeline.coherence else { return Ok(()) };
        let absent = |id: &str| panel.find(id).is_none();
        let bottom = coherence.hierarchy.bottom_ids();
        let series: Vec<String> = bottom.iter().filter(|id| absent(id)).map(|id| id.to_string()).collect();
        if series.is_empty() {
            return Ok(());
        }
        let none = || ReconciliationError::NotInData { id: series[0].clone() };
        let hierarchy = coherence.hierarchy.among(|id| !absent(id)).ok_or_else(none)?;
        let made = if coherence.is_default { Coherence::by_default } else { Coherence::of_training };
        self.plan.pipeline.coherence = Some(Arc::new(made(hierarchy, coherence.method)?));
        self.plan.warnings.warn(&Warning::NotInData { series });
        Ok(())
    }

    /// Refuses a panel with such series.
    ///
    /// # Errors
    /// [`Error::Fallback`] with the first of them.
    pub fn check_fallbacks(&self, panel: &Panel) -> Result<(), Error> {
        let panel = &self.plan.held(panel);
        check_fallbacks(self.plan.models().into_iter().zip(self.plan.column_names()), panel)
    }
}

impl Fitted {
    /// The series of a panel that models forecast in another way than their hyper-parameters say, as by their last value; forecasts
    /// warn of them.
    pub fn fallbacks(&self, panel: &Panel) -> Vec<SeriesFallback> {
        let models = self.trained.named().map(|(model, name)| (model.trained(), name));
        fallbacks_of(models, &self.trained.held(panel))
    }

    /// The steps of which a forecast of `h` steps reads the columns that are known in advance: as many, where each model forecasts any
    /// number of steps, else the models' own horizon if that is longer.
    pub fn steps_read(&self, h: usize) -> usize {
        self.trained.steps_forecast(h)
    }
}
