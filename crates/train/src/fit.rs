//! The training loop.

use std::fmt;
use std::ops::{ControlFlow, Range};

use foretell_amp::GradScaler;
use foretell_batch::Cut;
use foretell_data::{Cutter, SeriesSampler, WindowRef};
use foretell_estimator::{Listener, Moment, OneProcess, Outcome, Progress, Reduction, Verdict};
use foretell_infer::Forecasts;
use foretell_nn::{Coupling, Dims, Key, Loss, Network, Params, WithoutAmp, check_amp};
use foretell_optim::{Optimizer, Pace, Schedule};
use foretell_simd::Stream;
use foretell_threads::Workers;

use crate::config::TrainConfig;
use crate::kept_optimizer::KeptOptimizer;
use crate::pruning::{Mask, Pruning};
use crate::shards::BatchPart;
use crate::shards::Engine;
use crate::state::{BEST, PARAMS, State, StateWriter, Statistics};
use crate::stopping::Stopping;

/// The numbers folded into the seed for each kind of randomness.
const DROPOUT: u64 = 1;
const SERIES: u64 = 2;
const WINDOWS: u64 = 3;

/// A training run: the network, its data and its settings. [`Fit::new`] takes what every run needs; what else there is, is set as
/// in `Fit { valid: Some(&valid), ..Fit::new(..) }`.
pub struct Fit<'a> {
    /// The model.
    pub network: &'a Network,
    /// Its parameters before the first step.
    pub params: Params,
    /// How its windows are cut, and the loss to minimise.
    pub cut: Cut<'a>,
    /// The loss that is computed on the validation windows.
    pub valid_loss: &'a Loss,
    /// The windows to train on.
    pub train: &'a Cutter<'a>,
    /// The windows to validate on, if any are held out.
    pub valid: Option<&'a Cutter<'a>>,
    /// The sizes of the validation windows, whose forecasts reach over the whole horizon.
    pub valid_dims: Dims,
    /// The hyper-parameters of training.
    pub config: &'a TrainConfig,
    /// The threads to use.
    pub workers: &'a Workers,
    /// The parts of the parameters' arena that training leaves unchanged.
    pub frozen: &'a [Range<usize>],
    /// Weights that become zero on the way. The mask is no part of [`State`], so such a run is not continued from one.
    pub pruning: Option<&'a Pruning>,
    /// The optimiser of an earlier training to continue with, whose draws continue too; the schedule begins anew.
    pub before: Option<&'a KeptOptimizer>,
    /// Whether the optimiser is told at the end.
    pub keeps_optimizer: bool,
    /// The state to continue from, if not from the beginning.
    pub from: Option<State<'a>>,
    /// About how many numbers a step keeps of a window between its two passes.
    pub kept: usize,
    /// Keeps the state while training continues, if it is to be kept; of several processes one does.
    pub keep: Option<StateWriter<'a>>,
    /// The processes that train together: [`OneProcess`](crate::OneProcess), or several with the same job each. They
    /// share the windows to validate on, and all of them stop at the same step if their listeners do.
    pub reduction: &'a dyn Reduction,
}

impl<'a> Fit<'a> {
    /// A run from these parameters, without validation, in this process alone.
    pub fn new(
        network: &'a Network,
        params: Params,
        cut: Cut<'a>,
        train: &'a Cutter<'a>,
        config: &'a TrainConfig,
        workers: &'a Workers,
    ) -> Self {
        Self {
            network,
            params,
            cut,
            valid_loss: cut.loss,
            train,
            valid: None,
            valid_dims: cut.dims,
            config,
            workers,
            frozen: &[],
            pruning: None,
            before: None,
            keeps_optimizer: false,
            from: None,
            kept: 0,
            keep: None,
            reduction: &OneProcess,
        }
    }
}

impl fmt::Debug for Fit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fit")
            .field("params", &self.params)
            .field("config", &self.config)
            .field("train", &self.train)
            .finish_non_exhaustive()
    }
}

