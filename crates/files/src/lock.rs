//! The right to write at a place, which one process has at a time.

use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
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
    file: File,
    _unfinished: Unfinished,
}

impl Lock {
    /// Locks a place by the file `.{name}.lock` beside it.
    ///
    /// # Errors
    /// [`FileError::Busy`] if another process holds it; [`FileError::NotALock`] if there is something else of that name;
    /// [`FileError::Io`] if the file cannot be created.
    pub fn beside(place: &Path) -> Result<Self> {
        Self::at(sibling(place, ".lock"), place, None)
    }

    /// Locks a directory by the file `.lock` within it.
    ///
    /// # Errors
    /// [`FileError::Busy`] if another process holds it; [`FileError::NotALock`] if there is something else of that name;
    /// [`FileError::Io`] if the file cannot be created.
    pub fn within(directory: &Path) -> Result<Self> {
        Self::at(directory.join(".lock"), directory, Some(directory))
    }

    fn at(path: PathBuf, place: &Path, within: Option<&Path>) -> Result<Self> {
        loop {
            let mut file = open(&path, place)?;
            let holder = holder(&mut file).ok();
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let process = holder.flatten();
                    return Err(FileError::Busy { path: place.to_path_buf(), process });
                }
                // Some network file systems know no locks; what is written there is whole all the same.
                Err(TryLockError::Error(_)) => {}
            }
            // Who had it before removed the file after it was opened here: this lock would be no one else's.
            if !is_still_at(&file, &path) {
                continue;
            }
            let (lock, within) = (path.clone(), within.map(Path::to_path_buf));
            let unfinished = Unfinished::new(move || {
                within.iter().for_each(|directory| remove_leftovers_in(directory));
                let _ = fs::remove_file(&lock);
            });
            // From here on it is removed also where its number cannot be written.
            let mut lock = Self { path, file, _unfinished: unfinished };
            lock.sign().map_err(FileError::io("write", place))?;
            return Ok(lock);
        }
    }

    /// Writes the number of this process over that of the one before.
    fn sign(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        write!(self.file, "{}", process::id())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed before it is unlocked, so that no one has locked it by then. What was put in its place stays.
        if is_still_at(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Opens the file of a lock, created where there is none. Files that others put there are neither followed nor changed.
fn open(path: &Path, place: &Path) -> Result<File> {
    let not_a_lock = |what| FileError::NotALock { path: place.to_path_buf(), lock: path.to_path_buf(), what };
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        // A pipe would keep the one who opens it waiting.
        options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32);
    }
    let mut file = match (options.open(path), path.symlink_metadata()) {
        (_, Ok(link)) if link.is_symlink() => return Err(not_a_lock("a link")),
        (Err(_), Ok(link)) if !link.is_file() => return Err(not_a_lock("no file")),
        (opened, _) => opened.map_err(FileError::io("write", place))?,
    };
    let metadata = file.metadata().map_err(FileError::io("write", place))?;
    if !metadata.is_file() {
        return Err(not_a_lock("no file"));
    }
    if names_of(&file, &metadata) > 1 {
        return Err(not_a_lock("a file with other names beside this one"));
    }
    match holder(&mut file) {
        Ok(_) => Ok(file),
        Err(error) if is_of_a_lock(&error) => Ok(file),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(not_a_lock("a file that holds something else"))
        }
        Err(error) => Err(FileError::io("read", path)(error)),
    }
}

/// How many names lead to a file, as far as the system tells.
fn names_of(file: &File, metadata: &Metadata) -> u64 {
    #[cfg(unix)]
    let names = {
        let _ = file;
        std::os::unix::fs::MetadataExt::nlink(metadata)
    };
    #[cfg(windows)]
    let names = {
        let _ = metadata;
        winapi_util::file::information(file).map_or(1, |found| found.number_of_links())
    };
    #[cfg(not(any(unix, windows)))]
    let names = {
        let _ = (file, metadata);
        1
    };
    names
}

