//! The directory as a whole.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use foretell_files::{DirectoryFiles, FileError};

use crate::checksum::{self, CHECKSUM};
use crate::configuration::Configuration;
use crate::dataset::Dataset;
use crate::directory::{
    CONFIGURATION, CONFIGURATION_TENSORS, DATASET, DATASET_TENSORS, ModelDirectory, NUMBERS, OPTIMIZERS,
    create_file,
};
use crate::error::{CheckpointError, Result};
use crate::file::{self, TensorFile};
use crate::model::{FORMAT, ModelFile, check_format};
use crate::optimizers::{optimizers_file, read_optimizers};
use crate::packed::{pack, unpack};
use crate::plain_model::{ENTRY, PlainModel, numbers_file, read_numbers};
use crate::tagged::{Misfit, Sidecar};

/// The ending of the file of a network.
const ENDING: &str = ".safetensors";

/// A model directory in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// The settings and the state of the forecaster beside its models.
    pub configuration: Configuration,
    /// The models, in the order in which they are forecast with (neuralforecast itself loads them by file name).
    pub models: Vec<ModelFile>,
    /// Models that are no networks.
    pub plain_models: Vec<PlainModel>,
    /// The panel it was fitted on, if stored.
    pub dataset: Option<Dataset>,
}

impl Checkpoint {
    /// Reads a directory that `NeuralForecast.save` or [`Checkpoint::save`] wrote. No matter who replaces it meanwhile, what
    /// is read is one directory or the other.
    ///
    /// # Errors
    /// A file is missing, corrupt, of another format version, or contradicts another.
    pub fn load(dir: impl AsRef<Path>) -> Result<Self> {
        Self::load_and_measure(dir).map(|(checkpoint, _)| checkpoint)
    }

    /// [`load`](Self::load), and the bytes of the files of the format in the directory.
    ///
    /// # Errors
    /// A file is missing, corrupt, of another format version, or contradicts another.
    pub fn load_and_measure(dir: impl AsRef<Path>) -> Result<(Self, u64)> {
        Self::read(&Files::open(dir.as_ref())?)
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// The bytes are something else or were changed since, or the files in them contradict each other.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::from_files(unpack(bytes).map_err(|reason| CheckpointError::Packed { reason })?)
    }

