//! Files and directories that appear whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{CheckpointError, Result};

/// Writes `bytes` to a temporary sibling, flushes it to the disk and renames it to `path`.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let attempt = || -> io::Result<()> {
        let parent = parent_of(path);
        let mut builder = tempfile::Builder::new();
        builder.prefix(".writing-");
        ordinary_permissions(&mut builder, 0o666);
        let mut temporary = builder.tempfile_in(parent)?;
        temporary.write_all(bytes)?;
        temporary.as_file().sync_all()?;
        temporary.persist(path).map_err(|e| e.error)?;
        sync_directory(parent)
    };
    attempt().map_err(|e| CheckpointError::io("write", path, e))
}

/// Lets `fill` write files into a fresh directory, then moves that to `target`.
///
/// An existing non-empty directory is replaced only with `overwrite` and only if it is a model
/// directory. It is moved aside before the new one takes its place, and back if that fails; should
/// the machine stop between the two renames, it is in the hidden sibling `.{name}.old-*/previous`.
pub(crate) fn replace_directory(
    target: &Path,
    overwrite: bool,
    fill: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    let failed = |e| CheckpointError::io("write", target, e);
    let (parent, target) = resolve(target).map_err(failed)?;
    check_replaceable(&target, overwrite)?;
    let mut builder = tempfile::Builder::new();
    let prefix = format!(".{}.new-", name_of(&target));
    builder.prefix(&prefix);
    ordinary_permissions(&mut builder, 0o777);
    let staging = builder.tempdir_in(&parent).map_err(failed)?;
    fill(staging.path())?;
    sync_directory(staging.path()).map_err(failed)?;

    put_in_place(staging.path(), &target, &parent)?;
    // The directory has its final name: nothing is left to delete under the temporary one.
    let _ = staging.keep();
    sync_directory(&parent).map_err(failed)
}

/// Whether [`replace_directory`] may write there, as far as that can be told beforehand.
pub(crate) fn check_target(target: &Path, overwrite: bool) -> Result<()> {
    match target.canonicalize() {
        Ok(full) => check_replaceable(&full, overwrite),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(CheckpointError::io("write", target, e)),
    }
}

/// Renames `staging` to `target`, whose old content is deleted afterwards or put back on failure.
fn put_in_place(staging: &Path, target: &Path, parent: &Path) -> Result<()> {
    let failed = |e| CheckpointError::io("replace", target, e);
    if !target.exists() {
        return fs::rename(staging, target).map_err(failed);
    }
    let prefix = format!(".{}.old-", name_of(target));
    let aside = tempfile::Builder::new().prefix(&prefix).tempdir_in(parent).map_err(failed)?;
    let previous = aside.path().join("previous");
    fs::rename(target, &previous).map_err(failed)?;
    let Err(source) = fs::rename(staging, target) else {
        return Ok(());
    };
    if fs::rename(&previous, target).is_ok() {
        return Err(failed(source));
    }
    Err(CheckpointError::Stranded { path: target.to_path_buf(), kept: aside.keep().join("previous"), source })
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

/// The parent (created if absent) and the full path of `target`, with links followed.
fn resolve(target: &Path) -> io::Result<(PathBuf, PathBuf)> {
    let full = match target.canonicalize() {
        Ok(full) => full,
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            let parent = parent_of(target);
            fs::create_dir_all(parent)?;
            let name = target.file_name().ok_or_else(|| {
                io::Error::new(io::ErrorKind::InvalidInput, "the path has no last component")
            })?;
            parent.canonicalize()?.join(name)
        }
        Err(e) => return Err(e),
    };
    let parent = full
        .parent()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path has no parent directory"))?;
    Ok((parent.to_path_buf(), full))
}

