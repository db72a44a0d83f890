//! The state of a training run on disk, so that a run that was killed goes on where it was.
//!
//! Each model has a file, which is replaced as a whole: a kill at any moment leaves the previous state or the new
//! one. The file says of which training it is: with which models, settings and data.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use foretell_checkpoint::{CheckpointError, TensorData, TensorFile, TensorValues};
use foretell_data::{LocalScaler, Panel};
use foretell_files::{FileError, Lock, is_leftover};
use foretell_nn::{Key, Params};
use foretell_train::{BEST, GradScaler, Outcome, PARAMS, Precision, State, Statistics};
use serde_json::{Map, Value, json};

use crate::columns::{column_names, columns_read};
use crate::error::Error;
use crate::forecaster::Forecaster;
use crate::spec::ModelSpec;
use crate::usage_error::UsageError;

/// Where the state is kept, and how often.
#[derive(Debug)]
pub(crate) struct Checkpointing {
    dir: PathBuf,
    every: u64,
    /// Held from the first training on, so that no other process keeps its state there.
    lock: Option<Lock>,
}

impl Forecaster {
    /// Keeps the state of training in `dir` every `every_steps` steps, and goes on from there if `dir` holds
    /// it: a run that was killed, or that the listener interrupted, ends with the same weights, to the last bit, as one
    /// that was not. It must be the same training: models, settings and data. The state of a finished run stays
    /// until [`remove_training_state`].
    ///
    /// # Panics
    /// If `every_steps` is 0.
    pub fn checkpoint_to(mut self, dir: impl Into<PathBuf>, every_steps: u64) -> Self {
        assert!(every_steps > 0, "a state every 0 steps");
        self.checkpointing = Some(Checkpointing { dir: dir.into(), every: every_steps, lock: None });
        self
    }

    /// The files that keep the state of training, if it is to be kept.
    pub(crate) fn state_files(
        &mut self,
        panel: &Panel,
        test_size: usize,
    ) -> Result<Option<StateFiles>, Error> {
        let Some(checkpointing) = &mut self.checkpointing else { return Ok(None) };
        checkpointing.take()?;
        let (dir, every) = (checkpointing.dir.clone(), checkpointing.every);
        let name = |scaler: Option<LocalScaler>| Value::from(scaler.map(LocalScaler::name));
        let further = [
            ("val_size", self.val_size.into()),
            ("test_size", test_size.into()),
            ("restore_best", self.restore_best.into()),
            ("local_scaler", name(self.local_scalers.series)),
            ("local_static_scaler", name(self.local_scalers.statics)),
        ];
        let mut further: Map<_, _> =
            further.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
        if self.precision != Precision::F32 {
            further.insert("precision".to_owned(), self.precision.name().into());
        }
        let training = settings(&self.specs, panel, further)?;
        Ok(Some(StateFiles { every, dir, number: self.trainings, training }))
    }
}

impl Checkpointing {
    /// Makes the directory, if there is none, and locks it.
    fn take(&mut self) -> Result<(), Error> {
        if self.lock.is_none() {
            fs::create_dir_all(&self.dir).map_err(|source| unusable(&self.dir, source))?;
            self.lock = Some(lock(&self.dir)?);
            let of_killed = |name: &str| is_leftover(name).is_some_and(is_state);
            remove(&self.dir, of_killed).map_err(|source| unusable(&self.dir, source))?;
        }
        Ok(())
    }
}

/// The state of one training run.
pub(crate) struct StateFiles {
    pub(crate) every: u64,
    dir: PathBuf,
    /// Which of the forecaster's trainings it is.
    number: usize,
    /// The models, settings and data, as the files have it.
    training: Value,
}

/// The state of one model, as it was found.
pub(crate) struct SavedState {
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

/// What a training run is determined by, beside its models and data.
fn settings(specs: &[ModelSpec], panel: &Panel, further: Map<String, Value>) -> Result<Value, Error> {
    let models = specs.iter().zip(column_names(specs)).enumerate().map(|(place, (spec, name))| {
        let mut own = spec.hyper_parameters();
        own.insert("model".to_owned(), spec.name().into());
        own.insert(PLACE.to_owned(), place.into());
        (name, Value::from(own))
    });
    let mut training = further;
    training.insert(MODELS.to_owned(), Value::Object(models.collect()));
    training.insert("foretell".to_owned(), env!("CARGO_PKG_VERSION").into());
    training.insert("data".to_owned(), fingerprint(specs, panel)?);
    Ok(training.into())
}

/// Sizes of the panel, and a number for its values, those that the models read.
fn fingerprint(specs: &[ModelSpec], panel: &Panel) -> Result<Value, Error> {
    let numbers = |key: Key, values: &[f32]| {
        values.iter().fold(key.fold(values.len() as u64), |key, value| key.fold(value.to_bits().into()))
    };
    let mut key = Key::new(0);
    for series in 0..panel.n_series() {
        key = panel.id(series).bytes().fold(key, |key, byte| key.fold(byte.into()));
        key = key.fold(panel.times(series).next().unwrap_or(0) as u64);
        key = numbers(key, panel.y(series));
        for values in [panel.available_mask(series), panel.sample_weight(series)] {
            key = numbers(key, values.unwrap_or_default());
        }
        for column in columns_read(specs) {
            key = numbers(key, panel.column(&column, series)?);
        }
        for column in specs.iter().flat_map(ModelSpec::stat_exog_list) {
            key = numbers(key, &[panel.static_value(column, series)?]);
        }
    }
    Ok(json!({
        "series": panel.n_series(),
        "rows": panel.n_rows(),
        "frequency": panel.freq().to_string(),
        "values": format!("{:016x}", key.bits(0)),
    }))
}

impl StateFiles {
    fn path(&self, model: usize) -> PathBuf {
        self.dir.join(format!("{PREFIX}{}{MIDDLE}{model}{ENDING}", self.number))
    }

