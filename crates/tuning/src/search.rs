//! The search for the hyper-parameters that forecast the past best.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use foretell::evaluate::{Metric, RowScore, Scale};
use foretell::own_estimator::{Estimator, Moment};
use foretell::{Error, Forecaster, Panel, PlanError, ValidationOptions, Warning, Workers, usual_season};
use foretell_search::{Halving, Point, Sampler, Study};
use serde_json::{Value, json};

use crate::board::Board;
use crate::error::TuningError;
use crate::job::{Stop, Trainer};
use crate::search_space::SearchSpace;
use crate::search_state::{RungResult, SearchState};
use crate::search_trial::SearchProgress;
use crate::tuned::{KeptScore, Tuned};

/// Changes the settings of the forecaster of each trial.
type Configure<'a> = Box<dyn Fn(Forecaster) -> Result<Forecaster, Error> + Send + Sync + 'a>;

/// A search for the model and the hyper-parameters with the least error in a cross-validation.
///
/// Hyper-parameters are proposed in rounds, whose trials learn from all rounds before and not from each other. So the result does
/// not depend on the number of threads, on which trials run side by side.
///
/// ```
/// use foretell::{Forecaster, Freq, ModelSpec, Panel};
/// use foretell_tuning::{Search, SearchSpace};
///
/// let wave = (0..200).map(|day| (day as f32 * 0.9).sin()).collect::<Vec<_>>();
/// let panel = Panel::from_series(Freq::parse("D")?, [("a", 0, wave)])?;
///
/// let spec = ModelSpec::new("NLinear", 7, 21)?;
/// let space = SearchSpace::new(spec)
///     .search("max_steps", "quniform:20:60:20".parse()?)?
///     .search("learning_rate", "loguniform:1e-4:1e-1".parse()?)?;
/// let found = Search::new([space]).trials(6).n_windows(2, 7).run(&panel)?;
/// let best = found.best_spec().expect("a trial was scored").clone();
/// let forecast = Forecaster::new([best])?.fit(&panel)?.predict(&panel, None)?;
/// assert_eq!(forecast.n_rows(), 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Search<'a> {
    spaces: Vec<SearchSpace>,
    study: Study,
    windows: ValidationOptions<'static>,
    metric: Metric,
    season: Option<usize>,
    keeps_window: bool,
    threads: usize,
    time: Option<Duration>,
    dir: Option<PathBuf>,
    configure: Configure<'a>,
    listener: Box<dyn FnMut(&SearchProgress<'_>) + Send + 'a>,
    interrupt: Stop,
}

impl<'a> Search<'a> {
    /// A search of these models and spaces: 10 trials, first the models unchanged, then what tree-structured Parzen estimators
    /// propose, 4 a round, scored by the mean absolute error of one forecast of each series' end.
    pub fn new(spaces: impl IntoIterator<Item = SearchSpace>) -> Self {
        let spaces: Vec<SearchSpace> = spaces.into_iter().collect();
        let h = spaces.first().map_or(1, |space| space.spec().h());
        let mut study = Study::new(spaces.iter().map(SearchSpace::domains).collect(), Sampler::Tpe, 10);
        study.begins_as_given = true;
        Self {
            study,
            spaces,
            windows: ValidationOptions::new(1, h),
            metric: Metric::parse("mae").expect("it is one"),
            season: None,
            keeps_window: false,
            threads: 0,
            time: None,
            dir: None,
            configure: Box::new(Ok),
            listener: Box::new(|_| {}),
            interrupt: Arc::new(|| false),
        }
    }

    /// Tries this many sets of hyper-parameters.
    pub fn trials(mut self, trials: usize) -> Self {
        self.study.trials = trials;
        self
    }

    /// Whether the models as they are come first, each a trial, which is the default: what is found is then no worse than these in
    /// what is scored. A grid has its own points alone.
    pub fn begin_as_given(mut self, begin: bool) -> Self {
        self.study.begins_as_given = begin;
        self
    }

    /// Tries no further ones after this time; trainings that it ends do not count. What is found then depends on how fast the
    /// machine is.
    pub fn time(self, time: Duration) -> Self {
        Self { time: Some(time), ..self }
    }

    /// How hyper-parameters are proposed.
    pub fn sampler(mut self, sampler: Sampler) -> Self {
        self.study.sampler = sampler;
        self
    }

    /// Trains all trials for a share of their `max_steps` first, and the best of them for more: those of a rung that are among the
    /// best `1 / eta` advance to the next, with `eta` times as many steps: those that are left, where that makes no difference to a
    /// training of all of them, else from the beginning.
    pub fn halving(mut self, halving: Halving) -> Self {
        self.study.halving = halving;
        self
    }