/// Whether a file cannot be read because it is locked: locks of Windows bind readers too.
fn is_of_a_lock(error: &io::Error) -> bool {
    const ERROR_LOCK_VIOLATION: i32 = 33;
    cfg!(windows) && error.raw_os_error() == Some(ERROR_LOCK_VIOLATION)
}

/// The number of the process that wrote the file of a lock; none where it did not come to that.
fn holder(file: &mut File) -> io::Result<Option<u32>> {
    /// More than the digits of any process.
    const LONGEST: u64 = 20;
    let mut text = Vec::new();
    file.rewind()?;
    file.take(LONGEST + 1).read_to_end(&mut text)?;
    match std::str::from_utf8(&text).map(str::trim) {
        Ok("") if text.is_empty() => Ok(None),
        Ok(number) => number.parse().map(Some).map_err(|_| io::ErrorKind::InvalidData.into()),
        Err(_) => Err(io::ErrorKind::InvalidData.into()),
    }
}

#[cfg(unix)]
fn is_still_at(file: &File, path: &Path) -> bool {
    use crate::identity::Identity;
    let [ours, theirs] = [file.metadata(), path.symlink_metadata()]
        .map(|metadata| metadata.ok().map(|metadata| Identity::of_metadata(&metadata)));
    ours.is_some() && ours == theirs
}

/// An open file can be removed there as well.
#[cfg(windows)]
fn is_still_at(file: &File, path: &Path) -> bool {
    use crate::identity::Identity;
    matches!((Identity::of_open(file), Identity::of(path)), (Ok(ours), Ok(theirs)) if ours == theirs)
}

#[cfg(not(any(unix, windows)))]
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
    fn a_file_of_somebody_else_is_no_lock() {
        let home = tempfile::tempdir().unwrap();
        let [place, lock, data] = ["model", ".model.lock", "data.csv"].map(|name| home.path().join(name));
        let refused = |what: &str| {
            let error = Lock::beside(&place).unwrap_err();
            assert!(matches!(error, FileError::NotALock { .. }), "{error}");
            assert!(error.to_string().contains(what) && error.to_string().contains(".model.lock"), "{error}");
        };
        for content in ["notes on locks\n", "1 2", "123456789012345678901234567890", " ", "-5"] {
            fs::write(&lock, content).unwrap();
            refused("something else");
            assert_eq!(fs::read_to_string(&lock).unwrap(), content);
        }
        fs::remove_file(&lock).unwrap();
        fs::create_dir(&lock).unwrap();
        refused("no file");
        fs::remove_dir(&lock).unwrap();
        fs::write(&data, "7").unwrap();
        fs::hard_link(&data, &lock).unwrap();
        if cfg!(any(unix, windows)) {
            refused("other names");
        }
        fs::remove_file(&lock).unwrap();
        #[cfg(unix)]
        {
            for target in [&data, &home.path().join("absent")] {
                std::os::unix::fs::symlink(target, &lock).unwrap();
                refused("a link");
                fs::remove_file(&lock).unwrap();
            }
        }
        #[cfg(target_os = "linux")]
        {
            rustix::fs::mkfifoat(rustix::fs::CWD, &lock, rustix::fs::Mode::RWXU).unwrap();
            refused("no file");
            fs::remove_file(&lock).unwrap();
        }
        assert_eq!(fs::read_to_string(&data).unwrap(), "7");
        assert!(!home.path().join("absent").exists());
        // What takes the place of a lock while it is held is no one's to delete. On Windows nothing can, but for new file systems.
        if cfg!(unix) {
            let held = Lock::beside(&place).unwrap();
            fs::remove_file(&lock).unwrap();
            fs::write(&lock, "mine").unwrap();
            drop(held);
            assert_eq!(fs::read_to_string(&lock).unwrap(), "mine");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_lock_that_cannot_be_signed_is_removed() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(".model.lock");
        let readable = || File::open(&path);
        fs::write(&path, "").unwrap();
        let mut lock =
            Lock { path: path.clone(), file: readable().unwrap(), _unfinished: Unfinished::new(|| ()) };
        assert!(lock.sign().is_err());
        drop(lock);
        assert!(!path.exists());
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
