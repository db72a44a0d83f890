//! Models on their way to a directory, which training must not be lost on.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use foretell::{CheckpointError, Error, Fitted, ModelDirectory};

use crate::failure::Usage;

/// Takes the directory to save models in: no one wants to be told after hours of training that there was no place for
/// the result.
pub(crate) fn take(out: &Path, overwrite: bool) -> anyhow::Result<ModelDirectory> {
    take_for("--out", out, overwrite)
}

/// The same, of the directory that this flag names.
pub(crate) fn take_for(flag: &str, out: &Path, overwrite: bool) -> anyhow::Result<ModelDirectory> {
    let shown = out.display();
    if out.exists() && !out.is_dir() {
        return Err(Usage(format!("{flag} {shown} is a file; name a directory")).into());
    }
    match ModelDirectory::at(out, overwrite) {
        Err(CheckpointError::Exists { .. }) => Err(Usage(format!(
            "{flag} {shown} exists and is not empty; name another directory, or give --overwrite to replace the models in \
             it"
        ))
        .into()),
        taken => Ok(taken?),
    }
}

/// Saves the models; the path that they are at. Where that fails they are saved in a directory of temporary files, which
/// the error names.
pub(crate) fn save_or_keep(
    fitted: &Fitted,
    directory: Result<ModelDirectory, CheckpointError>,
) -> anyhow::Result<PathBuf> {
    let save = |directory: ModelDirectory| fitted.save_at(&directory).map(|()| directory.path().to_owned());
    let error = match directory.map_err(Error::from).and_then(save) {
        Ok(path) => return Ok(path),
        Err(error) => error,
    };
    let kept = || -> Result<_, Error> {
        let failed = |source| CheckpointError::Io { action: "write", path: std::env::temp_dir(), source };
        let kept = tempfile::Builder::new().prefix("foretell-").tempdir().map_err(failed)?;
        fitted.save(kept.path().join("model"), false)?;
        Ok(kept.keep().join("model"))
    };
    match kept() {
        Ok(kept) => Err(error).with_context(|| format!("the models are kept in {}", kept.display())),
        Err(second) => Err(error).with_context(|| format!("the models are lost: {second}")),
    }
}