    /// Trials that are proposed together, 4 by default: at most this many run side by side.
    pub fn round(mut self, trials: usize) -> Self {
        self.study.round = trials;
        self
    }

    /// The seed of the proposals.
    pub fn seed(mut self, seed: u64) -> Self {
        self.study.seed = seed;
        self
    }

    /// Scores `n_windows` forecasts of each series, `step_size` steps apart, as [`Forecaster::cross_validate`] does.
    pub fn n_windows(self, n_windows: usize, step_size: usize) -> Self {
        Self { windows: ValidationOptions::new(n_windows, step_size).refit(self.windows.refit), ..self }
    }

    /// Trains all models anew before every n-th window ([`ValidationOptions::refit`]). By default, and with 0, networks are trained once,
    /// before the first one, and other models before each.
    pub fn refit(self, every: usize) -> Self {
        Self { windows: self.windows.refit(every), ..self }
    }

    /// Scores by this metric, the mean absolute error by default.
    ///
    /// # Errors
    /// If there is none of that name, or less is not better.
    pub fn metric(mut self, name: &str) -> Result<Self, TuningError> {
        let metric = Metric::parse(name).map_err(Error::from)?;
        if !metric.is_error || metric.scale == Scale::Baseline {
            return Err(TuningError::Metric { found: metric.name });
        }
        self.metric = metric;
        Ok(self)
    }

    /// Steps of a season, for metrics that need one; by default as usual for the frequency.
    pub fn season(self, season: usize) -> Self {
        Self { season: Some(season), ..self }
    }

    /// Keeps the last horizon of each series from the search, and scores the best model on it: a score that chose nothing
    /// ([`Tuned::kept`]). Where most of them are too short for that, all of them is searched on. Off by default.
    pub fn keep_window(self, keep: bool) -> Self {
        Self { keeps_window: keep, ..self }
    }

    /// Uses `threads` threads; 0, the default, as many as the machine has.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Keeps the results in a directory, and continues from there if it holds some: a search that was killed ends with the same
    /// result as one that was not. It must be the same search; more trials may be asked for. They stay there until
    /// [`remove_training_state`](foretell::remove_training_state).
    pub fn checkpoint_to(self, dir: impl Into<PathBuf>) -> Self {
        Self { dir: Some(dir.into()), ..self }
    }

    /// Changes the settings of the forecaster of each trial: features, scalers, precision, ...
    pub fn each(
        self,
        configure: impl Fn(Forecaster) -> Result<Forecaster, Error> + Send + Sync + 'a,
    ) -> Self {
        Self { configure: Box::new(configure), ..self }
    }