/// Why a training run ended without a result.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum TrainError {
    /// The loss is infinite or not a number.
    #[error(
        "the loss is {what} at step {step}, in shard {shard} of the batch, which held windows of the series \
         {series}; lower learning_rate, or set a scaler_type if the values are large",
        what = if loss.is_nan() { "not a number" } else { "infinite" }
    )]
    #[strum(serialize = "loss_not_finite")]
    NotFinite {
        /// The loss.
        loss: f64,
        /// The step, counted from 1.
        step: u64,
        /// The shard's place among the shards of the batch.
        shard: usize,
        /// The ids of the series, the first few.
        series: String,
    },
    /// A weight is infinite or not a number.
    #[error(
        "the loss was finite, but the weights are not after step {step}; lower learning_rate, set gradient_clip_val, or \
         set a scaler_type if the values are large"
    )]
    #[strum(serialize = "weights_not_finite")]
    Weights {
        /// The step, counted from 1.
        step: u64,
    },
    /// A precision that this program cannot train in.
    #[error(transparent)]
    WithoutAmp(#[from] WithoutAmp),
    /// A batch of one window for a model that normalises by the statistics of the batch.
    #[error(
        "the model normalises the windows of a batch together, which takes at least 2 of them, but the batch of step \
         {step} has one; set windows_batch_size to 2 or more"
    )]
    OneWindow {
        /// The step, counted from 1.
        step: u64,
    },
}

/// Trains; returns the trained parameters, how the run ended, and the optimiser if it is asked for: as it was after the last step,
/// also where the parameters are those of the best check. `listen` is called after every step and may stop the run.
///
/// # Errors
/// If the training diverged: its loss or its weights are infinite or not a number; if the windows of a batch are
/// coupled and there is only one; if a precision other than `f32` is asked for and the program was built without the
/// feature `amp`.
pub fn fit(
    job: Fit<'_>,
    listen: Listener<'_>,
) -> Result<(Params, Outcome, Option<KeptOptimizer>), TrainError> {
    check_amp(job.config.step.precision.name())?;
    job.workers.enter(|| run(job, listen))
}

fn run(job: Fit<'_>, listen: Listener<'_>) -> Result<(Params, Outcome, Option<KeptOptimizer>), TrainError> {
    let Fit { network, cut, train, valid, valid_dims, config, workers, mut keep, .. } = job;
    let key = Key::new(config.random_seed);
    let optimizer =
        Optimizer::new(job.params.table().arena_len(), config.optimizer, config.clip).freezing(job.frozen);
    let mut engine = Engine::new(network, job.params, optimizer, cut.loss, key.fold(DROPOUT), workers)
        .precision(config.step.precision)
        .low_memory(config.step.low_memory)
        .reduction(job.reduction)
        .kept(job.kept);
    let mut batches = Batches::new(train, config, key);
    let mut checks = Checks::new(config, job.valid_loss);
    let mut outcome = Outcome::of_no_step();
    if let Some(before) = job.before {
        engine.resume_optimizer(before);
    }
    let steps_before = job.before.map_or(0, |before| before.steps);
    if let Some(state) = job.from {
        engine.restore(&state);
        checks.restore(&state, engine.params());
        let valid_loss = checks.losses.last().copied();
        outcome = Outcome { steps: state.step, train_loss: state.train_loss, valid_loss, ..outcome };
    }
    let mut mask = job.pruning.map(|pruning| Mask::new(pruning, engine.params().arena(), config.max_steps));
    let start = Moment::now();

    for step in outcome.steps..config.max_steps {
        let pace = checks.schedule.at(step);
        outcome.train_loss = batches.take_step(steps_before + step, network, &cut, pace, &mut engine)?;
        if let Some(mask) = &mut mask {
            engine.change_params_by(|arena| mask.after_step(step + 1, arena));
        }
        outcome.steps = step + 1;
        outcome.skipped_steps = engine.scaler().map_or(0, GradScaler::skipped);

        let due = (step + 1) % config.val_check_steps.min(config.max_steps).max(1) == 0;
        let checked = valid.filter(|_| due).map(|valid| {
            let cut = Cut { dims: valid_dims, ..cut };
            let random_seed = config.random_seed;
            let forecasts =
                Forecasts { network, params: engine.params(), cut, random_seed, workers, kept: job.kept };
            valid_loss(&forecasts, valid, job.valid_loss, config, job.reduction)
        });
        if let Some(loss) = checked {
            outcome.valid_loss = checked;
            checks.observe(loss, engine.params());
        }
        let verdict = listen(&Progress {
            step: step + 1,
            max_steps: config.max_steps,
            train_loss: outcome.train_loss,
            valid_loss: checked,
            learning_rate: pace.rate,
            skipped_steps: outcome.skipped_steps,
            elapsed: start.elapsed(),
        });
        if verdict == Verdict::Stop || checks.stopping.is_over() || step + 1 == config.max_steps {
            break;
        }
        outcome.interrupted = verdict == Verdict::Interrupt;
        let due = |keep: &&mut StateWriter<'_>| outcome.interrupted || (step + 1) % keep.every == 0;
        let kept = keep.as_mut().filter(due).map(|keep| keep_state(&outcome, &engine, &checks, keep));
        if outcome.interrupted || kept.transpose()?.is_some_and(|kept| kept.is_break()) {
            break;
        }
    }
    let optimizer = job.keeps_optimizer.then(|| engine.keep_optimizer());
    let mut last = engine.into_params();
    // Whatever ended the training, and whichever weights it goes back to, as many are zero as were to be.
    let mut finish = |params: &mut Params| mask.iter_mut().for_each(|mask| mask.finish(params.arena_mut()));
    match checks.best.filter(|_| checks.stopping.is_over()) {
        Some((mut params, loss)) => {
            finish(&mut params);
            Ok((params, Outcome { valid_loss: Some(loss), ..outcome }, optimizer))
        }
        None => {
            finish(&mut last);
            check_weights(&last, outcome.steps).map(|()| (last, outcome, optimizer))
        }
    }
}