fn check_replaceable(target: &Path, overwrite: bool) -> Result<()> {
    if !target.exists() {
        return Ok(());
    }
    let path = target.to_path_buf();
    if !target.is_dir() {
        return Err(CheckpointError::NotACheckpoint { path });
    }
    let mut entries = fs::read_dir(target).map_err(|e| CheckpointError::io("read", target, e))?;
    if entries.next().is_none() {
        return Ok(());
    }
    if !overwrite {
        return Err(CheckpointError::Exists { path });
    }
    let is_checkpoint =
        ["configuration.json", "configuration.pkl"].iter().any(|name| target.join(name).is_file());
    if is_checkpoint { Ok(()) } else { Err(CheckpointError::NotACheckpoint { path }) }
}

fn name_of(path: &Path) -> std::borrow::Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Temporary files are private by default; these become the user's files, so the umask decides.
fn ordinary_permissions(builder: &mut tempfile::Builder<'_, '_>, mode: u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = (builder, mode);
}

/// Makes renames and new names in a directory survive a power cut (Windows has no such call).
fn sync_directory(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn write_mark(mark: &str) -> impl FnOnce(&Path) -> Result<()> {
        move |dir| create_file(&dir.join("configuration.json"), mark.as_bytes())
    }

    fn mark(dir: &Path) -> String {
        fs::read_to_string(dir.join("configuration.json")).unwrap()
    }

    #[test]
    fn replaces_only_when_allowed_and_only_checkpoints() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("nested/model");
        replace_directory(&target, false, write_mark("one")).unwrap();
        let refused = replace_directory(&target, false, write_mark("two"));
        assert!(matches!(refused, Err(CheckpointError::Exists { .. })));
        assert_eq!(mark(&target), "one");
        replace_directory(&target, true, write_mark("two")).unwrap();
        assert_eq!(mark(&target), "two");
        assert_eq!(entries(target.parent().unwrap()), ["model"]);

        let papers = home.path().join("papers");
        fs::create_dir(&papers).unwrap();
        replace_directory(&papers, false, write_mark("into an empty one")).unwrap();
        fs::remove_file(papers.join("configuration.json")).unwrap();
        fs::write(papers.join("thesis.txt"), "years of work").unwrap();
        let refused = replace_directory(&papers, true, write_mark("three"));
        assert!(matches!(refused, Err(CheckpointError::NotACheckpoint { .. })));
        assert_eq!(entries(&papers), ["thesis.txt"]);
        let refused = replace_directory(&papers.join("thesis.txt"), true, write_mark("four"));
        assert!(matches!(refused, Err(CheckpointError::NotACheckpoint { .. })));
    }

    #[test]
    fn a_failure_leaves_the_old_directory_and_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("model");
        replace_directory(&target, false, write_mark("old")).unwrap();

        let while_writing = replace_directory(&target, true, |dir| {
            create_file(&dir.join("a"), b"x")?;
            create_file(&dir.join("a"), b"a second time")
        });
        assert!(matches!(while_writing, Err(CheckpointError::Io { action: "write", .. })));
        assert_eq!((mark(&target).as_str(), entries(home.path())), ("old", vec!["model".to_owned()]));

        // The old directory is already moved aside when the rename of the new one fails.
        let while_renaming = put_in_place(&home.path().join("absent"), &target, home.path());
        assert!(matches!(while_renaming, Err(CheckpointError::Io { action: "replace", .. })));
        assert_eq!((mark(&target).as_str(), entries(home.path())), ("old", vec!["model".to_owned()]));
    }

    #[cfg(unix)]
    #[test]
    fn the_umask_decides_on_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        let home = tempfile::tempdir().unwrap();
        let (made, ours) = (home.path().join("made"), home.path().join("ours"));
        fs::create_dir(&made).unwrap();
        replace_directory(&ours, false, |_| Ok(())).unwrap();
        assert_eq!(mode(&made), mode(&ours));
        fs::write(made.join("made"), "").unwrap();
        write_file(&ours.join("ours"), b"").unwrap();
        assert_eq!(mode(&made.join("made")), mode(&ours.join("ours")));
    }
}
