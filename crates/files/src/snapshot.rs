//! The files of a directory, all of one moment.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::directory::moved_aside;
use crate::error::{FileError, Result};
use crate::regular::read_open;
use crate::rename::is_in_use;

/// The files of a directory that is replaced as a whole, never in part: open, and of one moment, whatever becomes of
/// the directory. Names are those of plain files, links followed.
#[derive(Debug)]
pub struct DirectoryFiles {
    path: PathBuf,
    files: BTreeMap<String, File>,
}

/// Writers that replace a directory all the time are slower than this.
const MOST_ATTEMPTS: usize = 1000;

/// Milliseconds that a writer is given between two renames.
const BETWEEN_RENAMES: usize = 50;

impl DirectoryFiles {
    /// Opens the files of a directory whose names are `wanted`.
    ///
    /// They are opened through a handle of the directory. If that is still at its path when the last one is open, none was
    /// deleted before, as a writer deletes a directory only after it has put another in its place; else they are opened anew.
    ///
    /// # Errors
    /// If there is no such directory, or it cannot be read; [`FileError::NotRegular`] if a pipe, a device or a socket has one of the
    /// names; [`FileError::Unfinished`] if a killed process moved it aside.
    pub fn open(path: &Path, wanted: impl Fn(&str) -> bool) -> Result<Self> {
        let mut waited = 0;
        for _ in 0..MOST_ATTEMPTS {
            match attempt(path, &wanted) {
                Ok(Some(files)) => return Ok(Self { path: path.to_path_buf(), files }),
                Ok(None) => {}
                Err(FileError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                    let aside = crate::resolve(path).ok().and_then(|place| moved_aside(&place));
                    // A writer that cannot exchange names is between its two renames, if it was not killed there.
                    if (aside.is_some() || path.exists()) && waited < BETWEEN_RENAMES {
                        waited += 1;
                        thread::sleep(Duration::from_millis(1));
                        continue;
                    }
                    return Err(match aside {
                        Some(kept) => FileError::Unfinished { path: path.to_path_buf(), kept },
                        None => FileError::io("read", path)(source),
                    });
                }
                Err(FileError::Io { source, .. }) if is_in_use(&source) && waited < BETWEEN_RENAMES => {
                    waited += 1;
                    thread::sleep(Duration::from_millis(1));
                }
                Err(error) => return Err(error),
            }
        }
        Err(FileError::Restless { path: path.to_path_buf() })
    }

    /// The names of the files, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Whether there is a file of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.files.contains_key(name)
    }

    /// Bytes of all files.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn bytes(&self) -> Result<u64> {
        let sizes = self.files.values().map(|file| file.metadata().map(|found| found.len()));
        sizes.sum::<io::Result<u64>>().map_err(FileError::io("read", &self.path))
    }

    /// The content of a file, once.
    ///
    /// # Errors
    /// If it is not there, cannot be read, or memory has no room for it.
    pub fn read(&self, name: &str) -> Result<Vec<u8>> {
        let path = self.path.join(name);
        let file = self
            .files
            .get(name)
            .ok_or(io::ErrorKind::NotFound.into())
            .map_err(FileError::io("read", &path))?;
        read_open(file).map_err(FileError::io("read", &path))
    }
}

/// Opens all files; nothing if the directory was replaced meanwhile.
#[cfg(unix)]
fn attempt(path: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<Option<BTreeMap<String, File>>> {
    use rustix::fs::{Dir, Mode, OFlags, open, openat};

    use crate::identity::Identity;

    let failed = || FileError::io("read", path);
    let refused = |error: rustix::io::Errno| failed()(error.into());
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let directory = File::from(open(path, flags | OFlags::DIRECTORY, Mode::empty()).map_err(refused)?);
    let mut files = BTreeMap::new();
    for entry in Dir::read_from(&directory).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        let Some(name) = entry.file_name().to_str().ok().filter(|name| wanted(name)) else { continue };
        // A pipe would keep the one who opens it waiting.
        let file = match openat(&directory, name, flags | OFlags::NONBLOCK, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(rustix::io::Errno::NOENT) => continue,
            // A socket.
            Err(rustix::io::Errno::NXIO) => return Err(FileError::NotRegular { path: path.join(name) }),
            Err(error) => return Err(FileError::io("read", &path.join(name))(error.into())),
        };
        let kind = file.metadata().map_err(failed())?.file_type();
        if kind.is_file() {
            files.insert(name.to_owned(), file);
        } else if !kind.is_dir() {
            return Err(FileError::NotRegular { path: path.join(name) });
        }
    }
    let opened = Identity::of_metadata(&directory.metadata().map_err(failed())?);
    Ok((Identity::of(path).map_err(failed())? == opened).then_some(files))
}

/// Without handles of directories, as one finds them.
#[cfg(not(unix))]
fn attempt(path: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<Option<BTreeMap<String, File>>> {
    use crate::identity::Identity;

    let failed = || FileError::io("read", path);
    let listed = Identity::of(path).map_err(failed())?;
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(path).map_err(failed())? {
        let entry = entry.map_err(failed())?;
        let Some(name) = entry.file_name().into_string().ok().filter(|name| wanted(name)) else { continue };
        if !entry.path().is_file() {
            continue;
        }
        match File::open(entry.path()) {
            Ok(file) => _ = files.insert(name, file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(FileError::io("read", &entry.path())(error)),
        }
    }
    Ok((Identity::of(path).map_err(failed())? == listed).then_some(files))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::DirectoryPlace;

    #[test]
    fn a_reader_beside_a_writer_sees_one_directory_or_the_other() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("model");
        let names: Vec<String> = (0..20).map(|i| i.to_string()).collect();
        let write = |mark: usize| {
            let place = DirectoryPlace::at(&path, |_| true).unwrap();
            let fill = |dir: &Path| {
                names.iter().for_each(|name| fs::write(dir.join(name), mark.to_string()).unwrap());
                Ok::<(), FileError>(())
            };
            place.replace(fill).unwrap();
        };
        write(0);
        let done = AtomicBool::new(false);
        let mut seen = std::collections::BTreeSet::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                (1..200).for_each(write);
                done.store(true, Ordering::Relaxed);
            });
            while !done.load(Ordering::Relaxed) {
                let files = DirectoryFiles::open(&path, |_| true).unwrap();
                assert_eq!(files.names().count(), names.len());
                let marks: Vec<Vec<u8>> = names.iter().map(|name| files.read(name).unwrap()).collect();
                assert!(marks.windows(2).all(|pair| pair[0] == pair[1]), "{marks:?}");
                seen.insert(marks[0].clone());
            }
        });
        assert!(seen.len() > 5, "it saw {} directories", seen.len());
    }

    #[test]
    fn what_was_moved_aside_is_named() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("model");
        assert!(matches!(DirectoryFiles::open(&path, |_| true), Err(FileError::Io { .. })));
        fs::create_dir_all(home.path().join(".model.old-abcdef/previous")).unwrap();
        let error = DirectoryFiles::open(&path, |_| true).unwrap_err();
        let aside = Path::new(".model.old-abcdef").join("previous");
        assert!(error.to_string().contains(aside.to_str().unwrap()), "{error}");
        assert!(!error.to_string().contains(r"\\?\"), "{error}");
    }
}
