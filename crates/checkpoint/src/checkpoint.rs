//! The directory as a whole.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::atomic::{check_target, create_file, replace_directory};
use crate::configuration::Configuration;
use crate::dataset::Dataset;
use crate::error::{CheckpointError, Result};
use crate::file::{self, TensorFile};
use crate::model::{FORMAT, ModelFile, check_format};
use crate::tagged::{Misfit, Sidecar};

const CONFIGURATION: &str = "configuration.json";
const CONFIGURATION_TENSORS: &str = "configuration.safetensors";
const DATASET: &str = "dataset.json";
const DATASET_TENSORS: &str = "dataset.safetensors";

/// A model directory in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// What the forecaster knows beside its models.
    pub configuration: Configuration,
    /// The models, in the order they were given (neuralforecast itself loads them by file name).
    pub models: Vec<ModelFile>,
    /// The panel it was fitted on, if stored.
    pub dataset: Option<Dataset>,
}

impl Checkpoint {
    /// Reads a directory that `NeuralForecast.save` or [`Checkpoint::save`] wrote.
    ///
    /// # Errors
    /// A file is missing, corrupt, of another format version, or contradicts another.
    pub fn load(dir: impl AsRef<Path>) -> Result<Self> {
        let dir = dir.as_ref();
        let files = files_in(dir)?;
        let has = |name: &str| files.iter().any(|file| file == name);
        if !has(CONFIGURATION) {
            return Err(no_configuration(dir, &files));
        }
        let path = dir.join(CONFIGURATION);
        let mut document = read_json(&path)?;
        check_format(document["nf_format"].as_str(), &path)?;
        let Some(Value::Object(entries)) = document.get_mut("configuration").map(Value::take) else {
            return Err(Misfit::new("configuration", "an object", "something else").at(path.display()));
        };
        let sidecar = match has(CONFIGURATION_TENSORS) {
            true => read_sidecar(&dir.join(CONFIGURATION_TENSORS))?,
            false => Sidecar::default(),
        };
        let configuration = Configuration::decode(entries, sidecar).map_err(|m| m.at(path.display()))?;

        let mut models = files
            .iter()
            .filter(|name| name.ends_with(".safetensors"))
            .filter(|name| *name != CONFIGURATION_TENSORS && *name != DATASET_TENSORS)
            .map(|name| Ok((name, ModelFile::read(dir.join(name))?)))
            .collect::<Result<Vec<_>>>()?;
        models.sort_by_cached_key(|(name, model)| {
            let mut aliases = configuration.alias_to_model.iter();
            let position = aliases.position(|(alias, _)| *alias == model.alias);
            (position.unwrap_or(usize::MAX), number_of(name), name.to_string())
        });

        let dataset = match has(DATASET) {
            true => Some(read_dataset(dir)?),
            false => None,
        };
        let checkpoint =
            Self { configuration, models: models.into_iter().map(|(_, model)| model).collect(), dataset };
        checkpoint.check().map_err(|m| m.at(dir.display()))?;
        Ok(checkpoint)
    }

    /// Whether [`save`](Self::save) may write there, as far as that can be told beforehand.
    ///
    /// # Errors
    /// `dir` is there already and may not be replaced.
    pub fn check_target(dir: impl AsRef<Path>, overwrite: bool) -> Result<()> {
        check_target(dir.as_ref(), overwrite)
    }

    /// Writes the directory, so that it is there whole or not at all.
    ///
    /// Everything goes to a hidden sibling, is flushed to the disk and renamed. A non-empty `dir` is
    /// replaced (all of its files) only with `overwrite`, and only if it is a model directory; on
    /// failure it stays as it was. Readers may miss it for the instant between two renames; after a
    /// crash in that instant its old content is in the sibling `.{name}.old-*/previous`.
    ///
    /// # Errors
    /// `dir` is there already, cannot be written, or the checkpoint contradicts itself: no model, a
    /// model of another horizon, one alias for two classes, a dataset without matching `uids`,
    /// `last_dates` and `ds`.
    pub fn save(&self, dir: impl AsRef<Path>, overwrite: bool) -> Result<()> {
        let dir = dir.as_ref();
        self.check().map_err(|m| m.at(dir.display()))?;
        replace_directory(dir, overwrite, |staging| {
            self.write_files(|name, bytes| create_file(&staging.join(name), &bytes))
        })
    }

