//! Which models a cross-validation fits anew on the way, and which it trains once.

use crate::forecaster::Forecaster;
use crate::scores::cross_validation::ValidationOptions;
use crate::training::plan::TrainingPlan;

impl Forecaster {
    /// The names of the models that a cross-validation fits anew on the way, and of those that it trains once; without those that learn
    /// nothing, as Naive.
    pub fn refitted(&self, options: &ValidationOptions<'_>) -> (Vec<String>, Vec<String>) {
        let refitted = match options.refit {
            0 => self.plan.refitted(options),
            _ => vec![options.n_windows > 1; self.plan.models().len()],
        };
        let models = self.plan.models();
        let learns = |place: usize| {
            models[place].needs().max_steps.is_some() || models[place].needs().learns_without_steps
        };
        let named = self.plan.column_names().into_iter().zip(refitted).enumerate();
        let named = named.filter(|(place, _)| learns(*place)).map(|(_, named)| named);
        let (anew, once): (Vec<_>, Vec<_>) = named.partition(|(_, refitted)| *refitted);
        let names = |models: Vec<(String, bool)>| models.into_iter().map(|(name, _)| name).collect();
        (names(anew), names(once))
    }
}

impl TrainingPlan {
    /// Of each model whether it is fitted anew for each window though no one asked for that: it needs no steps of training, and
    /// learns from more than the rows that a forecast reads. None is where that would be of no use.
    pub(super) fn refitted(&self, options: &ValidationOptions<'_>) -> Vec<bool> {
        let models = self.models();
        let without_steps: Vec<bool> = models.iter().map(|model| model.needs().max_steps.is_none()).collect();
        let is_asked = options.refit_without_steps && options.n_windows > 1 && !self.start.untrained;
        // What is calibrated or weighed on earlier forecasts needs all models to be trained for these.
        let is_whole = without_steps.iter().all(|without| *without) || self.windows_of_end().is_none();
        match is_asked && is_whole && models.iter().any(|model| model.needs().learns_without_steps) {
            true => without_steps,
            false => vec![false; models.len()],
        }
    }
}
