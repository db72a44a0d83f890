//! Trainings of one plan on several parts of a panel, side by side.

use std::sync::Arc;

use foretell_data::{Panel, Vocabulary};
use foretell_estimator::{Estimator, HeldOut, TrainingSize, Workers};

use crate::error::Error;
use crate::inputs::categories::vocabulary;
use crate::inputs::features::with_features;
use crate::memory::{TrainingWork, bytes_of_training};
use crate::model_spec::ModelSpec;
use crate::training::plan::TrainingPlan;
use crate::training::turns::Turns;

impl TrainingPlan {
    /// How many of `count` trainings, the largest of which is on this panel, are to run at a time: as many as take the least time, if
    /// their memory allows it. One, where a single training keeps all threads at work, keeps its state on disk, or is that of several
    /// processes, which make the same calls in the same order.
    pub(crate) fn trainings_at_a_time(&self, panel: &Panel, count: usize) -> usize {
        let threads = self.workers.as_ref().map_or(1, Workers::threads);
        let mut jobs = 0_usize;
        for (model, name) in self.models().into_iter().zip(self.column_names()) {
            let needs = model.needs();
            let is_one = needs.max_steps.is_some() || needs.is_joint;
            match self.start.unchanged(&name) {
                Some(_) => {}
                None if is_one && needs.takes_all_threads => return 1,
                // Of others each series is a job by itself, which one thread does.
                None => jobs += if is_one { 1 } else { panel.n_series() },
            }
        }
        if count < 2 || threads < 2 || self.checkpointing.is_some() || self.reduction.processes() > 1 {
            return 1;
        }
        let fits = |&at_a_time: &usize| {
            // Whether a single one fits is told by itself.
            let bytes = self.bytes_to_train(panel, threads / at_a_time);
            at_a_time == 1 || bytes.is_ok_and(|bytes| bytes <= self.memory.bytes() / at_a_time as u64)
        };
        Workers::at_a_time(count, jobs, threads).into_iter().find(fits).unwrap_or(1)
    }

    /// The plan of the training of this number.
    pub(crate) fn in_turn(&self, turns: &Arc<Turns>, number: usize) -> Self {
        Self {
            specs: self.specs.clone(),
            val_size: self.val_size,
            validation: self.validation.clone(),
            workers: self.workers.clone(),
            pipeline: self.pipeline.clone(),
            intervals: self.intervals,
            ensembles: self.ensembles.clone(),
            listener: turns.listener(number),
            warnings: turns.warnings(number),
            checkpointing: None,
            memory: self.memory.clone(),
            step: self.step,
            restore_best: self.restore_best,
            keep_optimizer: self.keep_optimizer,
            reduction: self.reduction.clone(),
            start: self.start.clone(),
            wanted: self.wanted.clone().map(|wanted| turns.question(number, Some(wanted))),
            trainings: self.trainings,
        }
    }

    /// The categories that models know which are trained on this panel.
    pub(super) fn vocabulary(&self, models: &[&dyn Estimator], panel: &Panel) -> Result<Vocabulary, Error> {
        self.start.vocabulary().map_or_else(|| vocabulary(models, panel), |known| Ok(known.clone()))
    }

    /// Those of the models that do not stay unchanged.
    pub(super) fn models_to_train<'m>(&self, models: &[&'m dyn Estimator]) -> Vec<&'m dyn Estimator> {
        let named = models.iter().zip(self.column_names());
        named.filter(|(_, name)| self.start.unchanged(name).is_none()).map(|(model, _)| *model).collect()
    }

    /// A training of these models, whose memory is to be known.
    pub(super) fn work<'w>(
        &'w self,
        models: &'w [&'w dyn Estimator],
        (panel, held_out): (&'w Panel, HeldOut),
        vocabulary: &'w Vocabulary,
        threads: usize,
    ) -> TrainingWork<'w> {
        let size = TrainingSize {
            panel,
            held_out,
            vocabulary,
            threads,
            is_kept: self.checkpointing.is_some(),
            is_pruned: self.start.sparsity.is_some(),
            step: self.step,
            limit: &self.memory,
        };
        TrainingWork { models, size, scales_series: self.pipeline.local_scalers.series.is_some() }
    }

    /// The most bytes that a training on the panel takes with this many threads.
    fn bytes_to_train(&self, panel: &Panel, threads: usize) -> Result<u64, Error> {
        let specs = self.specs_as_trained();
        let models: Vec<&dyn Estimator> = specs.iter().map(ModelSpec::as_ref).collect();
        let panel = &*with_features(panel, &self.pipeline.features, &self.workers.clone()?)?;
        let vocabulary = self.vocabulary(&models, panel)?;
        let held_out = HeldOut { validation: self.val_rows(), test: 0 };
        let to_train = self.models_to_train(&models);
        bytes_of_training(&self.work(&to_train, (panel, held_out), &vocabulary, threads))
    }
}

#[cfg(test)]
mod tests {
    use foretell_calendar::Freq;
    use foretell_estimator::MemoryLimit;

    use super::*;

    /// How many of ten trainings run at a time, on five threads.
    fn at_a_time(
        model: &str,
        windows: Option<usize>,
        series: usize,
        count: usize,
        bytes: Option<u64>,
    ) -> usize {
        let mut spec = ModelSpec::new(model, 3, 6).unwrap();
        if let Some(windows) = windows {
            spec = spec.set("windows_batch_size", windows).unwrap();
        }
        let series = (0..series).map(|s| (format!("{s}"), 0, vec![s as f32; 50]));
        let panel = Panel::from_series(Freq::parse("D").unwrap(), series).unwrap();
        let mut plan = TrainingPlan::new(vec![spec]).unwrap();
        plan.workers = Workers::new(5);
        if let Some(bytes) = bytes {
            plan.memory = MemoryLimit::of_bytes(bytes);
        }
        plan.trainings_at_a_time(&panel, count)
    }

    #[test]
    fn as_many_run_at_a_time_as_would_leave_threads_idle() {
        assert_eq!(at_a_time("AutoETS", None, 1, 10, None), 5);
        assert_eq!(at_a_time("AutoETS", None, 1, 3, None), 3);
        assert_eq!(at_a_time("AutoETS", None, 1, 1, None), 1);
        assert_eq!(at_a_time("AutoETS", None, 5, 3, None), 1);
        // Two rounds: as many as four at a time take, with half of the memory.
        assert_eq!(at_a_time("AutoETS", None, 2, 4, None), 2);
        assert_eq!(at_a_time("MLP", Some(8), 1, 10, None), 5);
        assert_eq!(at_a_time("MLP", Some(1024), 1, 10, None), 1, "its shards keep all threads at work");
    }

    #[test]
    fn memory_bounds_how_many_run_at_a_time() {
        let numbers = [1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28]
            .map(|bytes| at_a_time("MLP", Some(8), 1, 10, Some(bytes)));
        assert!(numbers.is_sorted() && (numbers[0], numbers[4]) == (1, 5), "{numbers:?}");
        assert!(numbers.iter().any(|number| (2..5).contains(number)), "{numbers:?}");
    }
}
