//! Where data go: standard output, or a file that is known to be writable before the work begins.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use foretell::{Frame, is_parquet};

use crate::Usage;

/// Prints to standard output; that it is closed is an error here and a success to `main`.
pub(crate) fn print(text: impl AsRef<[u8]>) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_ref()).and_then(|()| out.flush()).context("cannot write to standard output")
}

/// The goal of a table of forecasts.
pub(crate) enum Sink {
    Stdout,
    File(PathBuf),
}

impl Sink {
    /// Standard output where `path` is `-`, else a file, which is tried now and written by [`Sink::write`].
    ///
    /// # Errors
    /// If the path cannot be written, or is the file that the data came from.
    pub(crate) fn open(path: &Path, data: &Path) -> anyhow::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Stdout);
        }
        if matches!((path.canonicalize(), data.canonicalize()), (Ok(out), Ok(data)) if out == data) {
            return Err(Usage(format!("--out {} would overwrite the data", path.display())).into());
        }
        if is_parquet(path) && cfg!(not(feature = "parquet")) {
            let message = "this foretell was built without Parquet; name a .csv file, or build it with the feature \
                           `parquet`";
            return Err(Usage(format!("--out {}: {message}", path.display())).into());
        }
        try_file(path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self::File(path.to_owned()))
    }

    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }

    /// Writes the table: as Parquet to a file that is called so, else as CSV.
    pub(crate) fn write(self, frame: &Frame) -> anyhow::Result<()> {
        match self {
            Self::Stdout => {
                // Written by ourselves, so that the system's error is not hidden in one about CSV.
                let mut csv = Vec::new();
                frame.write_csv(&mut csv)?;
                print(csv)
            }
            Self::File(path) => File::create(&path)
                .map_err(anyhow::Error::new)
                .and_then(|file| match is_parquet(&path) {
                    #[cfg(feature = "parquet")]
                    true => Ok(frame.write_parquet(file)?),
                    _ => Ok(frame.write_csv(file)?),
                })
                .with_context(|| format!("cannot write {}", path.display())),
        }
    }
}

/// Whether the file can be written, without a change to it.
fn try_file(path: &Path) -> io::Result<()> {
    let found = fs::metadata(path);
    // Whoever reads a pipe would take its being opened and closed for the end.
    if found.as_ref().is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Ok(());
    }
    File::options().write(true).create(true).truncate(false).open(path)?;
    if found.is_err() { fs::remove_file(path) } else { Ok(()) }
}
