//! The state of a training on disk, so that a run that was killed resumes where it was.
//!
//! The file is replaced as a whole: a kill at any moment leaves the previous state or the new one. It says of which training
//! it is: with which models, settings and data.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use foretell_amp::GradScaler;
use foretell_checkpoint::{CheckpointError, TensorData, TensorFile, TensorValues};
use foretell_estimator::{Listener, Outcome, Reduction, StateFile};
use foretell_nn::Params;
use serde_json::Value;

use crate::fit::{Fit, TrainError, fit};
use crate::kept_optimizer::KeptOptimizer;
use crate::state::{BEST, PARAMS, State, StateWriter, Statistics};

/// Why the state of a training cannot be kept, or not be used.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum StateError {
    /// The state of another training.
    #[error(
        "{dir} holds the state of another training: {differences}; train as before to continue with it, or name another \
         directory",
        dir = dir.display()
    )]
    OtherTraining {
        /// The directory.
        dir: PathBuf,
        /// The settings that differ, and how.
        differences: String,
    },
    /// Processes that train together and do not see the same state.
    #[error(
        "{process} sees another state of the training in {dir} than {first}, which keeps it; name a directory that the machines of \
         all processes share, to all of them",
        dir = dir.display()
    )]
    StateOfOthers {
        /// The directory.
        dir: PathBuf,
        /// The process that sees another state.
        process: String,
        /// The one that keeps it.
        first: String,
    },
    /// The state of a training that this one cannot continue from.
    #[error("{path} is no state of this training: {reason}; remove it to begin anew", path = path.display())]
    #[strum(serialize = "unusable_state")]
    State {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A place where the state of training cannot be kept.
    #[error("cannot keep the state of training in {dir}: {source}", dir = dir.display())]
    StateDirectory {
        /// The directory.
        dir: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file that cannot be read or written.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

impl StateError {
    /// Whether it is a mistake in the request, whatever the data are.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::OtherTraining { .. })
    }
}

/// Why a training whose state is kept ended without a result.
#[derive(Debug, thiserror::Error)]
pub enum KeptFitError {
    /// The training failed.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// Its state did.
    #[error(transparent)]
    State(#[from] StateError),
}

/// [`fit`], from the state that the file holds, if it holds one, and with its state kept there. A training that had ended comes back as it
/// was. Without a file it is [`fit`]; the `from` and `keep` of the job are replaced.
///
/// # Errors
/// As those of [`fit`]; or if the file cannot be read or written, or is of another training.
pub fn fit_kept(
    job: Fit<'_>,
    file: Option<&StateFile>,
    listen: Listener<'_>,
) -> Result<(Params, Outcome, Option<KeptOptimizer>), KeptFitError> {
    let saved = file.map(find_state).transpose()?.flatten();
    check_same_state(job.reduction, file, saved.as_ref())?;
    let Fit { config, before, keeps_optimizer, mut params, reduction, .. } = job;
    let names = || config.optimizer.state_names().iter().copied().chain([PARAMS]);
    if let Some(saved) = saved.as_ref().filter(|saved| saved.finished) {
        let outcome = saved.finish(&mut params)?;
        let optimizer = keeps_optimizer.then(|| {
            let state = saved.state(&params, names())?;
            Ok::<_, StateError>(KeptOptimizer::of_state(&state, before, config.optimizer))
        });
        return Ok((params, outcome, optimizer.transpose()?));
    }
    let from = saved.as_ref().map(|saved| saved.state(&params, names())).transpose()?;
    let kept_here = file.filter(|_| reduction.rank() == 0);
    let mut failure = None;
    let mut write = kept_here.map(|file| state_writer(file, &mut failure));
    let keep = write.as_mut().zip(kept_here).map(|(write, file)| StateWriter { every: file.every, write });
    // The writer borrows for another lifetime, so the job is built again.
    let Fit { network, cut, valid_loss, train, valid, valid_dims, workers, frozen, pruning, kept, .. } = job;
    let job = Fit {
        valid_loss,
        valid,
        valid_dims,
        frozen,
        pruning,
        before,
        keeps_optimizer,
        from,
        kept,
        keep,
        reduction,
        ..Fit::new(network, params, cut, train, config, workers)
    };
    let (params, outcome, optimizer) = fit(job, listen)?;
    drop(write);
    if let Some(failure) = failure {
        return Err(failure.into());
    }
    if let Some(file) = kept_here.filter(|_| !outcome.interrupted) {
        finish_state(file, &params, &outcome, optimizer.as_ref())?;
    }
    Ok((params, outcome, optimizer))
}

/// The state of one training, as it was found.
struct SavedState {
    step: u64,
    finished: bool,
    path: PathBuf,
    arenas: Vec<(String, Vec<f32>)>,
    /// Running statistics and counters, of the latest step and of the best check.
    statistics: [(Vec<f32>, Vec<i64>); 2],
    train_loss: f64,
    valid_losses: Vec<f64>,
    scaler: Option<GradScaler>,
}

/// The state that a file holds, if there is one.
fn find_state(file: &StateFile) -> Result<Option<SavedState>, StateError> {
    let path = &file.path;
    if !path.exists() {
        return Ok(None);
    }
    let TensorFile { metadata, tensors } = read(path)?;
    let damaged = || damaged(path);
    let entry = |name: &str| metadata_entry(&metadata, name).ok_or_else(damaged);
    let differences = file.differences(&entry(TRAINING)?);
    if !differences.is_empty() {
        let dir = path.parent().unwrap_or(path).to_owned();
        return Err(StateError::OtherTraining { dir, differences: differences.join(", ") });
    }
    let (mut arenas, mut losses) = (Vec::new(), [Vec::new(), Vec::new()]);
    let mut statistics = [(Vec::new(), Vec::new()), (Vec::new(), Vec::new())];
    for (name, tensor) in tensors {
        match (name.as_str(), tensor.into_values()) {
            (TRAIN_LOSS, TensorValues::F64(values)) => losses[0] = values,
            (VALID_LOSSES, TensorValues::F64(values)) => losses[1] = values,
            (LATEST_VALUES, TensorValues::F32(values)) => statistics[0].0 = values,
            (LATEST_COUNTERS, TensorValues::I64(values)) => statistics[0].1 = values,
            (BEST_VALUES, TensorValues::F32(values)) => statistics[1].0 = values,
            (BEST_COUNTERS, TensorValues::I64(values)) => statistics[1].1 = values,
            (_, TensorValues::F32(values)) => arenas.push((name, values)),
            _ => return Err(damaged()),
        }
    }
    let [train_loss, valid_losses] = losses;
    let train_loss = *train_loss.first().ok_or_else(damaged)?;
    let step = entry(STEP)?.as_u64().ok_or_else(damaged)?;
    let finished = entry(FINISHED)?.as_bool().ok_or_else(damaged)?;
    let scaler = metadata.get(SCALER).map(|text| serde_json::from_str(text)).transpose();
    let scaler: Option<GradScaler> = scaler.map_err(|_| damaged())?;
    if scaler.as_ref().is_some_and(|scaler| scaler.skipped() > step) {
        return Err(damaged());
    }
    Ok(Some(SavedState {
        step,
        finished,
        path: path.clone(),
        arenas,
        statistics,
        train_loss,
        valid_losses,
        scaler,
    }))
}

/// Whether all processes continue from the same state, which process 0 keeps.
fn check_same_state(
    reduction: &dyn Reduction,
    file: Option<&StateFile>,
    saved: Option<&SavedState>,
) -> Result<(), StateError> {
    // The step that comes next; a trained network has none.
    let next = saved.map_or(0.0, |saved| if saved.finished { f64::INFINITY } else { saved.step as f64 });
    let of_all = reduction.gather(vec![next]);
    let Some(rank) = of_all.iter().position(|of_process| *of_process != of_all[0]) else { return Ok(()) };
    let dir = file.and_then(|file| file.path.parent()).map(Path::to_owned).unwrap_or_default();
    Err(StateError::StateOfOthers { dir, process: reduction.name(rank), first: reduction.name(0) })
}

/// Keeps a trained network, with its optimiser if there is one.
fn finish_state(
    file: &StateFile,
    params: &Params,
    outcome: &Outcome,
    optimizer: Option<&KeptOptimizer>,
) -> Result<(), StateError> {
    let states = optimizer.iter().flat_map(|optimizer| &optimizer.states);
    let states = states.map(|(name, values)| (name.as_str(), &values[..]));
    let valid_losses: Vec<f64> = outcome.valid_loss.into_iter().collect();
    let state = State {
        step: outcome.steps,
        train_loss: outcome.train_loss,
        valid_losses: &valid_losses,
        arenas: std::iter::once((PARAMS, params.arena())).chain(states).collect(),
        latest: Statistics::of(params),
        best: Statistics::default(),
        scaler: optimizer.and_then(|optimizer| optimizer.scaler.clone()),
    };
    write(file, true, &state)
}

/// The writer that keeps the state of a network while it trains; its first failure goes to `failure`.
fn state_writer<'a>(
    file: &'a StateFile,
    failure: &'a mut Option<StateError>,
) -> impl FnMut(&State<'_>) -> ControlFlow<()> + Send + 'a {
    move |state| match write(file, false, state) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            *failure = Some(error);
            ControlFlow::Break(())
        }
    }
}

