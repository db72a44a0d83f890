//! A file that appears whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{FileError, Result};
use crate::identity::Identity;
use crate::lock::Lock;
use crate::place::{
    beside, is_mount_point, is_open_file, keep_owner_and_mode, ordinary_permissions, parent_of, prefix,
    remove_leftovers, resolve, sync_directory,
};
use crate::rename::rename_over;
use crate::unfinished::Unfinished;

/// A file in the making: its content goes to a hidden file beside the path, which takes the path's place by
/// [`commit`](Self::commit). Without that the path stays unchanged.
///
/// Links are written through. Pipes, devices and open files (`/dev/stdout`) are written to directly, as they come; so is
/// a file that cannot be renamed to: a mount point, or a file whose directory must not be written to.
#[derive(Debug)]
pub struct WholeFile {
    /// The path as messages name it.
    path: PathBuf,
    /// Where links lead.
    place: PathBuf,
    way: Way,
    kept: Vec<Identity>,
}

#[derive(Debug)]
enum Way {
    /// A file beside, created by the first write.
    Beside { temporary: Option<NamedTempFile>, _unfinished: Unfinished, _lock: Lock },
    /// The file itself, which is opened by the first write: opening a pipe waits for its reader.
    Direct(Option<File>),
}

impl WholeFile {
    /// Takes a path, whose content stays unchanged.
    ///
    /// # Errors
    /// If it cannot be written, or another process writes it.
    pub fn at(path: &Path) -> Result<Self> {
        let failed = || FileError::io("write", path);
        if is_open_file(path) {
            let (path, place) = (path.to_path_buf(), path.to_path_buf());
            return Ok(Self { path, place, way: Way::Direct(None), kept: Vec::new() });
        }
        let place = resolve(path).map_err(failed())?;
        let existing = fs::metadata(&place).ok();
        let special = existing.as_ref().is_some_and(|existing| !existing.is_file() && !existing.is_dir());
        if existing.is_some() && !special {
            // It may be protected where its directory is not.
            File::options().write(true).open(&place).map_err(failed())?;
        }
        let lock = if special || is_mount_point(&place) { None } else { Some(Lock::beside(&place)) };
        let way = match lock {
            None => Way::Direct(None),
            Some(Ok(lock)) => {
                remove_leftovers(&place);
                let half_written = place.clone();
                let unfinished = Unfinished::new(move || remove_leftovers(&half_written));
                Way::Beside { temporary: None, _unfinished: unfinished, _lock: lock }
            }
            Some(Err(FileError::Io { source, .. })) if existing.is_some() && refuses_new_files(&source) => {
                Way::Direct(None)
            }
            Some(Err(FileError::Busy { process, .. })) => {
                return Err(FileError::Busy { path: path.to_path_buf(), process });
            }
            Some(Err(FileError::Io { source, .. })) => return Err(failed()(source)),
            Some(Err(error)) => return Err(error),
        };
        Ok(Self { path: path.to_path_buf(), place, way, kept: Vec::new() })
    }

    /// The same, which never takes the place of any of these files, or one in any of these directories, whatever is at the path
    /// when it is committed.
    pub fn keeping(self, kept: Vec<Identity>) -> Self {
        Self { kept, ..self }
    }

    /// The path as the caller wrote it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the written file in its place.
    ///
    /// # Errors
    /// If that fails, for which the file stays unchanged; [`FileError::Kept`] if one is there that is to be kept.
    pub fn commit(mut self) -> Result<()> {
        let failed = FileError::io("write", &self.path);
        self.writer().map_err(failed)?;
        match self.way {
            Way::Direct(_) => Ok(()),
            Way::Beside { temporary, .. } => {
                let temporary = temporary.expect("the writer has just created it");
                match put(temporary, &self.place, &self.kept) {
                    Ok(true) => Ok(()),
                    Ok(false) => Err(FileError::Kept { path: self.path }),
                    Err(error) => Err(FileError::io("write", &self.path)(error)),
                }
            }
        }
    }

    fn writer(&mut self) -> io::Result<&mut File> {
        match &mut self.way {
            Way::Beside { temporary: Some(temporary), .. } => Ok(temporary.as_file_mut()),
            Way::Beside { temporary, .. } => Ok(temporary.insert(new_beside(&self.place)?).as_file_mut()),
            Way::Direct(Some(file)) => Ok(file),
            Way::Direct(file) => {
                // What others write to an open file stays.
                let shared = is_open_file(&self.path);
                Ok(file
                    .insert(File::options().write(true).append(shared).truncate(!shared).open(&self.place)?))
            }
        }
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer()?.flush()
    }
}

/// Writes bytes to a file beside the path, flushes it to the disk and renames it. No one else may be writing there.
///
/// # Errors
/// If that fails, for which the path stays unchanged.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let attempt = || {
        let place = resolve(path)?;
        let mut temporary = new_beside(&place)?;
        temporary.write_all(bytes)?;
        put(temporary, &place, &[]).map(drop)
    };
    attempt().map_err(FileError::io("write", path))
}

fn new_beside(place: &Path) -> io::Result<NamedTempFile> {
    let prefix = prefix(place, "new");
    let mut builder = beside(&prefix);
    ordinary_permissions(&mut builder, 0o666);
    builder.tempfile_in(parent_of(place))
}

