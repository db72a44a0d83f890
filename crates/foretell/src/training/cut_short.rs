//! What holds of models whose training ended before all of them were trained.

use foretell_data::Panel;

use crate::ensemble::Combination;
use crate::error::Error;
use crate::trained_models::TrainedModels;
use crate::training::interruption::Interruption;
use crate::training::plan::TrainingPlan;
use crate::warning::Warning;

impl TrainingPlan {
    /// Trains on the panel without its last `test_size` steps, and calibrates intervals there. Where that was interrupted, what
    /// comes with the models is of those that are there.
    pub(crate) fn fit_before(
        &mut self,
        panel: &Panel,
        test_size: usize,
    ) -> Result<(TrainedModels, Option<Interruption>), Error> {
        let members = self.n_members();
        let (trained, interruption) = self.fit_all(panel, test_size)?;
        Ok((of_models_there(trained, members), interruption))
    }
}

/// The models, of which ensembles were to have this many `members`, with ensembles of those of them that are there and without what was
/// to be learnt of all.
fn of_models_there(mut trained: TrainedModels, members: usize) -> TrainedModels {
    let there = trained.models.len();
    // Members come first, and models are missing from the end on.
    trained.pipeline.settings.baselines = there.saturating_sub(members);
    let ensembles = std::mem::take(&mut trained.ensembles);
    let of_first = |ensemble: Combination| ensemble.of_first(members.min(there));
    trained.ensembles = ensembles.into_iter().filter_map(of_first).collect();
    if trained.pipeline.coherence.as_ref().is_some_and(|coherence| coherence.lacks_past()) {
        trained.pipeline.coherence = None;
        trained.warnings.warn(&Warning::NotLearnt { what: "the hierarchy" });
    }
    trained
}
