//! What a cross-validation asks of a training plan beside the training: how far the models will forecast, and whether to go on.

use foretell_estimator::while_wanted;

use crate::columns::columns_given;
use crate::error::Error;
use crate::forecasts::further::check_history_ahead;
use crate::training::plan::TrainingPlan;
use crate::usage_error::UsageError;

impl TrainingPlan {
    /// Whether the models will forecast this many steps within a panel.
    pub(crate) fn check_steps(&self, h: usize) -> Result<(), Error> {
        let own = self.h();
        for (model, name) in self.models().into_iter().zip(self.column_names()) {
            if h > own {
                check_history_ahead(model, &name)?;
            }
            let ahead = columns_given([model], &self.pipeline.features);
            let ahead: Vec<&str> = model
                .columns_read()
                .futr
                .iter()
                .filter(|name| ahead.contains(name))
                .map(|name| &**name)
                .collect();
            if h < own && !ahead.is_empty() {
                let columns = ahead.join(", ");
                return Err(UsageError::FutureOfFewerSteps { model: name, h: own, columns, found: h }.into());
            }
        }
        Ok(())
    }

    /// Does work without steps of training, unless no one waits for it any more.
    pub(crate) fn while_wanted<R>(&self, work: impl FnOnce() -> R) -> R {
        match &self.wanted {
            Some(wanted) => while_wanted(wanted.clone(), work),
            None => work(),
        }
    }
}