fn write(file: &StateFile, finished: bool, state: &State<'_>) -> Result<(), StateError> {
    let (step, training) = (state.step.to_string(), file.training.to_string());
    let metadata = [(TRAINING, training), (STEP, step), (FINISHED, finished.to_string())];
    let mut metadata: BTreeMap<_, _> = metadata.map(|(name, value)| (name.to_owned(), value)).into();
    if let Some(scaler) = &state.scaler {
        let text = serde_json::to_string(scaler).expect("a scaler is numbers");
        metadata.insert(SCALER.to_owned(), text);
    }
    let arenas = state.arenas.iter();
    let mut tensors: BTreeMap<String, TensorData> = arenas
        .map(|(name, values)| ((*name).to_owned(), TensorData::f32([values.len()], values.to_vec())))
        .collect();
    for (name, losses) in [(TRAIN_LOSS, &[state.train_loss][..]), (VALID_LOSSES, state.valid_losses)] {
        let losses = TensorData::new([losses.len()], TensorValues::F64(losses.to_vec()));
        tensors.insert(name.to_owned(), losses);
    }
    for (values, counters, Statistics { values: state, counters: counts }) in
        [(LATEST_VALUES, LATEST_COUNTERS, state.latest), (BEST_VALUES, BEST_COUNTERS, state.best)]
    {
        if !state.is_empty() {
            tensors.insert(values.to_owned(), TensorData::f32([state.len()], state.to_vec()));
        }
        if !counts.is_empty() {
            let counts = TensorData::new([counts.len()], TensorValues::I64(counts.to_vec()));
            tensors.insert(counters.to_owned(), counts);
        }
    }
    TensorFile { metadata, tensors }.write(&file.path).map_err(|error| match error {
        CheckpointError::Io { source, .. } => {
            let dir = file.path.parent().unwrap_or(&file.path).to_owned();
            StateError::StateDirectory { dir, source }
        }
        other => other.into(),
    })
}

