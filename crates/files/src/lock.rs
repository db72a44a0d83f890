//! The right to write at a place, which one process has at a time.

use std::fs::{self, File, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process;

use crate::error::{FileError, Result};
use crate::place::{remove_leftovers_in, sibling};
use crate::unfinished::Unfinished;

/// A lock on a file beside a place. It ends with its value, or with the process however that ends; the file is
/// removed with the value.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    _file: File,
    _unfinished: Unfinished,
}

impl Lock {
    /// Locks a place by the file `.{name}.lock` beside it.
    ///
    /// # Errors
    /// [`FileError::Busy`] if somebody has it; [`FileError::Io`] if the file cannot be made.
    pub fn beside(place: &Path) -> Result<Self> {
        Self::at(sibling(place, ".lock"), place, None)
    }

    /// Locks a directory by the file `.lock` within it.
    ///
    /// # Errors
    /// [`FileError::Busy`] if somebody has it; [`FileError::Io`] if the file cannot be made.
    pub fn within(directory: &Path) -> Result<Self> {
        Self::at(directory.join(".lock"), directory, Some(directory))
    }

    fn at(path: PathBuf, place: &Path, within: Option<&Path>) -> Result<Self> {
        loop {
            let opened = File::options().read(true).write(true).create(true).truncate(false).open(&path);
            let mut file = opened.map_err(FileError::io("write", place))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let mut text = String::new();
                    let process = file.read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
                    return Err(FileError::Busy { path: place.to_path_buf(), process });
                }
                // Some network file systems know no locks; what is written there is whole all the same.
                Err(TryLockError::Error(_)) => {}
            }
            // Who had it before removed the file after it was opened here: this lock would be nobody else's.
            if !is_still_at(&file, &path) {
                continue;
            }
            let written = file.set_len(0).and_then(|()| write!(file, "{}", process::id()));
            written.map_err(FileError::io("write", place))?;
            let (lock, within) = (path.clone(), within.map(Path::to_path_buf));
            let unfinished = Unfinished::new(move || {
                within.iter().for_each(|directory| remove_leftovers_in(directory));
                let _ = fs::remove_file(&lock);
            });
            return Ok(Self { path, _file: file, _unfinished: unfinished });
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed before it is unlocked, so that nobody has locked it by then.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(unix)]
fn is_still_at(file: &File, path: &Path) -> bool {
    use crate::identity::Identity;
    let found = file.metadata().map(|found| Identity::of_metadata(&found));
    matches!((found, Identity::of(path)), (Ok(ours), Ok(theirs)) if ours == theirs)
}

/// An open file cannot be removed there.
#[cfg(not(unix))]
fn is_still_at(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn one_has_it_at_a_time_and_leaves_nothing() {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join("model");
        let lock = Lock::beside(&place).unwrap();
        let refused = Lock::beside(&place).unwrap_err();
        assert!(
            matches!(refused, FileError::Busy { process: Some(id), .. } if id == process::id()),
            "{refused}"
        );
        drop(lock);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
        // A killed process leaves the file, and no lock.
        fs::write(home.path().join(".model.lock"), "12345678").unwrap();
        drop(Lock::beside(&place).unwrap());
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    }

    #[test]
    fn threads_that_race_for_it_never_have_it_together() {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join("model");
        let (holders, times) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..2000 {
                        let Ok(_lock) = Lock::beside(&place) else { continue };
                        assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                        times.fetch_add(1, Ordering::SeqCst);
                        holders.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!(times.into_inner() > 100);
    }
}
