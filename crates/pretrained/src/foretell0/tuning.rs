//! Fine-tuning: steps of the training engine from weights that are there, on windows of a panel.
//!
//! A window is what the network would read in a forecast from its cutoff: the same end of the history, averaged where a forecast averages it.
//! Every second window of a batch is mirrored, since a forecast is the mean of the series' and its mirror image's. Windows that the
//! network does not forecast, as they are constant or repeat themselves, count nothing.

use foretell_calendar::calendar_seasons;
use foretell_data::{Cutter, Panel, Span, WindowSpec};
use foretell_estimator::{EstimatorError, HeldOut, MemoryEstimate, Outcome, Run, StepSettings, TrainingSize};
use foretell_nn::{Dims, Params};
use foretell_optim::{CosineWarmup, Schedule};
use foretell_train::{
    Batch, Cut, Fit, KeptFitError, Preparation, TrainConfig, fit_kept, shard_count, windows_at_a_time,
};

use super::forecast::{CONTEXT, FARTHEST, averaged, averages, repeats, window_of};
use super::lesson::{self, TrainingWindow};
use super::network::{PAST, PatchNetwork, QUANTILES};
use super::window::{FEATURES, LARGEST, PATCH, ReadyWindow, WindowShape};
use crate::error::PretrainedError;
use crate::settings::PretrainedSettings;

/// The least rows of history of a window that is trained on, as in pretraining; half of all where series are shorter than twice as many.
const LEAST_HISTORY: usize = 12;

/// The share of the steps in which the learning rate rises, for moments that begin with nothing.
const WARM_UP: u64 = 10;

/// Trains the network from `params` on; returns the weights and how the training ended. `model` is the name of its column.
///
/// # Errors
/// If the panel has no window to train on, early stopping has nothing to watch, or the training diverges.
pub(crate) fn tune(
    settings: &PretrainedSettings,
    model: &str,
    params: Params,
    panel: &Panel,
    HeldOut { validation: val_size, test: test_size }: HeldOut,
    run: Run<'_>,
) -> Result<(Params, Outcome), EstimatorError> {
    if settings.early_stop_patience_steps > 0 && val_size == 0 {
        let model = model.to_owned();
        return Err(PretrainedError::NothingToWatch { model, h: settings.h }.into());
    }
    let reading = Reading::of(panel, settings.h, val_size + test_size);
    let train = Cutter::new(panel, &reading.windows(), Span::Train { val_size, test_size })?;
    train.check_horizon()?;
    let valid = match val_size {
        0 => None,
        _ => Some(Cutter::new(panel, &reading.windows(), Span::Validation { val_size, test_size })?),
    };
    let (network, loss, config) =
        (lesson::network(reading.horizon), lesson::loss(), config(settings, run.step));
    let dims = Dims { outputs: QUANTILES.len(), ..Dims::new(reading.input_size, reading.horizon) };
    let cut = Cut {
        dims,
        loss: &loss,
        exclude_insample_y: false,
        step_by_step: false,
        preparation: Some(&reading),
    };
    let kept = lesson::kept(&params, reading.shape);
    let job = Fit {
        valid: valid.as_ref(),
        kept,
        reduction: run.reduction,
        ..Fit::new(&network, params, cut, &train, &config, run.workers)
    };
    let (params, outcome, _) = fit_kept(job, run.state, run.listen).map_err(|error| match error {
        KeptFitError::Train(source) => {
            PretrainedError::Train { model: model.to_owned(), source: Box::new(source) }
        }
        KeptFitError::State(error) => PretrainedError::State(Box::new(error)),
    })?;
    Ok((params, outcome))
}

/// How the engine trains: as in pretraining, at a rate that rises and falls.
fn config(settings: &PretrainedSettings, step: StepSettings) -> TrainConfig {
    let PretrainedSettings { max_steps, learning_rate, .. } = *settings;
    let schedule = CosineWarmup::new(learning_rate, max_steps / WARM_UP, max_steps);
    TrainConfig::default()
        .max_steps(max_steps)
        .optimizer(lesson::rule())
        .schedule(Schedule::CosineWarmup(schedule))
        .clip(Some(lesson::clip()))
        .early_stop_patience_steps(settings.early_stop_patience_steps)
        .val_check_steps(settings.val_check_steps)
        .batch_size(settings.batch_size)
        .valid_batch_size(settings.batch_size)
        .windows_batch_size(Some(settings.windows_batch_size))
        .inference_windows_batch_size(None)
        .random_seed(settings.random_seed)
        .step(step)
}

