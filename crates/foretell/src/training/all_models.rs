//! One training of all models, side by side.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use foretell_data::{Panel, Vocabulary};
use foretell_estimator::{
    Estimator, EstimatorError, HeldOut, Progress, Reduction, Run, StateFile, StepSettings, StillWanted,
    Trained, Verdict, Workers, is_wanted, while_wanted,
};

use crate::memory::fills_threads;
use crate::training::agreement::agree;
use crate::training::divergence::LossTrend;
use crate::training::start::StartingPoint;

/// Called after each step of training with the name of the model's column and the state after the step.
pub(crate) type ModelListener = dyn FnMut(&str, &Progress) -> Verdict + Send;

/// A trained model, and how its loss went.
type FollowedModel = (Arc<dyn Trained>, LossTrend);

/// The models and what their trainings share.
pub(super) struct AllModels<'a> {
    pub(super) models: &'a [&'a dyn Estimator],
    /// Of their columns.
    pub(super) names: &'a [String],
    pub(super) panel: &'a Panel,
    pub(super) held_out: HeldOut,
    pub(super) vocabulary: &'a Vocabulary,
    pub(super) workers: &'a Workers,
    /// One a model, where states are kept.
    pub(super) state_files: Option<&'a [StateFile]>,
    pub(super) reduction: &'a dyn Reduction,
    pub(super) start: &'a StartingPoint,
    /// How steps are computed.
    pub(super) step: StepSettings,
    /// Asked by models whose training has no steps.
    pub(super) wanted: Option<&'a StillWanted>,
}

impl AllModels<'_> {
    /// The trained models, in their order, as far as training came, and whether it was stopped: by the listener, as no one waits for
    /// it, or by an error of a model.
    pub(super) fn train(
        &self,
        listener: &mut ModelListener,
    ) -> Result<(Vec<FollowedModel>, bool), EstimatorError> {
        let (listener, lock, stop) = (Mutex::new(listener), RwLock::new(()), AtomicBool::new(false));
        // Several processes make the same calls in the same order: one model after the other.
        let at_a_time = if self.reduction.processes() > 1 { 1 } else { self.workers.threads() };
        let trained = Workers::side_by_side(self.models.len(), at_a_time, &stop, |i| {
            let name = &self.names[i];
            if let Some(unchanged) = self.start.unchanged(name) {
                return Some(Ok((unchanged.shared(), LossTrend::default())));
            }
            let mut trend = LossTrend::default();
            let mut listen = |progress: &Progress| {
                trend.push(progress);
                let mut listener = listener.lock().unwrap_or_else(PoisonError::into_inner);
                let verdict = agree(self.reduction, listener(name, progress));
                match stop.fetch_or(verdict == Verdict::Interrupt, Relaxed) {
                    true => Verdict::Interrupt,
                    false => verdict,
                }
            };
            let run = Run {
                workers: self.workers,
                vocabulary: self.vocabulary,
                listen: &mut listen,
                state: self.state_files.map(|files| &files[i]),
                reduction: self.reduction,
                start: self.start.of(name),
                step: self.step,
            };
            let fit = || fit_beside_others(self.models[i], &lock, self.panel, self.held_out, run);
            let trained = match self.wanted {
                // The listener ends a training of steps, whose weights are kept; of another nothing is left that is of use.
                Some(wanted) if self.models[i].needs().max_steps.is_none() => {
                    while_wanted(wanted.clone(), || Some(fit()).filter(|_| is_wanted()))
                }
                _ => Some(fit()),
            };
            stop.fetch_or(!matches!(trained, Some(Ok(_))), Relaxed);
            trained.map(|trained| trained.map(|trained| (Arc::from(trained), trend)))
        });
        // Those behind one that was given up may be there: what is kept was trained in its order.
        let trained = trained.into_iter().map_while(|trained| trained);
        Ok((trained.collect::<Result<_, _>>()?, stop.into_inner()))
    }
}

/// Trains a model, alone if that keeps all threads at work, else beside others of its kind.
fn fit_beside_others(
    model: &dyn Estimator,
    lock: &RwLock<()>,
    panel: &Panel,
    held_out: HeldOut,
    run: Run<'_>,
) -> Result<Box<dyn Trained>, EstimatorError> {
    let alone = fills_threads(model, panel, run.workers.threads());
    let _alone = alone.then(|| lock.write().unwrap_or_else(PoisonError::into_inner));
    let _beside = (!alone).then(|| lock.read().unwrap_or_else(PoisonError::into_inner));
    model.fit(panel, held_out, run)
}