    /// The state of a model, if there is one.
    pub(crate) fn find(&self, model: usize) -> Result<Option<SavedState>, Error> {
        let path = self.path(model);
        if !path.exists() {
            return Ok(None);
        }
        let TensorFile { metadata, tensors } = TensorFile::read(&path)?;
        let damaged =
            || Error::State { path: path.clone(), reason: "it is not what foretell wrote".to_owned() };
        let entry = |name: &str| {
            let text = metadata.get(name).ok_or_else(damaged)?;
            serde_json::from_str::<Value>(text).map_err(|_| damaged())
        };
        let mut differences = Vec::new();
        differ("", &entry("training")?, &self.training, &mut differences);
        if !differences.is_empty() {
            return Err(UsageError::OtherTraining {
                dir: self.dir.clone(),
                differences: differences.join(", "),
            }
            .into());
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
        let step = entry("step")?.as_u64().ok_or_else(damaged)?;
        let finished = entry("finished")?.as_bool().ok_or_else(damaged)?;
        let scaler = metadata.get(SCALER).map(|text| serde_json::from_str(text)).transpose();
        let scaler: Option<GradScaler> = scaler.map_err(|_| damaged())?;
        if scaler.as_ref().is_some_and(|scaler| scaler.skipped() > step) {
            return Err(damaged());
        }
        Ok(Some(SavedState { step, finished, path, arenas, statistics, train_loss, valid_losses, scaler }))
    }

    /// The digest that identifies the training.
    pub(crate) fn digest(&self) -> String {
        digest(&self.training.to_string())
    }

    /// Keeps the state of a model in training.
    pub(crate) fn keep(&self, model: usize, state: &State<'_>) -> Result<(), Error> {
        self.write(model, false, state)
    }

    /// Keeps a trained model.
    pub(crate) fn finish(&self, model: usize, params: &Params, outcome: &Outcome) -> Result<(), Error> {
        let valid_losses: Vec<f64> = outcome.valid_loss.into_iter().collect();
        let state = State {
            step: outcome.steps,
            train_loss: outcome.train_loss,
            valid_losses: &valid_losses,
            arenas: vec![(PARAMS, params.arena())],
            latest: Statistics::of(params),
            best: Statistics::default(),
            scaler: None,
        };
        self.write(model, true, &state)
    }

    fn write(&self, model: usize, finished: bool, state: &State<'_>) -> Result<(), Error> {
        let (step, training) = (state.step.to_string(), self.training.to_string());
        let metadata = [("training", training), ("step", step), ("finished", finished.to_string())];
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
        let path = self.path(model);
        TensorFile { metadata, tensors }.write(&path).map_err(|error| match error {
            CheckpointError::Io { source, .. } => unusable(&self.dir, source),
            other => other.into(),
        })
    }

    /// What keeps the state of a model while it trains; its first failure goes to `failure`.
    pub(crate) fn writer<'a>(
        &'a self,
        model: usize,
        failure: &'a mut Option<Error>,
    ) -> impl FnMut(&State<'_>) -> ControlFlow<()> + Send + 'a {
        move |state| match self.keep(model, state) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                *failure = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}

impl SavedState {
    /// The trained model, if it is one.
    pub(crate) fn finished(&self, params: &mut Params) -> Result<Option<Outcome>, Error> {
        if !self.finished {
            return Ok(None);
        }
        let state = self.state(params, [PARAMS])?;
        state.latest.restore(params, state.arena(PARAMS).expect("it was just checked"));
        Ok(Some(Outcome {
            steps: self.step,
            train_loss: self.train_loss,
            valid_loss: self.valid_losses.last().copied(),
            interrupted: false,
            skipped_steps: 0,
        }))
    }

    /// The state to go on from, of a model with such parameters and an optimiser with these states.
    pub(crate) fn state<'s>(
        &'s self,
        params: &Params,
        names: impl IntoIterator<Item = &'s str>,
    ) -> Result<State<'s>, Error> {
        let len = params.arena().len();
        let damaged = |reason| Error::State { path: self.path.clone(), reason };
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
        let sizes = |found: Statistics<'_>| (found.values.len(), found.counters.len());
        let has_best = arenas.iter().any(|(name, _)| *name == BEST);
        for found in [Some(latest), has_best.then_some(best)].into_iter().flatten() {
            if sizes(found) != sizes(expected) {
                let ((values, counters), (found, counted)) = (sizes(expected), sizes(found));
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

/// Files are called `training-0-model-0.safetensors`.
const PREFIX: &str = "training-";
const MIDDLE: &str = "-model-";
const ENDING: &str = ".safetensors";

/// Where the settings of the models are.
pub(crate) const MODELS: &str = "models";
/// Which of the models it is, among its settings.
pub(crate) const PLACE: &str = "place among the models";

/// Running statistics and counters of models that have some.
const LATEST_VALUES: &str = "running_statistics";
const LATEST_COUNTERS: &str = "counters";
const BEST_VALUES: &str = "best_running_statistics";
const BEST_COUNTERS: &str = "best_counters";

/// The scale of the loss, of a training in `f16`.
const SCALER: &str = "grad_scaler";

pub(crate) const TRAIN_LOSS: &str = "train_loss";
pub(crate) const VALID_LOSSES: &str = "valid_losses";

/// Removes the state of a training run that [`Forecaster::checkpoint_to`](crate::Forecaster::checkpoint_to) kept, and
/// the directory if nothing else is in it. No other file of the directory is touched.
///
/// # Errors
/// If it cannot be removed, or a training keeps its state there at the moment.
pub fn remove_training_state(dir: impl AsRef<Path>) -> Result<(), Error> {
    let dir = dir.as_ref();
    let lock = lock(dir)?;
    let of_training = |name: &str| is_state(is_leftover(name).unwrap_or(name));
    remove(dir, of_training).map_err(|source| unusable(dir, source))?;
    drop(lock);
    // One with other files in it stays, and so does one that is a link or a mount point.
    let _ = fs::remove_dir(dir);
    Ok(())
}

/// Removes the files of these names.
fn remove(dir: &Path, which: impl Fn(&str) -> bool) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(&which) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Whether a file of this name holds the state of a model.
fn is_state(name: &str) -> bool {
    numbers(name).is_some()
}

/// The training and the model whose state a file of this name holds.
fn numbers(name: &str) -> Option<(usize, usize)> {
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok());
    let (training, model) = name.strip_prefix(PREFIX)?.strip_suffix(ENDING)?.split_once(MIDDLE)?;
    Some((number(training)??, number(model)??))
}

/// The files of a directory that hold states: the training, the model, the path.
pub(crate) fn state_files(dir: &Path) -> Vec<(usize, usize, PathBuf)> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let state = |entry: fs::DirEntry| {
        let (training, model) = numbers(entry.file_name().to_str()?)?;
        Some((training, model, entry.path()))
    };
    entries.flatten().filter_map(state).collect()
}

/// The digests of the trainings whose states a directory holds.
pub(crate) fn trainings_in(dir: &Path) -> Vec<String> {
    let training = |(_, _, path): (usize, usize, PathBuf)| {
        TensorFile::read(path).ok()?.metadata.get("training").map(|text| digest(text))
    };
    state_files(dir).into_iter().filter_map(training).collect()
}

/// A number for a training's settings.
fn digest(training: &str) -> String {
    let key = training.bytes().fold(Key::new(0), |key, byte| key.fold(byte.into()));
    format!("{:016x}", key.bits(0))
}

fn lock(dir: &Path) -> Result<Lock, Error> {
    Lock::within(dir).map_err(|error| match error {
        FileError::Io { source, .. } => unusable(dir, source),
        other => CheckpointError::from(other).into(),
    })
}

fn unusable(dir: &Path, source: io::Error) -> Error {
    Error::StateDirectory { dir: dir.to_owned(), source }
}

/// Collects what is not the same in two values, the first few differences, by path.
fn differ(path: &str, was: &Value, is: &Value, differences: &mut Vec<String>) {
    const SHOWN: usize = 4;
    if was == is || differences.len() >= SHOWN {
        return;
    }
    let (Some(old), Some(new)) = (was.as_object(), is.as_object()) else {
        differences.push(format!("{path} was {was} and is {is}"));
        return;
    };
    let added = new.keys().filter(|key| !old.contains_key(*key));
    for key in old.keys().chain(added) {
        let path = match path {
            "" | MODELS => key.clone(),
            _ => format!("{path}.{key}"),
        };
        match (old.get(key), new.get(key)) {
            (Some(was), Some(is)) => differ(&path, was, is, differences),
            (was, _) => {
                differences.push(format!("{path} was {}there", if was.is_some() { "" } else { "not " }))
            }
        }
    }
}
