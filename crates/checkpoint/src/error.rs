//! Everything that can be wrong with a file, said in terms of what to do about it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use foretell_files::FileError;

use crate::checksum::CHECKSUM;

/// The result of reading or writing a checkpoint.
pub type Result<T, E = CheckpointError> = std::result::Result<T, E>;

/// Why a checkpoint could not be read or written.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum CheckpointError {
    /// Bytes that hold no models.
    #[error("the bytes hold no models: {reason}")]
    #[strum(serialize = "damaged_model_bytes")]
    Packed {
        /// Why.
        reason: &'static str,
    },
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The attempted action, as a verb: "read", "write", "replace".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file or directory that must be there is not.
    #[error("{} is missing; {hint}", path.display())]
    #[strum(serialize = "missing_path")]
    Missing {
        /// The absent path.
        path: PathBuf,
        /// The contents that it should have, and how to get it.
        hint: &'static str,
    },
    /// The directory holds pickles of neuralforecast 3.2 or older.
    #[error(
        "{dir} was written by neuralforecast 3.2 or older (format 1, pickles); \
         convert it once: with foretell's command `import`, or with neuralforecast 3.3: python -m \
         neuralforecast.migrate {dir}",
        dir = dir.display()
    )]
    #[strum(serialize = "legacy_format")]
    Legacy {
        /// The directory.
        dir: PathBuf,
    },
    /// The file names another format version than the one this crate knows.
    #[error("{} has nf_format {found}, expected \"2\"; write it again with neuralforecast 3.3", path.display())]
    #[strum(serialize = "unknown_format")]
    Format {
        /// The file.
        path: PathBuf,
        /// The version it names.
        found: String,
    },
    /// Not a whole safetensors file.
    #[error("{} is not a whole safetensors file ({reason}); copy it again from its source", path.display())]
    #[strum(serialize = "damaged_file")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The fault of its bytes.
        reason: String,
    },
    /// A file that is not as written.
    #[error(
        "{} was changed since it was written, or damaged: its checksum is {}; copy it again from its source, or, if it was \
         changed on purpose, remove its entry {CHECKSUM}", path.display(), found.as_deref().unwrap_or("missing")
    )]
    #[strum(serialize = "changed_file")]
    Checksum {
        /// The file.
        path: PathBuf,
        /// The checksum of the contents; `None` if the file should name one and does not.
        found: Option<String>,
    },
    /// A file of PyTorch's or a pickle that cannot be read without Python.
    #[error(
        "{path} cannot be read as a file of PyTorch's ({reason}): export the weights in Python, torch.save(model.state_dict(), \
         'weights.pt'), and import these; or convert the directory with neuralforecast 3.3: python -m neuralforecast.migrate \
         DIR",
        path = path.display()
    )]
    #[strum(serialize = "unreadable_pickle")]
    Pickle {
        /// The file.
        path: PathBuf,
        /// The fault.
        reason: String,
    },
    /// A tensor with an element type that has no Rust counterpart here.
    #[error(
        "{}: tensor `{tensor}` has dtype {dtype}, expected a boolean, an integer, F16, BF16, F32, F64 or C64: \
         convert it before saving", path.display()
    )]
    #[strum(serialize = "unknown_dtype")]
    Dtype {
        /// The file.
        path: PathBuf,
        /// The tensor's name.
        tensor: String,
        /// Its dtype, in safetensors' spelling.
        dtype: String,
    },
    /// Text that is not JSON (Python's `NaN` and `Infinity` are not JSON).
    #[error("{place} is not valid JSON: {source}")]
    #[strum(serialize = "invalid_json")]
    Json {
        /// The file, and the entry in it if it is not the whole file.
        place: String,
        /// The parser's reason, with line and column.
        source: serde_json::Error,
    },
    /// JSON without the value that is expected.
    #[error("{place}: `{field}` should be {expected}, found {found}")]
    #[strum(serialize = "invalid_field")]
    Field {
        /// The file or the model.
        place: String,
        /// The path of the value.
        field: String,
        /// The values that are allowed.
        expected: String,
        /// The value found.
        found: String,
    },
    /// The tensors are not those of the model.
    #[error("{place} does not fit the model: {mismatch}")]
    #[strum(serialize = "tensors_do_not_fit")]
    Names {
        /// The file or the model.
        place: String,
        /// The names that are missing or unexpected, and the shapes that differ.
        mismatch: NameMismatch,
    },
    /// A file where a directory is expected.
    #[error("{} is a file; give a directory of saved models", path.display())]
    NotADirectory {
        /// The file.
        path: PathBuf,
    },
    /// The directory to write exists already.
    #[error("{} exists and is not empty; choose another directory or allow overwriting", path.display())]
    #[strum(serialize = "path_exists")]
    Exists {
        /// The directory.
        path: PathBuf,
    },
    /// Overwriting would delete something that is not a checkpoint.
    #[error(
        "{} is not a model directory of foretell or neuralforecast and nothing else, as it holds {}: overwriting would \
         delete what is in it, so choose another directory", path.display(), some_of(found)
    )]
    NotACheckpoint {
        /// The directory.
        path: PathBuf,
        /// The entries in it that belong to no model directory, by name.
        found: Vec<String>,
    },
    /// A file or directory that cannot be written whole.
    #[error(transparent)]
    File(FileError),
}

impl CheckpointError {
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_path_buf(), source }
    }
}

impl From<FileError> for CheckpointError {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Io { action, path, source } => Self::Io { action, path, source },
            other => Self::File(other),
        }
    }
}

/// How the tensors found differ from those expected; see [`check_names`](crate::check_names).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NameMismatch {
    /// Expected, not found.
    pub missing: Vec<String>,
    /// Found, not expected.
    pub unexpected: Vec<String>,
    /// Found with another shape: name, expected shape, found shape.
    pub shapes: Vec<(String, Vec<usize>, Vec<usize>)>,
}

impl fmt::Display for NameMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shapes: Vec<_> = self
            .shapes
            .iter()
            .map(|(name, expected, found)| format!("{name} expected {expected:?} found {found:?}"))
            .collect();
        let parts = [("missing", &self.missing), ("unexpected", &self.unexpected), ("wrong shape", &shapes)];
        let said: Vec<_> = parts
            .into_iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(what, names)| format!("{what}: {}", some_of(names)))
            .collect();
        write!(f, "{}; check that class and hyper-parameters are those it was saved with", said.join("; "))
    }
}

/// The first few names and how many more there are.
fn some_of(names: &[String]) -> String {
    const SHOWN: usize = 6;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
