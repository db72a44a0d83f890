//! Files of PyTorch's and directories of neuralforecast 3.2 and older, made forecasters. Nothing in them is executed.

mod arguments;
mod configuration;
mod loss;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use foretell_checkpoint::{
    CheckpointError, Configuration, Frequency, PickleValue, TensorData, TensorValues, read_pickle,
};
use foretell_data::Freq;
use foretell_models::find;
use serde_json::{Map, Value};

use crate::error::Error;
use crate::fitted_model::FittedModel;
use crate::forecaster::Fitted;
use crate::memory::check_import;
use crate::memory_limit::MemoryLimit;
use crate::saving::{spec_of, with_weights};
use crate::usage_error::UsageError;

/// What files do not say, or what shall be otherwise than they say.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The class of the models, needed where neither the name of a file nor its directory says it.
    pub class: Option<String>,
    /// Hyper-parameters as [`ModelSpec::set`](crate::ModelSpec::set) takes them; they win over those of the files. Of a file of
    /// weights alone, all that differ from their defaults are needed, `h` and `input_size` among them.
    pub settings: Map<String, Value>,
    /// How far apart the times of the data are; needed of a file alone, which does not say it.
    pub freq: Option<Freq>,
    /// The most memory that importing, and forecasts of what was imported, may take.
    pub max_memory: MemoryLimit,
}

/// A forecaster of imported models.
#[derive(Debug)]
pub struct Imported {
    /// The models, to forecast with or to save.
    pub fitted: Fitted,
    /// What of the files was left out, and what it means, in words.
    pub left_out: Vec<String>,
}

impl Fitted {
    /// Reads models that PyTorch wrote: a checkpoint of PyTorch Lightning's (`.ckpt`), a state dictionary (`.pt`), or a directory
    /// that `NeuralForecast.save` of version 3.2 or older wrote. Nothing in the files is executed. What becomes of it is saved by
    /// [`Fitted::save`], and neuralforecast 3.3 reads that.
    ///
    /// # Errors
    /// If a file cannot be read, or needs Python; if `options` lack what it does not say; if its tensors are not those of the
    /// class with the hyper-parameters, with the names and shapes of those that are missing, too much or different.
    pub fn import(from: impl AsRef<Path>, options: &ImportOptions) -> Result<Imported, Error> {
        let from = from.as_ref();
        if from.is_dir() { directory(from, options) } else { file(from, options) }
    }
}

/// One file.
fn file(path: &Path, options: &ImportOptions) -> Result<Imported, Error> {
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
    let fitted = Fitted::assemble(path, configuration, vec![model], options.max_memory.clone())?;
    Ok(Imported { fitted, left_out })
}

/// A directory that NeuralForecast.save wrote.
fn directory(dir: &Path, options: &ImportOptions) -> Result<Imported, Error> {
    let io = |source| CheckpointError::Io { action: "read", path: dir.to_owned(), source };
    let entries: Result<Vec<_>, _> = fs::read_dir(dir).map_err(io)?.collect();
    let paths = entries.map_err(io)?.into_iter().map(|entry| entry.path());
    let mut checkpoints: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "ckpt")).collect();
    checkpoints.sort();
    let sidecar = |name: &str| -> Result<Option<PickleValue>, Error> {
        let path = dir.join(name);
        Ok(if path.exists() { Some(read_pickle(path)?) } else { None })
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
    let fitted = Fitted::assemble(dir, configuration, models, options.max_memory.clone())?;
    Ok(Imported { fitted, left_out })
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
    let stored = read_pickle(path)?;
    let refuse = |reason: String| fault(path, alias.unwrap_or(class), reason);
    let mut arguments = match stored.entry("hyper_parameters") {
        Some(stored) => arguments::read(class, stored, &options.settings, left_out).map_err(refuse)?,
        None => Map::new(),
    };
    if let Some(alias) = alias.filter(|alias| !alias.eq_ignore_ascii_case(class)) {
        arguments.insert("alias".to_owned(), alias.into());
    }
    arguments.extend(options.settings.clone());
    if !arguments.contains_key("h") {
        let reason = format!(
            "the file holds weights alone; give the hyper-parameters of {class} that they were trained with (--set h=12 \
             --set input_size=24 ...)"
        );
        return Err(refuse(reason));
    }
    let spec = spec_of(class, arguments).map_err(|error| refuse(error.to_string()))?;
    let tensors = state_dictionary(stored).map_err(refuse)?;
    let tensors = tensors.iter().filter(|(name, _)| !of_loss(name));
    with_weights(spec, &tensors.map(|(name, tensor)| (name.as_str(), tensor)).collect()).map_err(refuse)
}

/// Losses keep their quantiles beside the weights, and make them anew.
fn of_loss(name: &str) -> bool {
    ["loss.", "valid_loss.", "test_loss."].iter().any(|prefix| name.starts_with(prefix))
}

/// The tensors by their names: of a checkpoint its `state_dict`, else the whole file.
fn state_dictionary(stored: PickleValue) -> Result<BTreeMap<String, TensorData>, String> {
    const REMEDY: &str =
        "save the weights in Python, torch.save(model.state_dict(), 'weights.pt'), and import these";
    let state = stored.entry("state_dict").unwrap_or(&stored);
    let Some(entries) = state.entries() else {
        return Err(format!("the file holds {}, not a dictionary of tensors; {REMEDY}", stored.kind()));
    };
    let tensors = entries.iter().map(|(name, tensor)| match (name, tensor) {
        (PickleValue::Text(name), PickleValue::Array(tensor)) => Ok((name.clone(), single(tensor.clone()))),
        (PickleValue::Text(name), other) => {
            Err(format!("entry {name} of the file is {}, not a tensor; {REMEDY}", other.kind()))
        }
        (other, _) => Err(format!("the file has {} for the name of a tensor; {REMEDY}", other.kind())),
    });
    tensors.collect()
}

/// Real numbers in single precision, however they were stored.
fn single(tensor: TensorData) -> TensorData {
    let shape = tensor.shape().to_vec();
    match tensor.into_values() {
        TensorValues::F64(values) => TensorData::f32(shape, values.iter().map(|&x| x as f32).collect()),
        TensorValues::BF16(values) => TensorData::f32(
            shape,
            values.iter().map(|&x| foretell_simd::bf16::from_bits(x).to_f32()).collect(),
        ),
        TensorValues::F16(values) => TensorData::f32(
            shape,
            values.iter().map(|&x| foretell_simd::f16::from_bits(x).to_f32()).collect(),
        ),
        other => TensorData::new(shape, other),
    }
}
