//! Forecasters from files of PyTorch's and directories of neuralforecast 3.2 and older. Nothing in them is executed.

mod configuration;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foretell_calendar::Freq;
use foretell_checkpoint::{CheckpointError, Configuration, Frequency, PickleValue, read_pickle};
use foretell_estimator::MemoryLimit;
use foretell_neural::{find, import_model};
use serde_json::{Map, Value};

use crate::directory::saving::assemble;
use crate::error::Error;
use crate::fitted_model::FittedModel;
use crate::memory::check_import;
use crate::trained_models::TrainedModels;
use crate::usage_error::UsageError;

/// Settings that files lack, or that shall differ from those of the files.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ImportOptions {
    /// The class of the models, needed where neither the name of a file nor its directory says it.
    pub class: Option<String>,
    /// Hyper-parameters as [`ModelSpec::set`](crate::ModelSpec::set) takes them; they win over those of the files. Of a file of
    /// weights alone, all that differ from their defaults are needed, `h` and `input_size` among them.
    pub settings: Map<String, Value>,
    /// How far apart the times of the data are; needed of a file alone, which does not say it.
    pub freq: Option<Freq>,
    /// The most memory that importing, and forecasts with the imported models, may take.
    pub max_memory: MemoryLimit,
}

impl ImportOptions {
    /// No settings but those of the files.
    pub fn new() -> Self {
        Self::default()
    }

    /// The class of the models.
    pub fn class(self, class: impl Into<String>) -> Self {
        Self { class: Some(class.into()), ..self }
    }

    /// Hyper-parameters that win over those of the files.
    pub fn settings(self, settings: Map<String, Value>) -> Self {
        Self { settings, ..self }
    }

    /// How far apart the times of the data are.
    pub fn freq(self, freq: Freq) -> Self {
        Self { freq: Some(freq), ..self }
    }

    /// The most memory that importing, and forecasts with the imported models, may take.
    pub fn max_memory(self, max_memory: MemoryLimit) -> Self {
        Self { max_memory, ..self }
    }
}

/// Reads a file or a directory that PyTorch wrote; what of it was left out, in words.
pub(crate) fn import(from: &Path, options: &ImportOptions) -> Result<(TrainedModels, Vec<String>), Error> {
    if from.is_dir() { directory(from, options) } else { file(from, options) }
}

/// One file.
fn file(path: &Path, options: &ImportOptions) -> Result<(TrainedModels, Vec<String>), Error> {
    check_import(path, &[path.to_owned()], &options.max_memory)?;
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    // As NeuralForecast.save names files: NHITS_0.ckpt.
    let named = [Some(stem), stem.rsplit_once('_').map(|(name, _)| name)];
    let named = named.into_iter().flatten().find(|name| find(name).is_some());
    let class = options.class.as_deref().or(named);
    let class = class.ok_or_else(|| UsageError::NoClass { path: path.to_owned() })?;
    let freq = options.freq.ok_or_else(|| UsageError::NoFreq { path: path.to_owned() })?;
    let mut left_out = Vec::new();
    let model = model(path, class, None, options, &mut left_out)?;
    let configuration = Configuration::new(model.spec().h(), frequency(freq));
    let trained = assemble(path, configuration, vec![model], options.max_memory.clone())?;
    Ok((trained, left_out))
}

/// A directory that NeuralForecast.save wrote.
fn directory(dir: &Path, options: &ImportOptions) -> Result<(TrainedModels, Vec<String>), Error> {
    let io = |source| CheckpointError::Io { action: "read", path: dir.to_owned(), source };
    let entries: Result<Vec<_>, _> = fs::read_dir(dir).map_err(io)?.collect();
    let paths = entries.map_err(io)?.into_iter().map(|entry| entry.path());
    let mut checkpoints: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "ckpt")).collect();
    checkpoints.sort();
    let sidecar = |name: &str| -> Result<Option<PickleValue>, Error> {
        let path = dir.join(name);
        Ok(if path.exists() { Some(read_pickle(path, options.max_memory.bytes())?) } else { None })
    };
    let Some(stored) = sidecar("configuration.pkl")?.filter(|_| !checkpoints.is_empty()) else {
        let hint = "a directory of neuralforecast 3.2 or older has it, and a .ckpt file for each model; newer ones need no \
                    import";
        return Err(CheckpointError::Missing { path: dir.join("configuration.pkl"), hint }.into());
    };
    check_import(dir, &checkpoints, &options.max_memory)?;
    let classes = sidecar("alias_to_model.pkl")?;
    let mut left_out = Vec::new();
    let mut models = Vec::new();
    for path in &checkpoints {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let alias = stem.rsplit_once('_').map_or(stem, |(alias, _)| alias);
        let known = classes.as_ref().and_then(|classes| classes.entry(alias)?.as_text());
        let class = options.class.as_deref().or(known).unwrap_or(alias);
        models.push(model(path, class, Some(alias), options, &mut left_out)?);
    }
    let h = models[0].spec().h();
    let configuration = configuration::read(&stored, h, options.freq.map(frequency), &mut left_out)
        .map_err(|reason| fault(&dir.join("configuration.pkl"), models[0].spec().alias(), reason))?
        .ok_or_else(|| UsageError::NoFreq { path: dir.to_owned() })?;
    if dir.join("dataset.pkl").exists() {
        left_out.push(
            "dataset.pkl, the training data: forecasts are made from those that predict is given".to_owned(),
        );
    }
    let trained = assemble(dir, configuration, models, options.max_memory.clone())?;
    Ok((trained, left_out))
}

fn frequency(freq: Freq) -> Frequency {
    let word = freq.to_string();
    word.parse().map_or(Frequency::Alias(word), Frequency::Step)
}

fn fault(path: &Path, alias: &str, reason: String) -> Error {
    Error::Model { path: path.to_owned(), alias: alias.to_owned(), reason }
}

/// The model of a file. `alias` is that of its directory.
fn model(
    path: &Path,
    class: &str,
    alias: Option<&str>,
    options: &ImportOptions,
    left_out: &mut Vec<String>,
) -> Result<FittedModel, Error> {
    let network = import_model(path, class, alias, &options.settings, left_out, options.max_memory.bytes())?;
    let network = network.map_err(|reason| fault(path, alias.unwrap_or(class), reason))?;
    Ok(FittedModel::new(Arc::new(network)))
}