    /// Calls `listener` after each training.
    pub fn on_trial(self, listener: impl FnMut(&SearchProgress<'_>) + Send + 'a) -> Self {
        Self { listener: Box::new(listener), ..self }
    }

    /// Asks after each step of training whether the search is to end. Trainings that are not done do not count then.
    pub fn interrupt_if(self, interrupt: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { interrupt: Arc::new(interrupt), ..self }
    }

    /// What a search in these series does not score: the windows that short ones do not have, beside a horizon that is kept from it.
    pub fn fewer_windows(&self, panel: &Panel) -> Option<Warning> {
        let ValidationOptions { n_windows, step_size, .. } = self.windows;
        let h = self.spaces.first()?.spec().h();
        let kept = self.kept_rows(panel);
        // A window has a row before it.
        let windows = |rows: usize| match rows.checked_sub(kept + h + 1) {
            Some(left) => n_windows.min(left / step_size.max(1) + 1),
            None => 0,
        };
        let short = (0..panel.n_series()).filter(|&series| windows(panel.len(series)) < n_windows);
        let series: Vec<(String, usize)> =
            short.map(|series| (panel.id(series).to_string(), panel.len(series))).collect();
        let all = (0..panel.n_series()).map(|series| windows(panel.len(series))).sum();
        let asked = n_windows * panel.n_series();
        (!series.is_empty()).then_some(Warning::FewerWindows { windows: all, asked, n_windows, kept, series })
    }

    /// The rows at the end of each of these series that are kept from the search ([`Search::keep_window`]): a horizon, or none.
    pub fn kept_rows(&self, panel: &Panel) -> usize {
        match self.keeps_window_of(panel) {
            Ok(true) => self.spaces.first().map_or(0, |space| space.spec().h()),
            _ => 0,
        }
    }

    /// Whether the last horizon of these series is kept from the search: most of them have the rows for that. It is of all of them, and a
    /// series of fewer rows is forecast in the fewer windows that are left.
    fn keeps_window_of(&self, panel: &Panel) -> Result<bool, Error> {
        // What no forecaster of a model alone can do, as to read features, would be refused at every point of its space.
        let (mut needed, mut h) = (0, 0);
        for space in &self.spaces {
            let forecaster = (self.configure)(Forecaster::new([space.spec().clone()])?)?;
            needed = needed.max(forecaster.rows_needed_to_validate(&self.windows));
            h = space.spec().h();
        }
        // Beside the kept horizon there is to be one to learn from.
        let long = panel.without_shorter_than(needed.saturating_add(2 * h)).n_series();
        Ok(self.keeps_window && 2 * long > panel.n_series())
    }

    /// Searches.
    ///
    /// # Errors
    /// If no hyper-parameters of the spaces can work with the series and the horizon, or all trainings failed; if the metric needs
    /// quantiles that models do not forecast; if results cannot be kept, or belong to another search.
    pub fn run(mut self, panel: &Panel) -> Result<Tuned, TuningError> {
        let specs: Vec<&dyn Estimator> = self.spaces.iter().map(|space| space.spec().as_ref()).collect();
        if specs.is_empty() {
            return Err(Error::from(PlanError::NoModels).into());
        }
        self.check_quantiles(&specs)?;
        let (whole, h, keeps_window) = (panel, specs[0].horizon(), self.keeps_window_of(panel)?);
        let panel = &whole.without_last(if keeps_window { h } else { 0 });
        let state = SearchState::open(self.dir.as_deref(), self.identity(panel)?)?;
        let threads = Workers::new(self.threads).map_err(Error::from)?.threads();
        let at_a_time = threads.min(self.study.round.max(1));
        let (begun, time, interrupt) = (Moment::now(), self.time, Arc::clone(&self.interrupt));
        let trainer = Trainer {
            panel,
            configure: &*self.configure,
            windows: self.windows,
            metric: self.metric,
            season: self.season.unwrap_or_else(|| usual_season(panel.freq())),
            threads: (threads / at_a_time).max(1),
            at_a_time,
            stop: Arc::new(move || interrupt() || time.is_some_and(|time| begun.elapsed() >= time)),
            memory: RwLock::new(()),
        };
        // Points that set what a model has anyway, or two spaces of one model, may be one setting.
        let setting = |point: &Point| {
            let spec = self.spaces[point.space].at(&point.values).ok()?;
            Some((spec.alias().to_owned(), spec.name(), spec.hyper_parameters()))
        };
        let most = self.study.points(self.study.trials).map_or(self.study.trials, |points| {
            let fits = points.iter().filter(|point| trainer.check(&self.spaces[point.space], point).is_ok());
            let mut settings: Vec<_> = Vec::new();
            for known in fits.filter_map(setting) {
                if !settings.contains(&known) {
                    settings.push(known);
                }
            }
            settings.len().min(self.study.trials)
        });
        let board = Board {
            most,
            spaces: &self.spaces,
            study: &self.study,
            state,
            points: Vec::new(),
            trials: Vec::new(),
            begun: BTreeMap::new(),
            listener: &mut *self.listener,
            at_a_time,
        };
        let board = Mutex::new(board);
        let mut refusal = None;
        let complete = loop {
            let tasks = {
                let board = locked(&board);
                let mut tried: Vec<_> = board.points.iter().filter_map(setting).collect();
                let accepts = |point: &Point| match trainer.check(&self.spaces[point.space], point) {
                    Ok(()) => match setting(point) {
                        Some(known) if tried.contains(&known) => false,
                        new => {
                            tried.extend(new);
                            true
                        }
                    },
                    Err(error) => {
                        refusal.get_or_insert(error);
                        false
                    }
                };
                self.study.next_round(&board.scored(), accepts)
            };
            if tasks.is_empty() || (trainer.stop)() {
                break tasks.is_empty();
            }
            let jobs: Vec<usize> = tasks.into_iter().map(|task| locked(&board).begin(task)).collect();
            let stop = AtomicBool::new(false);
            let results = Workers::side_by_side(jobs.len(), at_a_time, &stop, |job| {
                let done = run(&trainer, &board, jobs[job]);
                stop.fetch_or((trainer.stop)() || done.is_err(), Relaxed);
                done
            });
            results.into_iter().collect::<Result<(), TuningError>>()?;
        };
        let interrupted = (self.interrupt)();
        let board = board.into_inner().unwrap_or_else(PoisonError::into_inner);
        if board.trials.is_empty() && complete {
            return Err(refusal.map_or(TuningError::NothingScored { first: None }, |error: TuningError| {
                TuningError::NothingFits { reason: error.to_string() }
            }));
        }
        let baseline = if interrupted { None } else { trainer.baseline(&self.spaces[0]) };
        let mut tuned = board.tuned(interrupted, complete, baseline)?;
        tuned.fewer_windows = self.fewer_windows(whole);
        if let Some(spec) = tuned.best_spec().filter(|_| keeps_window && !interrupted) {
            // Time for the search is over where it has a limit.
            let (windows, stop) = (ValidationOptions::new(1, h), Arc::clone(&self.interrupt));
            let last = Trainer { panel: whole, windows, stop, ..trainer };
            let score = last.score(spec, 1.0, None)?.map(|(score, _)| score);
            tuned.kept = score.map(|score| KeptScore { score, baseline: last.baseline(&self.spaces[0]) });
        }
        Ok(tuned)
    }

    /// All models must forecast what the metric is of.
    fn check_quantiles(&self, specs: &[&dyn Estimator]) -> Result<(), TuningError> {
        let has = |spec: &&&dyn Estimator| spec.outputs().iter().any(|output| output.quantile.is_some());
        let lacking = specs.iter().find(|spec| !has(spec));
        match (self.metric.score, lacking) {
            (RowScore::Point(_), _) | (_, None) => Ok(()),
            (_, Some(spec)) => {
                let (model, metric) = (spec.alias().to_owned(), self.metric.name);
                Err(TuningError::Quantiles { model, metric })
            }
        }
    }

    /// Everything that the results depend on beside their hyper-parameters.
    fn identity(&self, panel: &Panel) -> Result<Value, Error> {
        let models = self.spaces.iter().map(|space| space.spec().clone());
        let training = (self.configure)(Forecaster::new(models)?)?.identity(panel)?;
        let spaces: Vec<String> = self.spaces.iter().map(|space| format!("{:?}", space.ranges())).collect();
        let Study { sampler, begins_as_given, round, seed, halving, .. } = &self.study;
        Ok(json!({
            "training": training,
            "spaces": spaces,
            "proposals": format!("{sampler:?} {begins_as_given} {round} {seed} {halving:?}"),
            "scores": format!("{:?} {} {:?}", self.windows, self.metric, self.season),
        }))
    }
}

impl Trainer<'_> {
    /// Whether hyper-parameters can work with the horizon and the series.
    fn check(&self, space: &SearchSpace, point: &Point) -> Result<(), TuningError> {
        let spec = space.at(&point.values)?;
        spec.check()?;
        let needs = spec.as_ref().needs();
        needs.check_n_series(spec.alias(), self.panel.n_series()).map_err(Error::from)?;
        let forecaster = (self.configure)(Forecaster::new([spec])?)?;
        let (needed, rows) = (forecaster.rows_needed_to_validate(&self.windows), self.panel.max_len());
        if rows < needed {
            return Err(TuningError::ShortForSearch { rows, needed });
        }
        Ok(())
    }
}

