//! The trials of a search so far.

use std::collections::BTreeMap;
use std::time::Duration;

use foretell_search::{Point, Study, Task, Trial};

use crate::error::TuningError;
use crate::job::Begun;
use crate::search_space::SearchSpace;
use crate::search_state::{RungResult, SearchState};
use crate::search_trial::{SearchProgress, SearchTrial};
use crate::tuned::Tuned;

/// The trials so far.
pub(crate) struct Board<'b> {
    pub(crate) spaces: &'b [SearchSpace],
    pub(crate) study: &'b Study,
    pub(crate) state: SearchState,
    pub(crate) points: Vec<Point>,
    pub(crate) trials: Vec<SearchTrial>,
    /// What was trained of trials that may go on. What is not here is trained anew, to the same score.
    pub(crate) begun: BTreeMap<usize, Begun>,
    pub(crate) listener: &'b mut (dyn FnMut(&SearchProgress<'_>) + Send),
    pub(crate) at_a_time: usize,
    /// Trials of the whole search: those that are asked for, or as many as there are settings.
    pub(crate) most: usize,
}

impl Board<'_> {
    /// The trials as the study sees them.
    pub(crate) fn scored(&self) -> Vec<Trial> {
        let scores =
            |trial: &SearchTrial| trial.scores.iter().map(|score| score.unwrap_or(f64::NAN)).collect();
        let of_trial =
            |(point, trial): (&Point, &SearchTrial)| Trial { point: point.clone(), scores: scores(trial) };
        self.points.iter().zip(&self.trials).map(of_trial).collect()
    }

    /// The trial of a task, which is a new one if the task begins it.
    pub(crate) fn begin(&mut self, task: Task) -> usize {
        let point = match task {
            Task::GoOn(trial) => return trial,
            Task::Begin(point) => point,
        };
        let (space, trial) = (&self.spaces[point.space], self.trials.len());
        self.trials.push(SearchTrial {
            trial,
            model: space.spec().alias().to_owned(),
            space: point.space,
            hyper_parameters: space.hyper_parameters(&point.values),
            scores: Vec::new(),
            seconds: 0.0,
            failure: None,
        });
        self.points.push(point);
        trial
    }

    /// Keeps what was trained of a trial, and of each rung no more than a round's best: memory does not grow with the trials.
    pub(crate) fn keep(&mut self, trial: usize, begun: Begun) {
        self.begun.insert(trial, begun);
        let most = self.study.round.max(1);
        let trials = &self.trials;
        let rung = |trial: usize| trials[trial].scores.len();
        let better = |a: usize, b: usize| trials[a].score() < trials[b].score();
        let kept: Vec<usize> = self.begun.keys().copied().collect();
        self.begun.retain(|&own, _| {
            kept.iter().filter(|&&other| rung(other) == rung(own) && better(other, own)).count() < most
        });
    }

    /// Enters a result and tells of it.
    pub(crate) fn enter(&mut self, result: &RungResult) {
        let (trial, space) = (&mut self.trials[result.trial], self.points[result.trial].space);
        // A model that needs no steps has the same score with any share of them.
        let takes_steps = self.spaces[space].spec().as_ref().needs().max_steps.is_some();
        let rungs = if takes_steps { 1 } else { self.study.halving.rungs.max(1) };
        trial.scores.extend(std::iter::repeat_n(result.score, rungs));
        trial.seconds += result.seconds;
        trial.failure.clone_from(&result.failure);
        let scored = self.scored();
        let best = self.study.best(&scored).map(|best| (scored[best].score(), best));
        let progress = SearchProgress {
            trial: &self.trials[result.trial],
            best,
            done: self.trials.iter().filter(|trial| !trial.scores.is_empty()).count(),
            trials: self.most,
            left: self.left(),
        };
        (self.listener)(&progress);
    }

    /// How long the trials that are not done will take.
    fn left(&self) -> Duration {
        let done = self.trials.iter().filter(|trial| !trial.scores.is_empty());
        let seconds: Vec<f64> = done.map(|trial| trial.seconds).collect();
        let mean = seconds.iter().sum::<f64>() / seconds.len().max(1) as f64;
        let left = self.most.saturating_sub(seconds.len()) as f64;
        Duration::try_from_secs_f64(mean * left / self.at_a_time as f64).unwrap_or(Duration::MAX)
    }

    pub(crate) fn tuned(
        mut self,
        interrupted: bool,
        complete: bool,
        baseline: Option<f64>,
    ) -> Result<Tuned, TuningError> {
        let with_spec = |trial: usize| {
            let Point { space, values } = &self.points[trial];
            Ok((trial, self.spaces[*space].at(values)?))
        };
        let order = self.study.order(&self.scored());
        let ranked = order.into_iter().map(with_spec).collect::<Result<Vec<_>, TuningError>>()?;
        self.trials.retain(|trial| !trial.scores.is_empty());
        if ranked.is_empty() && !interrupted {
            let first = self.trials.iter().find_map(|trial| trial.failure.clone());
            return Err(TuningError::NothingScored { first });
        }
        let trials = self.trials;
        Ok(Tuned { trials, interrupted, complete, baseline, kept: None, fewer_windows: None, ranked })
    }
}
