//! One training of a search: hyper-parameters, a share of their steps, and the score of the forecasts.

use std::sync::{Arc, PoisonError, RwLock};

use foretell::evaluate::{Metric, ScoreBy};
use foretell::{
    Error, Fitted, Forecaster, ModelSpec, Panel, UsageError, ValidationOptions, ValidationScores, Verdict,
    Workers,
};

use crate::search_space::SearchSpace;

/// Whether trainings are to end.
pub(crate) type Stop = Arc<dyn Fn() -> bool + Send + Sync>;

/// How trainings of a search run.
pub(crate) struct Trainer<'a> {
    pub(crate) panel: &'a Panel,
    pub(crate) configure: &'a (dyn Fn(Forecaster) -> Result<Forecaster, Error> + Send + Sync),
    pub(crate) windows: ValidationOptions<'static>,
    pub(crate) metric: Metric,
    pub(crate) season: usize,
    /// Threads of each training.
    pub(crate) threads: usize,
    /// Trainings side by side.
    pub(crate) at_a_time: usize,
    pub(crate) stop: Stop,
    /// Held to write by a training that needs all of the memory.
    pub(crate) memory: RwLock<()>,
}

/// A model after a part of its steps, from which a training of more steps goes on to the same weights as one of all.
pub(crate) struct Begun {
    steps: u64,
    fitted: Fitted,
}

/// Where and with how much of the machine a training runs.
struct Share {
    threads: usize,
    /// Trainings that share the memory.
    of_memory: u64,
}

impl Trainer<'_> {
    /// The score of a model with this share of its steps, and the model, if a training of more steps can go on from it; nothing if it
    /// was stopped. `before` is what an earlier training of fewer steps gave.
    pub(crate) fn score(
        &self,
        spec: &ModelSpec,
        budget: f64,
        before: Option<&Begun>,
    ) -> Result<Option<(f64, Option<Begun>)>, Error> {
        let all = spec.as_ref().needs().max_steps;
        let steps = all.map_or(0, |all| ((all as f64 * budget).ceil() as u64).max(1));
        // What was trained anew on the way has seen windows that a further training must not.
        let goes_on = budget < 1.0 && spec.as_ref().needs().goes_on_exactly && self.windows.refit == 0;
        let before = before.filter(|before| before.steps < steps);
        let left = steps - before.map_or(0, |before| before.steps);
        let spec = if all.is_some_and(|all| left < all) {
            spec.clone().set("max_steps", left)?
        } else {
            spec.clone()
        };
        let train = |share| self.validate(&spec, before, goes_on, share);
        let fits_beside = || {
            let _beside = self.memory.read().unwrap_or_else(PoisonError::into_inner);
            match train(Share { threads: self.threads, of_memory: self.at_a_time as u64 }) {
                Err(Error::Usage(UsageError::Memory(_))) => None,
                done => Some(done),
            }
        };
        let done = (self.at_a_time > 1).then(fits_beside).flatten();
        let done = done.unwrap_or_else(|| {
            // What does not fit beside others may fit alone: whether it does must not depend on how many there are.
            let _alone = self.memory.write().unwrap_or_else(PoisonError::into_inner);
            train(Share { threads: self.threads.saturating_mul(self.at_a_time), of_memory: 1 })
        });
        Ok(done?.map(|(score, fitted)| (score, goes_on.then_some(Begun { steps, fitted }))))
    }

    /// The score of the seasonal naive forecast in the same windows; nothing where it has none.
    pub(crate) fn baseline(&self, space: &SearchSpace) -> Option<f64> {
        let spec = ModelSpec::new("SeasonalNaive", space.spec().h(), 1).ok()?;
        let spec = spec.set("season_length", self.season).ok()?;
        let (score, _) = self.score(&spec, 1.0, None).ok()??;
        Some(score).filter(|score| !score.is_nan())
    }

    fn validate(
        &self,
        spec: &ModelSpec,
        before: Option<&Begun>,
        goes_on: bool,
        share: Share,
    ) -> Result<Option<(f64, Fitted)>, Error> {
        let mut forecaster = (self.configure)(Forecaster::new([spec.clone()])?)?;
        let stop = Arc::clone(&self.stop);
        let limit = forecaster.memory_limit();
        // All `Workers` of one number share their threads, but for those that are apart: trainings side by side would wait for each other.
        let workers =
            if share.of_memory > 1 { Workers::apart(share.threads) } else { Workers::new(share.threads)? };
        forecaster = forecaster
            .workers(&workers)
            .max_memory(limit / share.of_memory)
            .keep_optimizer(goes_on)
            .on_progress(move |_, _| if stop() { Verdict::Interrupt } else { Verdict::Continue });
        if let Some(before) = before {
            forecaster = forecaster.start_from(&before.fitted);
        }
        // Fifty trainings would say the same fifty times; the training of the winner says it. Nor does a trial need intervals that are
        // calibrated by a second training.
        let forecaster = forecaster.on_warning(|_| {}).without_intervals();
        let validation = match forecaster.cross_validate(self.panel, &self.windows) {
            Err(Error::NothingForecast { .. }) => return Ok(None),
            validation => validation?,
        };
        if validation.fitted.interrupted() {
            return Ok(None);
        }
        let options = ValidationScores::new(self.season);
        let table = validation.scores(self.panel, &[self.metric], ScoreBy::All, &options)?;
        // Metrics of quantiles and intervals have a column for each.
        let columns: Vec<f64> =
            table.metrics.iter().filter_map(|column| column.values.first()?.first().copied()).collect();
        // A model that is kept for further steps holds no threads.
        let fitted = validation.fitted.workers(&Workers::apart(1));
        Ok(Some((columns.iter().sum::<f64>() / columns.len() as f64, fitted)))
    }
}