/// The loss over the windows to validate on. Each process forecasts some batches of them; the losses are added in their order.
fn valid_loss(
    forecasts: &Forecasts<'_>,
    valid: &Cutter<'_>,
    loss: &Loss,
    config: &TrainConfig,
    reduction: &dyn Reduction,
) -> f64 {
    let (rank, processes) = (reduction.rank(), reduction.processes());
    let runs = |batch: usize| batch % processes == rank;
    let own = forecasts.batch_losses(valid, loss, config.validation_batches(), runs);
    let batches = own.len();
    let of_all = reduction.gather(own.into_flattened());
    let of_all: &[[f64; 2]] = of_all.as_chunks().0;
    let of_batch = |batch: usize| of_all[batch % processes * batches + batch];
    let [sum, count] =
        (0..batches).map(of_batch).fold([0.0; 2], |sums, of| [sums[0] + of[0], sums[1] + of[1]]);
    sum / count
}

/// The batches of a training, one after the other.
struct Batches<'a> {
    train: &'a Cutter<'a>,
    series: SeriesSampler,
    /// Windows of a step; all of its series where it is `None`.
    windows: Option<usize>,
    /// How many parts a step is taken in.
    parts: usize,
    key: Key,
    /// The rows of the windows of the last step.
    rows: Vec<WindowRef>,
    sums: Vec<f64>,
}

impl<'a> Batches<'a> {
    fn new(train: &'a Cutter<'a>, config: &TrainConfig, key: Key) -> Self {
        let (series, parts) = (train.series_with_windows(), config.accumulate_grad_batches.max(1));
        let batch_size = config.batch_size.saturating_mul(parts);
        let series = SeriesSampler::new(series, batch_size, config.drop_last_loader, key.fold(SERIES));
        let windows = config.windows_batch_size.map(|windows| windows * parts);
        Self { train, series, windows, parts, key, rows: Vec::new(), sums: Vec::new() }
    }

    /// Draws the windows of this step, counted from 0, and takes the step in parts of as many windows each; returns its loss.
    fn take_step(
        &mut self,
        step: u64,
        network: &Network,
        cut: &Cut<'_>,
        pace: Pace,
        engine: &mut Engine<'_>,
    ) -> Result<f64, TrainError> {
        let Self { train, series, windows, parts, key, rows, sums } = self;
        let mut draws = Stream::new(key.fold(WINDOWS).fold(step));
        train.draw(series.batch(step), *windows, &mut draws, rows);
        let per_window = train.rows_per_window();
        let rows_of = |range: Range<usize>| &rows[range.start * per_window..range.end * per_window];
        let count = rows.len() / per_window;
        let parts = (*parts).min(count).max(1);
        let start = |place: usize| count * place / parts;
        let mut of_parts = Vec::with_capacity(parts);
        for place in 0..parts {
            let range = start(place)..start(place + 1);
            check_coupling(network, range.len(), step + 1)?;
            let total = cut.total_weight(train, rows_of(range.clone()), sums);
            of_parts.push(BatchPart { windows: range.len(), total });
        }
        let batch = |place: usize, range: Range<usize>| {
            let before = start(place);
            cut.batch(train, rows_of(before + range.start..before + range.end))
        };
        engine.step_in_parts(&of_parts, pace, batch).map_err(|fault| {
            let series = ids(train, rows_of(fault.windows));
            TrainError::NotFinite { loss: fault.loss, step: step + 1, shard: fault.shard, series }
        })
    }
}

