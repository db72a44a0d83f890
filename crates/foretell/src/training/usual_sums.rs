//! How forecasts of a hierarchy add up, where no method was named.

use std::sync::Arc;

use foretell_data::Panel;
use foretell_hierarchy::Reconciliation;

use crate::error::Error;
use crate::training::plan::{TrainingPlan, WINDOWS_OF_ERRORS, horizons};

impl TrainingPlan {
    /// Decides how forecasts add up, where no method was named: by variances of errors if these cost little, and every series has some.
    pub(super) fn settle_sums(&mut self, known: &Panel) -> Result<(), Error> {
        let Some(coherence) = self.pipeline.coherence.as_ref().filter(|coherence| coherence.is_default)
        else {
            return Ok(());
        };
        let others = self.windows_learnt_of();
        let windows = others.unwrap_or_else(|| horizons(WINDOWS_OF_ERRORS, self.h()));
        let is_cheap =
            others.is_some() || self.models().iter().all(|model| model.needs().max_steps.is_none());
        let input = self.models().into_iter().map(|model| model.needs().rows_needed).max().unwrap_or(1);
        let needed = windows.test_size(self.h()).saturating_add(self.val_rows()).saturating_add(input);
        let method = Reconciliation::usual(is_cheap && known.min_len() >= needed);
        self.pipeline.coherence = Some(Arc::new(coherence.by_method(method)?));
        Ok(())
    }
}