/// How far the training of a network is, as a file has it.
#[derive(Clone, Debug, PartialEq)]
pub struct StateSummary {
    /// The identity of the training: models, settings and data.
    pub training: Value,
    /// Steps that are done.
    pub step: u64,
    /// Whether nothing is left to be done.
    pub finished: bool,
    /// The loss of the last step.
    pub train_loss: Option<f64>,
    /// The loss of the last check on the validation windows.
    pub valid_loss: Option<f64>,
}

impl StateSummary {
    /// Reads the file of a state.
    ///
    /// # Errors
    /// If it cannot be read, holds something else, or is not as written.
    pub fn read(path: &Path) -> Result<Self, StateError> {
        let TensorFile { metadata, tensors } = read(path)?;
        let entry = |name: &str| metadata_entry(&metadata, name);
        let last = |name: &str| match tensors.get(name)?.values() {
            TensorValues::F64(losses) => losses.last().copied(),
            _ => None,
        };
        let read = || {
            Some(Self {
                training: entry(TRAINING)?,
                step: entry(STEP)?.as_u64()?,
                finished: entry(FINISHED)?.as_bool()?,
                train_loss: last(TRAIN_LOSS),
                valid_loss: last(VALID_LOSSES),
            })
        };
        read().ok_or_else(|| damaged(path))
    }
}