/// Trains a trial at its next rung, if its result is not known, and enters the result.
fn run(trainer: &Trainer<'_>, board: &Mutex<Board<'_>>, trial: usize) -> Result<(), TuningError> {
    let (point, rung, spec, budget, known, before) = {
        let mut board = locked(board);
        let (point, rung) = (board.points[trial].clone(), board.trials[trial].scores.len());
        let known = board.state.find(trial, rung, &point.values).cloned();
        let spec = board.spaces[point.space].at(&point.values)?;
        (point, rung, spec, board.study.halving.budget(rung), known, board.begun.remove(&trial))
    };
    if let Some(known) = known {
        locked(board).enter(&known);
        return Ok(());
    }
    let start = Moment::now();
    let (score, failure, begun) = match trainer.score(&spec, budget, before.as_ref()) {
        Ok(None) => return Ok(()),
        Ok(Some((score, begun))) if score.is_finite() => (Some(score), None, begun),
        Ok(Some((score, _))) => (None, Some(format!("its score is {score}")), None),
        Err(error) => (None, Some(error.to_string()), None),
    };
    let seconds = start.elapsed().as_secs_f64();
    let result = RungResult { trial, rung, point: point.values, score, seconds, failure };
    let mut board = locked(board);
    board.enter(&result);
    if let Some(begun) = begun {
        board.keep(trial, begun);
    }
    board.state.push(result)
}

fn locked<'m, T>(mutex: &'m Mutex<T>) -> std::sync::MutexGuard<'m, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
