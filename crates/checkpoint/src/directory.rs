//! The place of a model directory, and which files are its own.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use foretell_files::{DirectoryPlace, open_regular, read_regular};
use serde_json::Value;

use crate::error::{CheckpointError, Result};
use crate::open_tensors::header_bytes;

pub(crate) const CONFIGURATION: &str = "configuration.json";
pub(crate) const CONFIGURATION_TENSORS: &str = "configuration.safetensors";
pub(crate) const DATASET: &str = "dataset.json";
pub(crate) const DATASET_TENSORS: &str = "dataset.safetensors";

/// The file of the numbers that models other than networks have learned, in the layout of safetensors: neuralforecast takes
/// each file that ends in `.safetensors` for one of its own models.
pub(crate) const NUMBERS: &str = "foretell_models.bin";

/// The file of the optimisers of trainings, likewise.
pub(crate) const OPTIMIZERS: &str = "foretell_optimizers.bin";

/// The configuration of neuralforecast 3.2 and older.
const LEGACY: &str = "configuration.pkl";

/// A place to save models at, which no other process writes to meanwhile.
///
/// Errors that are known before anything is saved are raised when it is taken: worth doing before a long training.
#[derive(Debug)]
pub struct ModelDirectory {
    place: DirectoryPlace,
    overwrite: bool,
}

impl ModelDirectory {
    /// Takes a path. Its parents are created, and removed again unless something is saved there.
    ///
    /// With `overwrite`, a model directory is replaced that foretell or neuralforecast wrote, if nothing else is in
    /// it; without, only an empty directory is.
    ///
    /// # Errors
    /// If there is something else, the path cannot be written, or another process writes there.
    pub fn at(path: impl AsRef<Path>, overwrite: bool) -> Result<Self> {
        let directory = Self { place: DirectoryPlace::at(path.as_ref(), is_own)?, overwrite };
        directory.check()?;
        Ok(directory)
    }

    /// The path as the caller wrote it.
    pub fn path(&self) -> &Path {
        self.place.path()
    }

    /// Whether there are models that would be replaced.
    pub fn is_occupied(&self) -> bool {
        fs::read_dir(self.place.place()).is_ok_and(|mut entries| entries.next().is_some())
    }

    /// Lets `fill` write the files of the directory, which then takes the place of the one that is there.
    pub(crate) fn replace(&self, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        self.check()?;
        self.place.replace(fill)
    }

    /// Checks that the contents of the directory may be replaced.
    fn check(&self) -> Result<()> {
        let path = self.path().to_path_buf();
        if !self.is_occupied() {
            return Ok(());
        }
        if !self.overwrite {
            return Err(CheckpointError::Exists { path });
        }
        let found = foreign(self.place.place())?;
        match found.is_empty() {
            true => Ok(()),
            false => Err(CheckpointError::NotACheckpoint { path, found }),
        }
    }
}

/// The entries of a directory that belong to no model directory, or the one that it lacks to be a model directory.
fn foreign(directory: &Path) -> Result<Vec<String>> {
    let (mut foreign, mut configured) = (Vec::new(), false);
    let failed = |error| CheckpointError::io("read", directory, error);
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        // A link may lead to a file that others use too.
        let plain = entry.file_type().map_err(failed)?.is_file();
        if !plain || !is_own(&name) || !says_so(&entry.path())? {
            foreign.push(name.to_string_lossy().into_owned());
        }
        configured |= name == CONFIGURATION || name == LEGACY;
    }
    foreign.sort();
    if foreign.is_empty() && !configured {
        foreign.push(format!("no {CONFIGURATION}"));
    }
    Ok(foreign)
}

/// Whether a file of this name may be one of a model directory, also of an old one.
pub(crate) fn is_own(name: &OsStr) -> bool {
    const FIXED: [&str; 9] = [
        CONFIGURATION, CONFIGURATION_TENSORS, DATASET, DATASET_TENSORS, NUMBERS, OPTIMIZERS, LEGACY,
        "dataset.pkl", "alias_to_model.pkl",
    ];
    let Some(name) = name.to_str() else { return false };
    let model = name.strip_suffix(".safetensors").or_else(|| name.strip_suffix(".ckpt"));
    let number = model.and_then(|model| model.rsplit_once('_')).map(|(_, number)| number);
    FIXED.contains(&name)
        || number
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()))
}

/// Whether a file of such a name says that it is one: programs of all kinds have a configuration.json. Pickles say
/// nothing that can be read here.
fn says_so(path: &Path) -> Result<bool> {
    let ending = path.extension().unwrap_or_default();
    if path.ends_with(CONFIGURATION) {
        let document: Option<Value> = serde_json::from_slice(&read_regular(path)?).ok();
        return Ok(document.is_some_and(|document| document.get("nf_format").is_some()));
    }
    if ending == "safetensors" || path.ends_with(NUMBERS) || path.ends_with(OPTIMIZERS) {
        return Ok(header(path)?.is_some_and(|header| header["__metadata__"].get("nf_format").is_some()));
    }
    Ok(true)
}

/// The header of a safetensors file, if it is one.
fn header(path: &Path) -> Result<Option<Value>> {
    let mut file = open_regular(path)?;
    let header = header_bytes(&mut file).map_err(|error| CheckpointError::io("read", path, error))?;
    Ok(header.and_then(|header| serde_json::from_slice(&header).ok()))
}

/// Creates a file that must not exist and flushes it to the disk.
pub(crate) fn create_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let attempt = || -> io::Result<()> {
        let mut file = File::create_new(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    attempt().map_err(|e| CheckpointError::io("write", path, e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_models_are_told_from_others() {
        for own in [
            "configuration.json", "dataset.safetensors", "NHITS_0.safetensors", "my_model_12.safetensors",
            "M_0.ckpt",
        ] {
            assert!(is_own(own.as_ref()), "{own}");
        }
        for other in [
            "sales.csv", "model.safetensors", "model_v.safetensors", "model_.ckpt", "Configuration.json",
            "x.pkl",
        ] {
            assert!(!is_own(other.as_ref()), "{other}");
        }
    }

    #[test]
    fn files_of_other_programs_are_foreign_by_their_content() {
        let home = tempfile::tempdir().unwrap();
        let put = |name: &str, bytes: &[u8]| fs::write(home.path().join(name), bytes).unwrap();
        put(CONFIGURATION, br#"{"editor.fontSize": 12}"#);
        put("adapter_0.safetensors", &[&2_u64.to_le_bytes()[..], b"{}"].concat());
        put("cut_1.safetensors", &u64::MAX.to_le_bytes());
        assert_eq!(
            foreign(home.path()).unwrap(),
            ["adapter_0.safetensors", CONFIGURATION, "cut_1.safetensors"]
        );
        put(CONFIGURATION, br#"{"nf_format": "2"}"#);
        let header = br#"{"__metadata__":{"nf_format":"2"}}"#;
        for name in ["adapter_0.safetensors", "cut_1.safetensors"] {
            put(name, &[&(header.len() as u64).to_le_bytes()[..], header].concat());
        }
        assert!(foreign(home.path()).unwrap().is_empty());
        fs::remove_file(home.path().join(CONFIGURATION)).unwrap();
        assert_eq!(foreign(home.path()).unwrap(), ["no configuration.json"]);
    }
}