/// The file of a state, as written.
fn read(path: &Path) -> Result<TensorFile, StateError> {
    TensorFile::read_checked(path).map_err(|error| match error {
        CheckpointError::Checksum { path, .. } => {
            let reason = "its checksum is another one or missing, so it was damaged or changed".to_owned();
            StateError::State { path, reason }
        }
        other => other.into(),
    })
}

/// The error that a file holds no state.
fn damaged(path: &Path) -> StateError {
    StateError::State { path: path.to_owned(), reason: "it is not what foretell wrote".to_owned() }
}

fn metadata_entry(metadata: &BTreeMap<String, String>, name: &str) -> Option<Value> {
    serde_json::from_str(metadata.get(name)?).ok()
}

impl SavedState {
    /// The trained model.
    fn finish(&self, params: &mut Params) -> Result<Outcome, StateError> {
        let state = self.state(params, [PARAMS])?;
        state.latest.restore(params, state.arena(PARAMS).expect("it was just checked"));
        Ok(Outcome {
            steps: self.step,
            train_loss: self.train_loss,
            valid_loss: self.valid_losses.last().copied(),
            interrupted: false,
            skipped_steps: 0,
        })
    }

    /// The state to continue from, of a model with such parameters and an optimiser with these states.
    fn state<'s>(
        &'s self,
        params: &Params,
        names: impl IntoIterator<Item = &'s str>,
    ) -> Result<State<'s>, StateError> {
        let len = params.arena().len();
        let damaged = |reason| StateError::State { path: self.path.clone(), reason };
        let arenas: Vec<(&str, &[f32])> =
            self.arenas.iter().map(|(name, values)| (name.as_str(), &values[..])).collect();
        if let Some((name, values)) = arenas.iter().find(|(_, values)| values.len() != len) {
            return Err(damaged(format!("{name} has {} numbers, expected {len}", values.len())));
        }
        if let Some(name) = names.into_iter().find(|name| arenas.iter().all(|(known, _)| known != name)) {
            return Err(damaged(format!("there is no {name} in it")));
        }
        let [latest, best] =
            self.statistics.each_ref().map(|(values, counters)| Statistics { values, counters });
        let expected = Statistics::of(params);
        let sizes = |statistics: Statistics<'_>| (statistics.values.len(), statistics.counters.len());
        let has_best = arenas.iter().any(|(name, _)| *name == BEST);
        for statistics in [Some(latest), has_best.then_some(best)].into_iter().flatten() {
            if sizes(statistics) != sizes(expected) {
                let ((values, counters), (found, counted)) = (sizes(expected), sizes(statistics));
                return Err(damaged(format!(
                    "{found} running statistics and {counted} counters, expected {values} and {counters}"
                )));
            }
        }
        let (step, train_loss, valid_losses) = (self.step, self.train_loss, &self.valid_losses[..]);
        let scaler = self.scaler.clone();
        Ok(State { step, train_loss, valid_losses, arenas, latest, best, scaler })
    }
}

/// Entries of the file's metadata: what identifies the training, how far it is, whether it is done, and the scale of the
/// loss, of a training in `f16`.
const TRAINING: &str = "training";
const STEP: &str = "step";
const FINISHED: &str = "finished";
const SCALER: &str = "grad_scaler";

/// Running statistics and counters of models that have some.
const LATEST_VALUES: &str = "running_statistics";
const LATEST_COUNTERS: &str = "counters";
const BEST_VALUES: &str = "best_running_statistics";
const BEST_COUNTERS: &str = "best_counters";

const TRAIN_LOSS: &str = "train_loss";
const VALID_LOSSES: &str = "valid_losses";