/// The checks on the validation windows, and the schedule and early stopping that follow them.
struct Checks<'a> {
    valid_loss: &'a Loss,
    schedule: Schedule,
    stopping: Stopping,
    /// Whether the training goes back to its best weights.
    goes_back: bool,
    /// The losses of all checks.
    losses: Vec<f64>,
    /// The best weights and their loss.
    best: Option<(Params, f64)>,
}

impl<'a> Checks<'a> {
    fn new(config: &TrainConfig, valid_loss: &'a Loss) -> Self {
        let stopping = Stopping::new(config.early_stop_patience_steps);
        let goes_back = stopping.is_active() && config.restore_best;
        Self {
            valid_loss,
            schedule: config.schedule.clone(),
            stopping,
            goes_back,
            losses: Vec::new(),
            best: None,
        }
    }

    /// As a training left them whose parameters are these now.
    fn restore(&mut self, state: &State<'_>, latest: &Params) {
        let mut best_loss = None;
        for &loss in state.valid_losses {
            best_loss = if self.add(loss) { Some(loss) } else { best_loss };
        }
        self.best = best_loss.zip(state.arena(BEST)).map(|(loss, values)| {
            let mut params = latest.clone();
            state.best.restore(&mut params, values);
            (params, loss)
        });
    }

    /// Takes the loss of a check with these parameters.
    fn observe(&mut self, loss: f64, params: &Params) {
        if self.add(loss) && self.goes_back {
            self.best = Some((params.without_copies(), loss));
        }
    }

    /// Whether the loss is the best so far.
    fn add(&mut self, loss: f64) -> bool {
        self.losses.push(loss);
        let minimised = self.valid_loss.minimised(loss);
        self.schedule.observe(minimised);
        self.stopping.observe(minimised)
    }
}

/// Keeps the state after the last step of the outcome so far; breaks off if it cannot be kept.
fn keep_state(
    outcome: &Outcome,
    engine: &Engine<'_>,
    checks: &Checks<'_>,
    keep: &mut StateWriter<'_>,
) -> Result<ControlFlow<()>, TrainError> {
    check_weights(engine.params(), outcome.steps)?;
    let mut arenas = vec![(PARAMS, engine.params().arena())];
    arenas.extend(checks.best.iter().map(|(params, _)| (BEST, params.arena())));
    arenas.extend(engine.optimizer().states());
    Ok((keep.write)(&State {
        step: outcome.steps,
        train_loss: outcome.train_loss,
        valid_losses: &checks.losses,
        arenas,
        latest: Statistics::of(engine.params()),
        best: checks.best.as_ref().map(|(params, _)| Statistics::of(params)).unwrap_or_default(),
        scaler: engine.scaler().cloned(),
    }))
}

/// Checks that a batch of coupled windows has several of them.
///
/// # Errors
/// If there is only one in the batch of this step, counted from 1.
pub fn check_coupling(network: &Network, windows: usize, step: u64) -> Result<(), TrainError> {
    match network.needs.coupling {
        Coupling::Coupled if windows < 2 => Err(TrainError::OneWindow { step }),
        _ => Ok(()),
    }
}

/// Checks the weights after the last step. After all others, the loss of the next step shows weights that are not
/// finite.
fn check_weights(params: &Params, step: u64) -> Result<(), TrainError> {
    match params.arena().iter().all(|weight| weight.is_finite()) {
        true => Ok(()),
        false => Err(TrainError::Weights { step }),
    }
}

/// The ids of the first few series that the windows are of.
fn ids(train: &Cutter<'_>, windows: &[WindowRef]) -> String {
    const SHOWN: usize = 5;
    let mut series: Vec<u32> = windows.iter().map(|window| window.series).collect();
    series.sort_unstable();
    series.dedup();
    let more = series.len() > SHOWN;
    series.truncate(SHOWN);
    let mut names: Vec<&str> = series.iter().map(|&series| &**train.panel().id(series as usize)).collect();
    if more {
        names.push("...");
    }
    names.join(", ")
}
