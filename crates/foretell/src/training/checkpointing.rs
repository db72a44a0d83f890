//! Where the state of training runs is kept on disk, so that a run that was killed resumes where it was.
//!
//! Each model has a file, which its estimator writes. The file says of which training it is: with which models, settings and
//! data.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use foretell_checkpoint::{CheckpointError, TensorFile};
use foretell_data::{Key, Panel};
use foretell_estimator::{Estimator, StateFile};
use foretell_files::{FileError, Lock, is_leftover, read_regular, write_whole};
use foretell_neural::{NetworkError, StateError};
use serde_json::{Map, Value, json};

use crate::columns::{column_names, columns_read};
use crate::error::Error;

/// Where the state is kept, and how often.
#[derive(Debug)]
pub(crate) struct Checkpointing {
    dir: PathBuf,
    every: u64,
    /// Held from the first training on.
    held: Option<StateDirectory>,
}

impl Checkpointing {
    /// A state every `every` steps, of which there is at least one.
    pub(crate) fn new(dir: PathBuf, every: u64) -> Self {
        Self { dir, every, held: None }
    }

    /// The files that keep the state of the models in the training of this number, identified by `training`. `writes` is whether
    /// this process writes them, as one of all that train together does.
    pub(crate) fn state_files(
        &mut self,
        number: usize,
        models: usize,
        training: &Value,
        writes: bool,
    ) -> Result<Vec<StateFile>, Error> {
        if writes {
            self.take()?;
        }
        let path = |model: usize| self.dir.join(format!("{PREFIX}{number}{MIDDLE}{model}{ENDING}"));
        let file = |model| StateFile { path: path(model), every: self.every, training: training.clone() };
        Ok((0..models).map(file).collect())
    }

    /// Makes the directory, if there is none, and locks it.
    fn take(&mut self) -> Result<(), Error> {
        if self.held.is_none() {
            self.held = Some(StateDirectory::take(&self.dir)?);
            let of_killed = |name: &str| is_leftover(name).is_some_and(is_state);
            remove(&self.dir, of_killed).map_err(|source| unusable(&self.dir, source))?;
        }
        Ok(())
    }
}

/// The identity of a training run: the models, the columns of the data that they read, and `further` settings.
pub(crate) fn identify_training(
    models: &[&dyn Estimator],
    panel: &Panel,
    further: Map<String, Value>,
) -> Result<Value, Error> {
    let names = column_names(models.iter().copied());
    let settings = models.iter().zip(names).enumerate().map(|(place, (model, name))| {
        let mut own = model.hyper_parameters();
        own.insert("model".to_owned(), model.name().into());
        own.insert(PLACE.to_owned(), place.into());
        (name, Value::from(own))
    });
    let mut training = further;
    training.insert(StateFile::MODELS.to_owned(), Value::Object(settings.collect()));
    training.insert("foretell".to_owned(), env!("CARGO_PKG_VERSION").into());
    training.insert("data".to_owned(), fingerprint(models, panel)?);
    Ok(training.into())
}