    /// Reads the files of a directory, each with its name: of an archive, or wherever there is no file system.
    ///
    /// # Errors
    /// A file is missing, corrupt, of another format version, or contradicts another.
    pub fn from_files<'f>(files: impl IntoIterator<Item = (String, &'f [u8])>) -> Result<Self> {
        let files = files.into_iter().collect();
        Self::read(&Files { dir: Path::new(""), source: Source::Memory(files) })
            .map(|(checkpoint, _)| checkpoint)
    }

    fn read(files: &Files<'_>) -> Result<(Self, u64)> {
        if !files.contains(CONFIGURATION) {
            return Err(files.no_configuration());
        }
        let path = files.path(CONFIGURATION);
        let mut document = files.json(CONFIGURATION)?;
        check_format(document["nf_format"].clone(), &path)?;
        let Some(Value::Object(entries)) = document.get_mut("configuration").map(Value::take) else {
            return Err(Misfit::new("configuration", "an object", "something else").at(path.display()));
        };
        let sidecar = match files.contains(CONFIGURATION_TENSORS) {
            true => files.sidecar(CONFIGURATION_TENSORS)?,
            false => Sidecar::default(),
        };
        let mut configuration = Configuration::decode(entries, sidecar).map_err(|m| m.at(path.display()))?;
        let mut plain_models: Vec<PlainModel> = match configuration.other.remove(ENTRY) {
            None => Vec::new(),
            Some(models) => serde_json::from_value(models).map_err(|error| {
                Misfit::new(format!("configuration.{ENTRY}"), "a list of models", error.to_string())
                    .at(path.display())
            })?,
        };

        if plain_models.iter().any(|model| !model.learned.is_empty()) {
            if !files.contains(NUMBERS) {
                return Err(CheckpointError::Missing {
                    path: files.path(NUMBERS),
                    hint: "it holds what the models have learned that are no networks; copy the directory again from its source",
                });
            }
            let path = files.path(NUMBERS);
            let file = TensorFile::from_bytes(&files.read(NUMBERS)?, &path)?;
            read_numbers(&mut plain_models, file).map_err(|m| m.at(path.display()))?;
        }

        let mut models = files.models()?;
        models.sort_by_cached_key(|(name, model)| {
            let mut aliases = configuration.alias_to_model.iter();
            let position = aliases.position(|(alias, _)| *alias == model.alias);
            (position.unwrap_or(usize::MAX), number_of(name), name.to_string())
        });
        if let Some(name) = missing_model(&configuration.alias_to_model, &models) {
            return Err(CheckpointError::Missing {
                path: files.path(&name),
                hint: "it belongs to the models of the directory; copy that again from its source",
            });
        }

        if files.contains(OPTIMIZERS) {
            let named = models.iter_mut().map(|(name, model)| (name.trim_end_matches(ENDING), model));
            read_optimizers(named, &files.read(OPTIMIZERS)?, &files.path(OPTIMIZERS))?;
        }
        let dataset = match files.contains(DATASET) {
            true => Some(files.dataset()?),
            false => None,
        };
        let models = models.into_iter().map(|(_, model)| model).collect();
        let checkpoint = Self { configuration, models, plain_models, dataset };
        checkpoint.check().map_err(|m| m.at(files.dir.display()))?;
        Ok((checkpoint, files.bytes()?))
    }

    /// Writes the directory, so that it is there whole or not at all: [`save_at`](Self::save_at) a place that is taken
    /// for it.
    ///
    /// # Errors
    /// The place cannot be written, or holds something that is not to be replaced ([`ModelDirectory::at`]), or the checkpoint
    /// contradicts itself ([`save_at`](Self::save_at)).
    pub fn save(&self, dir: impl AsRef<Path>, overwrite: bool) -> Result<()> {
        self.check().map_err(|m| m.at(dir.as_ref().display()))?;
        self.save_at(&ModelDirectory::at(dir, overwrite)?)
    }

    /// Writes the directory to a hidden sibling, flushes it to the disk and exchanges it with the directory at the path, in one
    /// step where the system can. On failure that directory stays unchanged.
    ///
    /// # Errors
    /// The place cannot be written any more, or the checkpoint contradicts itself: no model, a model of another
    /// horizon, one alias for two classes, a dataset without matching `uids`, `last_dates` and `ds`.
    pub fn save_at(&self, place: &ModelDirectory) -> Result<()> {
        self.save_checked(place, |_| Ok(()))
    }

    /// [`Checkpoint::save_at`], with a look at the files before they take their place: the directory that they are in stays hidden
    /// where `check` finds a fault.
    ///
    /// # Errors
    /// Those of [`Checkpoint::save_at`], and of `check`.
    pub fn save_checked<E: From<CheckpointError>>(
        &self,
        place: &ModelDirectory,
        check: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<(), E> {
        self.check().map_err(|m| m.at(place.path().display()))?;
        let mut found = None;
        let written = place.replace(|staging| {
            self.write_files(|name, bytes| create_file(&staging.join(name), &bytes))?;
            check(staging).map_err(|fault| {
                found = Some(fault);
                CheckpointError::io("check", staging, std::io::ErrorKind::InvalidData.into())
            })
        });
        match found {
            Some(fault) => Err(fault),
            None => Ok(written?),
        }
    }

    /// The files of the directory in one piece, with a checksum: for a database, a cache or another process.
    ///
    /// # Errors
    /// The checkpoint contradicts itself ([`save_at`](Self::save_at)).
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        Ok(pack(&self.to_files()?))
    }

    /// The files of the directory, each with its name.
    ///
    /// # Errors
    /// The checkpoint contradicts itself ([`save_at`](Self::save_at)).
    pub fn to_files(&self) -> Result<Vec<(String, Vec<u8>)>> {
        self.check().map_err(|m| m.at("the models"))?;
        let files = RefCell::new(Vec::new());
        self.write_files(|name, bytes| {
            files.borrow_mut().push((name.to_owned(), bytes));
            Ok(())
        })?;
        Ok(files.into_inner())
    }

    /// Hands over one file after the other, so that only one is in memory twice.
    fn write_files(&self, write: impl Fn(&str, Vec<u8>) -> Result<()>) -> Result<()> {
        let mut numbers = BTreeMap::<&str, usize>::new();
        let mut aliases: Vec<(String, String)> = Vec::new();
        let mut names = Vec::new();
        for model in &self.models {
            let number = numbers.entry(&model.alias).or_default();
            let name = format!("{}_{number}", model.alias);
            write(&format!("{name}{ENDING}"), model.to_bytes())?;
            names.push((name, model));
            if *number == 0 {
                let mut known = self.configuration.alias_to_model.iter();
                let known = known.find(|(alias, _)| *alias == model.alias).cloned();
                aliases.push(known.unwrap_or_else(|| (model.alias.clone(), model.class.to_lowercase())));
            }
            *number += 1;
        }

        let mut sidecar = Sidecar::default();
        let mut entries = self.configuration.encode(&aliases, &mut sidecar);
        if !self.plain_models.is_empty() {
            entries.insert(ENTRY.to_owned(), json!(self.plain_models));
        }
        let document = json!({"nf_format": FORMAT, "configuration": entries});
        write(CONFIGURATION, json_bytes(document))?;
        if !sidecar.0.is_empty() {
            write(CONFIGURATION_TENSORS, sidecar_bytes(&sidecar))?;
        }

        if let Some(file) = numbers_file(&self.plain_models) {
            write(NUMBERS, file.to_bytes())?;
        }
        if let Some(file) = optimizers_file(&names) {
            write(OPTIMIZERS, file.to_bytes())?;
        }

        if let Some(dataset) = &self.dataset {
            let mut sidecar = Sidecar::default();
            let document = dataset.encode(&mut sidecar);
            write(DATASET, json_bytes(document))?;
            write(DATASET_TENSORS, sidecar_bytes(&sidecar))?;
        }
        Ok(())
    }

    /// The first contradiction between the parts.
    fn check(&self) -> Result<(), Misfit> {
        if self.models.is_empty() && self.plain_models.is_empty() {
            return Err(Misfit::new("models", "at least one {alias}_{number}.safetensors", "none"));
        }
        let mut classes = BTreeMap::<&str, &str>::new();
        for model in &self.models {
            let field = format!("model {}", model.alias);
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

/// The files of a directory.
struct Files<'a> {
    dir: &'a Path,
    source: Source<'a>,
}

enum Source<'a> {
    /// Open files.
    Disk(DirectoryFiles),
    /// By their names.
    Memory(BTreeMap<String, &'a [u8]>),
}

impl<'a> Files<'a> {
    fn open(dir: &'a Path) -> Result<Self> {
        const ENDINGS: [&str; 4] = [".json", ".safetensors", ".pkl", ".ckpt"];
        let wanted = |name: &str| {
            [NUMBERS, OPTIMIZERS].contains(&name) || ENDINGS.iter().any(|ending| name.ends_with(ending))
        };
        match DirectoryFiles::open(dir, wanted) {
            Ok(files) => Ok(Self { dir, source: Source::Disk(files) }),
            Err(FileError::Io { source, path, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Err(CheckpointError::Missing { path, hint: "give a directory of saved models" })
            }
            Err(FileError::Io { source, path, .. }) if source.kind() == io::ErrorKind::NotADirectory => {
                Err(CheckpointError::NotADirectory { path })
            }
            Err(error) => Err(error.into()),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    fn contains(&self, name: &str) -> bool {
        match &self.source {
            Source::Disk(files) => files.contains(name),
            Source::Memory(files) => files.contains_key(name),
        }
    }

    fn names(&self) -> Vec<&str> {
        match &self.source {
            Source::Disk(files) => files.names().collect(),
            Source::Memory(files) => files.keys().map(String::as_str).collect(),
        }
    }

    fn read(&self, name: &str) -> Result<Vec<u8>> {
        match &self.source {
            Source::Disk(files) => Ok(files.read(name)?),
            Source::Memory(files) => {
                let missing =
                    CheckpointError::Missing { path: self.path(name), hint: "pack the models again" };
                Ok(files.get(name).ok_or(missing)?.to_vec())
            }
        }
    }

    /// The bytes of all files.
    fn bytes(&self) -> Result<u64> {
        match &self.source {
            Source::Disk(files) => Ok(files.bytes()?),
            Source::Memory(files) => Ok(files.values().map(|bytes| bytes.len() as u64).sum()),
        }
    }

    fn no_configuration(&self) -> CheckpointError {
        if self.names().iter().any(|name| name.ends_with(".ckpt") || name.ends_with(".pkl")) {
            return CheckpointError::Legacy { dir: self.dir.to_path_buf() };
        }
        CheckpointError::Missing {
            path: self.path(CONFIGURATION),
            hint: "this is not a model directory; give one of saved models",
        }
    }

    /// A document, without its checksum if it has one.
    fn json(&self, name: &str) -> Result<Value> {
        let path = self.path(name);
        let mut document: Value = serde_json::from_slice(&self.read(name)?)
            .map_err(|source| CheckpointError::Json { place: path.display().to_string(), source })?;
        let expected = document.as_object_mut().and_then(|entries| entries.shift_remove(CHECKSUM));
        match expected.map(|expected| (expected, checksum::of_json(&document))) {
            Some((expected, found)) if expected != found => {
                Err(CheckpointError::Checksum { path, found: Some(found) })
            }
            _ => Ok(document),
        }
    }

    fn sidecar(&self, name: &str) -> Result<Sidecar> {
        let path = self.path(name);
        let file = TensorFile::from_bytes(&self.read(name)?, &path)?;
        check_format(file.metadata.get("nf_format").cloned(), &path)?;
        Ok(Sidecar(file.tensors))
    }

    /// The models, each with the name of its file.
    fn models(&self) -> Result<Vec<(&str, ModelFile)>> {
        let models = self.names().into_iter().filter(|name| name.ends_with(".safetensors"));
        let models = models.filter(|name| *name != CONFIGURATION_TENSORS && *name != DATASET_TENSORS);
        models.map(|name| Ok((name, ModelFile::from_bytes(&self.read(name)?, &self.path(name))?))).collect()
    }

    fn dataset(&self) -> Result<Dataset> {
        if !self.contains(DATASET_TENSORS) {
            return Err(CheckpointError::Missing {
                path: self.path(DATASET_TENSORS),
                hint: "dataset.json needs it; copy it from its source or delete dataset.json",
            });
        }
        let document = self.json(DATASET)?;
        let mut sidecar = self.sidecar(DATASET_TENSORS)?;
        Dataset::decode(&document, &mut sidecar).map_err(|m| m.at(self.path(DATASET).display()))
    }
}

/// A document with its checksum.
fn json_bytes(mut document: Value) -> Vec<u8> {
    document[CHECKSUM] = checksum::of_json(&document).into();
    document.to_string().into_bytes()
}

fn sidecar_bytes(sidecar: &Sidecar) -> Vec<u8> {
    let metadata = [("nf_format", FORMAT), ("shared", "{}")];
    file::to_bytes(&metadata.map(|(key, value)| (key.into(), value.into())).into(), &sidecar.0)
}

/// The file of a model that must be there beside these: those of an alias are numbered from 0 on, and each alias of the
/// configuration has one, unless somebody put models of other aliases in the directory.
fn missing_model(aliases: &[(String, String)], models: &[(&str, ModelFile)]) -> Option<String> {
    let numbers = |alias: &str| -> BTreeSet<u64> {
        models.iter().filter(|(_, model)| model.alias == alias).map(|(name, _)| number_of(name)).collect()
    };
    let gap = |alias: &str| match numbers(alias) {
        numbers if numbers.contains(&u64::MAX) => None,
        numbers => (0..numbers.len().max(1) as u64).find(|number| !numbers.contains(number)),
    };
    let known = |alias: &String| aliases.iter().any(|(known, _)| known == alias);
    let present = || models.iter().map(|(_, model)| &model.alias);
    let named = aliases.iter().map(|(alias, _)| alias).filter(|_| present().all(known));
    named.chain(present()).find_map(|alias| gap(alias).map(|number| format!("{alias}_{number}.safetensors")))
}

/// The number after the last `_`, for ordering.
fn number_of(name: &str) -> u64 {
    let stem = name.trim_end_matches(".safetensors");
    let number = stem.rsplit_once('_').and_then(|(_, number)| number.parse().ok());
    number.unwrap_or(u64::MAX)
}
