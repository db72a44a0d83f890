//! The files that the demo writes. It replaces none that it did not write.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use flate2::Crc;
use foretell::Fitted;
use foretell_files::read_regular;

use crate::context::Context;
use crate::failure::Usage;
use crate::output::write_file;

/// Checksums and names of the files that the demo wrote, a line each.
const RECORD: &str = ".foretell-demo";

/// The directory of the demo.
pub(crate) struct DemoFiles {
    context: &'static Context,
    directory: PathBuf,
    record: BTreeSet<String>,
}

impl DemoFiles {
    /// Makes the directory, or takes one in which nothing but what the demo wrote is called by these names.
    pub(crate) fn take(context: &'static Context, directory: &Path, names: &[&str]) -> anyhow::Result<Self> {
        fs::create_dir_all(directory)
            .with_context(|| format!("cannot create the directory {}", directory.display()))?;
        let record = read_regular(&directory.join(RECORD)).unwrap_or_default();
        let record = String::from_utf8_lossy(&record);
        let record: BTreeSet<String> = record.lines().map(str::to_owned).collect();
        for name in names {
            if let Some(other) = lines(directory, name)?.iter().find(|line| !record.contains(*line)) {
                let (_, name) = other.split_once(' ').unwrap_or_default();
                return Err(Usage(format!(
                    "{} is there already, and not as the demo wrote it; name another directory by --out",
                    directory.join(name).display()
                ))
                .into());
            }
        }
        Ok(Self { context, directory: directory.to_owned(), record: BTreeSet::new() })
    }

    /// Writes a file, and its path.
    pub(crate) fn write(&mut self, name: &str, content: &[u8]) -> anyhow::Result<PathBuf> {
        let path = self.directory.join(name);
        write_file(self.context, &path, content)?;
        self.note(name)?;
        Ok(path)
    }

    /// Saves models in a directory; its path.
    pub(crate) fn save(&mut self, name: &str, fitted: &Fitted) -> anyhow::Result<PathBuf> {
        let path = self.directory.join(name);
        fitted.save(&path, true)?;
        self.note(name)?;
        Ok(path)
    }

    fn note(&mut self, name: &str) -> anyhow::Result<()> {
        self.record.extend(lines(&self.directory, name)?);
        let record: String = self.record.iter().map(|line| format!("{line}\n")).collect();
        write_file(self.context, &self.directory.join(RECORD), record.as_bytes())
    }
}

/// The lines of the record for what is called so: a file, the files of a directory, or nothing.
fn lines(directory: &Path, name: &str) -> anyhow::Result<Vec<String>> {
    let path = directory.join(name);
    let cannot = || format!("cannot read {}", path.display());
    let Ok(found) = fs::metadata(&path) else { return Ok(Vec::new()) };
    if !found.is_dir() {
        let mut sum = Crc::new();
        sum.update(&read_regular(&path).with_context(cannot)?);
        return Ok(vec![format!("{:08x} {name}", sum.sum())]);
    }
    let mut all = Vec::new();
    for entry in fs::read_dir(&path).with_context(cannot)? {
        let entry = entry.with_context(cannot)?;
        all.extend(lines(directory, &format!("{name}/{}", entry.file_name().to_string_lossy()))?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_demo_wrote_it_replaces_until_somebody_changes_it() {
        let home = tempfile::tempdir().unwrap();
        let (out, names) = (home.path().join("demo"), ["a.csv", "model"]);
        let write = |content: &str| {
            let mut files = DemoFiles::take(Context::alone(), &out, &names)?;
            files.write("a.csv", content.as_bytes())?;
            fs::create_dir_all(out.join("model"))?;
            fs::write(out.join("model/m"), content)?;
            files.note("model")
        };
        write("one").unwrap();
        write("two").unwrap();
        assert_eq!(fs::read_to_string(out.join("a.csv")).unwrap(), "two");
        for changed in ["a.csv", "model/m", "model/other"] {
            fs::write(out.join(changed), "mine").unwrap();
            let message = write("three").unwrap_err().to_string();
            assert!(message.contains(changed) && message.contains("--out"), "{message}");
            assert_eq!(fs::read_to_string(out.join(changed)).unwrap(), "mine");
            fs::remove_dir_all(&out).unwrap();
            write("one").unwrap();
        }
    }
}