#[cfg(test)]
mod tests {
    use foretell::Freq;

    use super::*;

    /// The score of so large a share of 27 steps, and what was trained; `before` is what is gone on from.
    fn score(settings: &[(&str, i64)], budget: f64, before: Option<&Begun>) -> (f64, Option<Begun>) {
        let wave: Vec<f32> =
            (0..90).map(|day| (day as f32 * 0.9).sin() + (day * 7 % 5) as f32 * 0.1).collect();
        let panel = Panel::from_series(Freq::parse("D").unwrap(), [("a", 0, wave)]).unwrap();
        let spec =
            ModelSpec::new("MLP", 3, 9).unwrap().set("hidden_size", 8).unwrap().set("max_steps", 27).unwrap();
        let spec = settings.iter().fold(spec, |spec, (name, value)| spec.set(name, *value).unwrap());
        let trainer = Trainer {
            panel: &panel,
            configure: &Ok,
            windows: ValidationOptions::new(2, 3),
            metric: Metric::parse("mae").unwrap(),
            season: 7,
            threads: 1,
            at_a_time: 1,
            stop: Arc::new(|| false),
            memory: RwLock::new(()),
        };
        trainer.score(&spec, budget, before).unwrap().unwrap()
    }

    #[test]
    fn a_trial_that_goes_on_takes_the_steps_that_are_left_and_ends_as_one_training() {
        let settings = [("num_lr_decays", -1)];
        let (whole, none) = score(&settings, 1.0, None);
        let (_, first) = score(&settings, 1.0 / 9.0, None);
        let (_, second) = score(&settings, 1.0 / 3.0, first.as_ref());
        let steps = |begun: &Begun| begun.fitted.models()[0].outcome().map(|outcome| outcome.steps);
        assert!(none.is_none());
        assert_eq!((first.as_ref().map(steps), second.as_ref().map(steps)), (Some(Some(3)), Some(Some(6))));
        let (last, none) = score(&settings, 1.0, second.as_ref());
        assert_eq!((last.to_bits(), none.is_none()), (whole.to_bits(), true));
        // A share of no further step is trained anew.
        assert_eq!(score(&settings, 1.0 / 9.0, first.as_ref()).0, score(&settings, 1.0 / 9.0, None).0);
    }

    #[test]
    fn trials_whose_steps_depend_on_their_number_begin_anew() {
        assert!(score(&[("num_lr_decays", 3)], 1.0 / 3.0, None).1.is_none());
    }
}