/// Sizes of the panel, and a number for its values, those that the models read.
fn fingerprint(models: &[&dyn Estimator], panel: &Panel) -> Result<Value, Error> {
    let numbers = |key: Key, values: &[f32]| {
        values.iter().fold(key.fold(values.len() as u64), |key, value| key.fold(value.to_bits().into()))
    };
    let mut key = Key::new(0);
    for series in 0..panel.n_series() {
        key = panel.id(series).bytes().fold(key, |key, byte| key.fold(byte.into()));
        key = key.fold(panel.times(series).next().unwrap_or(0) as u64);
        key = numbers(key, panel.y(series));
        if !panel.level(series).is_default() {
            key =
                <[f64; 2]>::from(panel.level(series)).iter().fold(key, |key, part| key.fold(part.to_bits()));
        }
        for values in [panel.available_mask(series), panel.sample_weight(series)] {
            key = numbers(key, values.unwrap_or_default());
        }
        for column in columns_read(models.iter().copied()) {
            key = numbers(key, panel.column(&column, series)?);
        }
        for column in models.iter().flat_map(|model| model.columns_read().stat) {
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

/// Files are called `training-0-model-0.safetensors`.
const PREFIX: &str = "training-";
const MIDDLE: &str = "-model-";
const ENDING: &str = ".safetensors";

/// The file of a search that is kept.
const SEARCH_FILE: &str = "search.json";

/// Which of the models it is, among its settings.
pub(crate) const PLACE: &str = "place among the models";

/// Says that a directory was made for the states in it.
const MADE: &str = "made-for-states";

/// Says which models the training is saved as, and where, which happens before its states are removed.
const MODELS_AT: &str = "models-at";

/// Notes in the directory of a training's states that models with these files, as `Fitted::to_files` gives them, are about to be saved in
/// `models`, so that the same command may replace them after a kill that leaves the states. Nothing is noted where no states are kept.
///
/// # Errors
/// If the note cannot be written.
pub fn note_models_at(dir: &Path, models: &Path, files: Vec<(String, Vec<u8>)>) -> Result<(), Error> {
    if !dir.is_dir() {
        return Ok(());
    }
    let note = note(models, files).map_err(|source| unusable(dir, source))?;
    write_whole(&dir.join(MODELS_AT), &note).map_err(|error| match error {
        FileError::Io { source, .. } => unusable(dir, source),
        other => CheckpointError::from(other).into(),
    })
}

/// Whether this directory holds the models that [`note_models_at`] noted beside the states of a training, and no others.
pub fn is_noted_at(dir: &Path, models: &Path) -> bool {
    // Models are read only where there is a note.
    let Ok(noted) = fs::read(dir.join(MODELS_AT)) else { return false };
    files_of(models).and_then(|files| note(models, files)).is_ok_and(|note| note == noted)
}

/// Where models are, and a number for what their files hold.
fn note(models: &Path, mut files: Vec<(String, Vec<u8>)>) -> io::Result<Vec<u8>> {
    files.sort();
    let fold = |key: Key, bytes: &[u8]| {
        let part =
            |key: Key, part: &[u8]| key.fold(part.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)));
        bytes.chunks(8).fold(key.fold(bytes.len() as u64), part)
    };
    let key = files.iter().fold(Key::new(0), |key, (name, bytes)| fold(fold(key, name.as_bytes()), bytes));
    let mut note = format!("{:016x} ", key.bits(0)).into_bytes();
    note.extend(std::path::absolute(models)?.as_os_str().as_encoded_bytes());
    Ok(note)
}

/// The files of a directory of models, by their names.
fn files_of(models: &Path) -> io::Result<Vec<(String, Vec<u8>)>> {
    let file = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        let bytes = read_regular(&entry.path()).map_err(io::Error::other)?;
        Ok((entry.file_name().to_string_lossy().into_owned(), bytes))
    };
    fs::read_dir(models)?.map(file).collect()
}

/// A directory for the states of trainings or of a search. While it is held, no other process keeps its state there.
#[derive(Debug)]
pub struct StateDirectory {
    dir: PathBuf,
    _lock: Lock,
}

impl StateDirectory {
    /// Takes a directory, and makes it if there is none.
    ///
    /// # Errors
    /// If it cannot be made, or another process holds it.
    pub fn take(dir: &Path) -> Result<Self, Error> {
        let make = || {
            if dir.is_dir() {
                return Ok(());
            }
            fs::create_dir_all(dir)?;
            fs::write(dir.join(MADE), b"")
        };
        make().map_err(|source| unusable(dir, source))?;
        Ok(Self { dir: dir.to_owned(), _lock: lock(dir)? })
    }

    /// What an earlier search kept here, if one did.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn search(&self) -> Result<Option<Vec<u8>>, Error> {
        match fs::read(self.search_file()) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(unusable(&self.dir, source)),
        }
    }

    /// A number for a text, by which a changed one is told.
    pub fn digest(text: &str) -> String {
        digest(text)
    }

    /// The file that a search keeps its results in.
    pub fn search_file(&self) -> PathBuf {
        self.dir.join(SEARCH_FILE)
    }
}

/// Removes the state of a training run or of a search that [`Forecaster::checkpoint_to`](crate::Forecaster::checkpoint_to) kept, and
/// the directory if it was made for that and nothing else is in it. No other file of the directory is touched.
///
/// # Errors
/// If it cannot be removed, or a training keeps its state there at the moment.
pub fn remove_training_state(dir: impl AsRef<Path>) -> Result<(), Error> {
    let dir = dir.as_ref();
    let lock = lock(dir)?;
    let of_training = |name: &str| is_state(is_leftover(name).unwrap_or(name));
    remove(dir, of_training).map_err(|source| unusable(dir, source))?;
    let _ = fs::remove_file(dir.join(MODELS_AT));
    let was_made = fs::remove_file(dir.join(MADE)).is_ok();
    drop(lock);
    if was_made {
        // One with other files in it stays, and so does one that is a link or a mount point.
        let _ = fs::remove_dir(dir);
    }
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

/// Whether a file of this name holds the state of a model or of a search.
fn is_state(name: &str) -> bool {
    numbers(name).is_some() || name == SEARCH_FILE
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

/// A number for what identifies a training, as text.
pub(crate) fn digest(training: &str) -> String {
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
    NetworkError::from(StateError::StateDirectory { dir: dir.to_owned(), source }).into()
}