/// Renames a file to the place, whose permissions and owner stay; whether it was done, which it is not where one of `kept` is.
fn put(temporary: NamedTempFile, place: &Path, kept: &[Identity]) -> io::Result<bool> {
    if let Ok(old) = fs::metadata(place) {
        keep_owner_and_mode(&old, temporary.path())?;
    }
    temporary.as_file().sync_all()?;
    // Dropping it deletes the file that has the temporary name afterwards.
    let done = rename_over(temporary.path(), place, kept)?;
    drop(temporary);
    sync_directory(parent_of(place))?;
    Ok(done)
}

/// Whether the directory takes no new files, though one that is in it may be written to.
fn refuses_new_files(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::entries;

    #[test]
    fn a_file_is_the_old_one_until_it_is_committed() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("f.csv");
        fs::write(&path, "old").unwrap();
        fs::write(home.path().join(".f.csv.new-abcdef"), "of a killed process").unwrap();
        let mut file = WholeFile::at(&path).unwrap();
        assert!(matches!(WholeFile::at(&path), Err(FileError::Busy { .. })));
        file.write_all(b"new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        drop(file);
        assert_eq!(
            (fs::read_to_string(&path).unwrap().as_str(), entries(home.path())),
            ("old", vec!["f.csv".into()])
        );
        let mut file = WholeFile::at(&path).unwrap();
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert_eq!(
            (fs::read_to_string(&path).unwrap().as_str(), entries(home.path())),
            ("new", vec!["f.csv".into()])
        );
        WholeFile::at(&path).unwrap().commit().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "", "nothing was written to it");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_to_keep_is_kept_though_it_came_to_the_place_meanwhile() {
        use std::os::unix::fs::symlink;
        let home = tempfile::tempdir().unwrap();
        let [data, out] = ["data/f.csv", "out/f.csv"].map(|name| home.path().join(name));
        for path in [&data, &out] {
            fs::create_dir(parent_of(path)).unwrap();
            fs::write(path, "data").unwrap();
        }
        let kept = vec![Identity::of(&data).unwrap()];
        let committed = |path: &Path, meanwhile: &dyn Fn()| {
            let mut file = WholeFile::at(path).unwrap().keeping(kept.clone());
            meanwhile();
            file.write_all(b"new").unwrap();
            let committed = file.commit();
            assert_eq!(fs::read_to_string(&data).unwrap(), "data");
            committed
        };
        committed(&out, &|| ()).unwrap();
        assert_eq!(fs::read_to_string(&out).unwrap(), "new");
        assert_eq!(entries(parent_of(&out)), ["f.csv"]);
        // A link that was put there after the paths were compared,
        let link = home.path().join("link");
        symlink(&data, &link).unwrap();
        assert!(matches!(committed(&link, &|| ()), Err(FileError::Kept { .. })));
        // the file itself by another name,
        let hard = || {
            fs::remove_file(&out).unwrap();
            fs::hard_link(&data, &out).unwrap();
        };
        assert!(matches!(committed(&out, &hard), Err(FileError::Kept { .. })));
        // and its directory in the place of the output's.
        let switch = || {
            fs::rename(parent_of(&out), home.path().join("aside")).unwrap();
            symlink(parent_of(&data), parent_of(&out)).unwrap();
        };
        assert!(matches!(committed(&out, &switch), Err(FileError::Kept { .. })));
        assert_eq!(entries(parent_of(&data)), ["f.csv"]);
        // A link that takes the place of the output is replaced itself.
        let other = home.path().join("g.csv");
        committed(&other, &|| symlink(&data, &other).unwrap()).unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "new");
    }

    #[test]
    fn what_cannot_be_written_is_told_at_once() {
        let home = tempfile::tempdir().unwrap();
        assert!(WholeFile::at(home.path()).is_err());
        assert!(WholeFile::at(&home.path().join("nowhere/f.csv")).is_err());
        if cfg!(unix) {
            assert!(WholeFile::at(&home.path().join("x".repeat(300))).is_err());
        }
        assert!(entries(home.path()).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_written_through_and_modes_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let home = tempfile::tempdir().unwrap();
        let [file, link, dangling] = ["f.csv", "link", "dangling"].map(|name| home.path().join(name));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o604)).unwrap();
        symlink("f.csv", &link).unwrap();
        symlink("g.csv", &dangling).unwrap();
        for path in [&link, &dangling] {
            let mut file = WholeFile::at(path).unwrap();
            file.write_all(b"new").unwrap();
            file.commit().unwrap();
            assert!(path.symlink_metadata().unwrap().is_symlink());
        }
        assert_eq!((fs::read_to_string(&file).unwrap().as_str(), mode(&file)), ("new", 0o604));
        write_whole(&link, b"newer").unwrap();
        assert_eq!((fs::read_to_string(&file).unwrap().as_str(), mode(&file)), ("newer", 0o604));
        fs::write(home.path().join("ordinary"), "").unwrap();
        assert_eq!(mode(&home.path().join("g.csv")), mode(&home.path().join("ordinary")));
        assert_eq!(entries(home.path()), ["dangling", "f.csv", "g.csv", "link", "ordinary"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_are_written_to_as_they_are() {
        let mut file = WholeFile::at(Path::new("/dev/null")).unwrap();
        file.write_all(b"gone").unwrap();
        file.commit().unwrap();
        let mut file = WholeFile::at(Path::new("/dev/full")).unwrap();
        assert_eq!(file.write_all(b"no room").unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