    /// Hands over one file after the other, so that only one is in memory twice.
    fn write_files(&self, write: impl Fn(&str, Vec<u8>) -> Result<()>) -> Result<()> {
        let mut numbers = BTreeMap::<&str, usize>::new();
        let mut aliases: Vec<(String, String)> = Vec::new();
        for model in &self.models {
            let number = numbers.entry(&model.alias).or_default();
            write(&format!("{}_{number}.safetensors", model.alias), model.to_bytes())?;
            if *number == 0 {
                let mut known = self.configuration.alias_to_model.iter();
                let known = known.find(|(alias, _)| *alias == model.alias).cloned();
                aliases.push(known.unwrap_or_else(|| (model.alias.clone(), model.class.to_lowercase())));
            }
            *number += 1;
        }

        let mut sidecar = Sidecar::default();
        let entries = self.configuration.encode(&aliases, &mut sidecar);
        let document = json!({"nf_format": FORMAT, "configuration": entries});
        write(CONFIGURATION, document.to_string().into_bytes())?;
        if !sidecar.0.is_empty() {
            write(CONFIGURATION_TENSORS, sidecar_bytes(&sidecar))?;
        }

        if let Some(dataset) = &self.dataset {
            let mut sidecar = Sidecar::default();
            let document = dataset.encode(&mut sidecar);
            write(DATASET, document.to_string().into_bytes())?;
            write(DATASET_TENSORS, sidecar_bytes(&sidecar))?;
        }
        Ok(())
    }

    /// The first contradiction between the parts.
    fn check(&self) -> Result<(), Misfit> {
        if self.models.is_empty() {
            return Err(Misfit::new("models", "at least one {alias}_{number}.safetensors", "none"));
        }
        let mut classes = BTreeMap::<&str, &str>::new();
        for model in &self.models {
            let field = model.place();
            if model.alias.is_empty() || model.alias.contains(['/', '\\', '\0']) {
                return Err(Misfit::new(field, "a name fit for a file", format!("{:?}", model.alias)));
            }
            let first = classes.entry(&model.alias).or_insert(&model.class);
            if *first != model.class {
                let found = format!("{first} and {}", model.class);
                return Err(Misfit::new(field, "of one class (give the models aliases)", found));
            }
            if let Some(h) = model.horizon().filter(|h| h.as_u64() != Some(self.configuration.h as u64)) {
                let expected = format!("of horizon {}, as the configuration says", self.configuration.h);
                return Err(Misfit::value(field, expected, h));
            }
            model.check_shared()?;
        }
        let Some(dataset) = &self.dataset else {
            return Ok(());
        };
        dataset.check()?;
        let configuration = &self.configuration;
        for (field, column, rows) in [
            ("configuration.uids", &configuration.uids, dataset.series()),
            ("configuration.last_dates", &configuration.last_dates, dataset.series()),
            ("configuration.ds", &configuration.ds, dataset.rows()),
        ] {
            let found = column.as_ref().map(|column| column.len());
            if found != Some(rows) {
                let found = found.map_or("none".into(), |found| found.to_string());
                return Err(Misfit::new(field, format!("{rows} values, as the dataset has"), found));
            }
        }
        Ok(())
    }
}

/// The names of the files in a directory.
fn files_in(dir: &Path) -> Result<Vec<String>> {
    if !dir.is_dir() {
        let path = dir.to_path_buf();
        return Err(match dir.exists() {
            true => CheckpointError::NotADirectory { path },
            false => CheckpointError::Missing { path, hint: "give the directory that `save` wrote" },
        });
    }
    let failed = |e| CheckpointError::io("read", dir, e);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if let (true, Ok(name)) = (entry.path().is_file(), entry.file_name().into_string()) {
            names.push(name);
        }
    }
    Ok(names)
}

fn no_configuration(dir: &Path, files: &[String]) -> CheckpointError {
    if files.iter().any(|name| name.ends_with(".ckpt") || name.ends_with(".pkl")) {
        return CheckpointError::Legacy { dir: dir.to_path_buf() };
    }
    CheckpointError::Missing {
        path: dir.join(CONFIGURATION),
        hint: "this is not a model directory; give the one that `save` wrote",
    }
}

fn read_json(path: &Path) -> Result<Value> {
    let bytes = std::fs::read(path).map_err(|e| CheckpointError::io("read", path, e))?;
    serde_json::from_slice(&bytes)
        .map_err(|source| CheckpointError::Json { place: path.display().to_string(), source })
}

fn read_sidecar(path: &Path) -> Result<Sidecar> {
    let file = TensorFile::read(path)?;
    check_format(file.metadata.get("nf_format").map(String::as_str), path)?;
    Ok(Sidecar(file.tensors))
}

fn sidecar_bytes(sidecar: &Sidecar) -> Vec<u8> {
    let metadata = [("nf_format", FORMAT), ("shared", "{}")];
    file::to_bytes(&metadata.map(|(key, value)| (key.into(), value.into())).into(), &sidecar.0)
}

fn read_dataset(dir: &Path) -> Result<Dataset> {
    let (json, tensors) = (dir.join(DATASET), dir.join(DATASET_TENSORS));
    if !tensors.is_file() {
        return Err(CheckpointError::Missing {
            path: tensors,
            hint: "dataset.json needs it; copy it from its source or delete dataset.json",
        });
    }
    let document = read_json(&json)?;
    let mut sidecar = read_sidecar(&tensors)?;
    Dataset::decode(&document, &mut sidecar).map_err(|m| m.at(json.display()))
}

/// The number after the last `_`, for ordering.
fn number_of(name: &str) -> u64 {
    let stem = name.trim_end_matches(".safetensors");
    let number = stem.rsplit_once('_').and_then(|(_, number)| number.parse().ok());
    number.unwrap_or(u64::MAX)
}