/// Numbers that it learns, and the memory that a training takes.
pub(crate) fn training_memory(
    settings: &PretrainedSettings,
    size: &TrainingSize<'_>,
) -> (usize, MemoryEstimate) {
    let reading = Reading::of(size.panel, settings.h, size.held_out.rows());
    let (network, params) = (lesson::network(reading.horizon), PatchNetwork::new().1.initialise(0));
    let windows = settings.windows_batch_size;
    let low_memory = size.step.low_memory;
    let shards = shard_count(windows, network.needs, low_memory);
    let at_a_time = windows_at_a_time(windows.div_ceil(shards), network.needs, low_memory);
    let at_once = at_a_time.saturating_mul(shards.min(size.threads));
    let arena = |count: usize| params.table().arena_len().saturating_mul(count);
    let best = usize::from(settings.early_stop_patience_steps > 0);
    let states = lesson::rule().state_names().len();
    // As they are cut, and as the network reads them.
    let window = reading.input_size + reading.horizon * (3 + QUANTILES.len());
    let window = 2 * window + reading.shape.tokens() * 2 * FEATURES;
    let needs = MemoryEstimate::default()
        .and_numbers("parameters", params.table().total_len())
        .and_numbers(format!("gradients of {shards} shards"), arena(shards))
        .and_numbers("the optimiser's state", arena(states))
        .and_numbers("the best weights", arena(best))
        .and_numbers("the state to be kept", arena(if size.is_kept { 1 + states + best } else { 0 }))
        .and_numbers("windows", at_once.saturating_mul(window))
        .and_numbers("activations, roughly,", at_once.saturating_mul(lesson::kept(&params, reading.shape)));
    (params.table().numel(), needs)
}

/// How windows of a panel become those that the network reads.
#[derive(Debug)]
struct Reading {
    /// Seasons of the calendar, in steps.
    calendar: Vec<f32>,
    /// Rows of history of a window.
    input_size: usize,
    /// Rows of its future.
    horizon: usize,
    /// What the network reads of it.
    shape: WindowShape,
}

impl Reading {
    /// Of forecasts of `h` steps of a panel whose last rows are held out.
    fn of(panel: &Panel, h: usize, held_out: usize) -> Self {
        let seasons = calendar_seasons(panel.freq()).into_iter().filter(|season| *season > 1);
        let calendar: Vec<f32> = seasons.map(|season| season as f32).collect();
        let longest = panel.max_len().saturating_sub(held_out).max(1);
        let input_size = longest.min(CONTEXT * averaged(longest, &calendar));
        let horizon = h.min(FARTHEST);
        let past = input_size.div_ceil(PATCH).min(PAST);
        Self { calendar, input_size, horizon, shape: WindowShape { past, future: horizon.div_ceil(PATCH) } }
    }

    fn windows(&self) -> WindowSpec {
        let least = LEAST_HISTORY.min(self.input_size.div_ceil(2)) as f64 / self.input_size as f64;
        WindowSpec {
            start_padding: true,
            availability_threshold: [least, 0.0],
            ..WindowSpec::new(self.input_size, self.horizon)
        }
    }

    /// The window of a history and its targets, whose unknown values are NaN; `None` if the network would not forecast it.
    fn window(&self, history: &[f32], targets: &[f32], weights: &[f32]) -> Option<TrainingWindow> {
        let start = history.iter().position(|value| value.is_finite())?;
        let history = &history[start..];
        let times = averaged(history.len(), &self.calendar);
        let history = window_of(history, times);
        let history = averages(&history[history.len() % times..], times);
        let calendar: Vec<f32> = self.calendar.iter().map(|season| season / times as f32).collect();
        let ready = ReadyWindow::new(&history, &calendar, self.shape)?;
        if ready.periods.iter().any(|period| repeats(&history, *period)) {
            return None;
        }
        let of_block = |weights: &[f32]| weights.iter().sum::<f32>() / weights.len() as f32;
        let mut weights: Vec<f32> = weights.chunks(times).map(of_block).collect();
        let scaled = |value: f32| ready.scale.apply(value).clamp(-LARGEST, LARGEST);
        let mut targets: Vec<f32> = averages(targets, times).into_iter().map(scaled).collect();
        for (target, weight) in targets.iter_mut().zip(&mut weights) {
            if !target.is_finite() {
                (*target, *weight) = (0.0, 0.0);
            }
        }
        // Of averages there are fewer.
        targets.resize(self.horizon, 0.0);
        weights.resize(self.horizon, 0.0);
        Some(TrainingWindow { ready, targets, weights })
    }
}

impl Preparation for Reading {
    fn prepare(&self, cut: Batch, trains: bool) -> Batch {
        let known = |values: &[f32], masks: &[f32], sign: f32| -> Vec<f32> {
            let known = values.iter().zip(masks);
            known.map(|(value, mask)| if *mask > 0.0 { sign * value } else { f32::NAN }).collect()
        };
        let histories = cut.windows.insample_y.values().chunks_exact(self.input_size);
        let masks = cut.windows.insample_mask.values().chunks_exact(self.input_size);
        let targets = cut.target.values().chunks_exact(self.horizon);
        let weights = cut.weights.values().chunks_exact(self.horizon);
        let rows = histories.zip(masks).zip(targets.zip(weights)).enumerate();
        let windows = rows.map(|(row, ((history, mask), (targets, weights)))| {
            let sign = if trains && row % 2 == 1 { -1.0 } else { 1.0 };
            let (history, targets) = (known(history, mask, sign), known(targets, weights, sign));
            let window = self.window(&history, &targets, weights);
            window.unwrap_or_else(|| TrainingWindow::nothing(self.shape, self.horizon))
        });
        lesson::batch(&windows.collect::<Vec<_>>())
    }
}
