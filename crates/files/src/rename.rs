//! Renames: two names exchanged in one step, a name that must be free, one whose file must not be lost.

use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::identity::Identity;

/// Exchanges two names in one step.
pub(crate) fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
    }
    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    {
        let _ = (one, other);
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Some file systems do not know how.
pub(crate) fn cannot_exchange(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput)
}

/// Renames a directory. Windows refuses that while a file in it is open, which it is to one who reads it: that one is waited for.
pub(crate) fn rename_directory(from: &Path, to: &Path) -> io::Result<()> {
    const ATTEMPTS: usize = 400;
    for _ in 1..ATTEMPTS {
        match std::fs::rename(from, to) {
            Err(error) if is_in_use(&error) => {
                thread::sleep(Duration::from_millis(5));
            }
            done => return done,
        }
    }
    std::fs::rename(from, to)
}

/// Whether Windows refuses something because someone has the directory open, or a file in it.
pub(crate) fn is_in_use(error: &io::Error) -> bool {
    const ERROR_SHARING_VIOLATION: i32 = 32;
    cfg!(windows)
        && (error.kind() == io::ErrorKind::PermissionDenied
            || error.raw_os_error() == Some(ERROR_SHARING_VIOLATION))
}

/// Renames a directory to a name that is free, and stays so until then.
pub(crate) fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE).map_err(io::Error::from) {
            Err(error) if cannot_exchange(&error) => {}
            done => return done,
        }
    }
    rename_directory(from, to)
}

/// Renames a file to another name of its directory, unless the file of that name, or the directory, is among `kept`. A file
/// that had the name before may be called `from` afterwards; returns whether it was done.
///
/// The names are exchanged first, and exchanged again if the wrong file was there: so none can be put there between the look
/// and the rename. All of it goes through one handle of the directory, which may be called otherwise meanwhile.
#[cfg(unix)]
pub(crate) fn rename_over(from: &Path, to: &Path, kept: &[Identity]) -> io::Result<bool> {
    use rustix::fs::{AtFlags, Mode, OFlags, open, renameat, statat};
    use std::fs::File;

    use crate::place::parent_of;

    let names = [from, to].map(|path| path.file_name().unwrap_or_default());
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = File::from(open(parent_of(to), flags, Mode::empty())?);
    let is_kept = |name| {
        statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| kept.contains(&Identity::of_stat(&stat)))
    };
    if kept.contains(&Identity::of_metadata(&directory.metadata()?)) || is_kept(names[1]) {
        return Ok(false);
    }
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    if !kept.is_empty() {
        use rustix::fs::{RenameFlags, renameat_with};
        let exchange = || renameat_with(&directory, names[0], &directory, names[1], RenameFlags::EXCHANGE);
        match exchange().map_err(io::Error::from) {
            Ok(()) if is_kept(names[0]) => {
                exchange()?;
                return Ok(false);
            }
            Ok(()) => return Ok(true),
            // Nothing is there, or the file system does not know how.
            Err(error) if cannot_exchange(&error) || error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    renameat(&directory, names[0], &directory, names[1])?;
    Ok(true)
}

/// Without handles of directories.
#[cfg(not(unix))]
pub(crate) fn rename_over(from: &Path, to: &Path, kept: &[Identity]) -> io::Result<bool> {
    let parent = Identity::of(crate::place::parent_of(to))?;
    if kept.contains(&parent) || Identity::of(to).is_ok_and(|identity| kept.contains(&identity)) {
        return Ok(false);
    }
    std::fs::rename(from, to).map(|()| true)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_kept_is_never_renamed_over() {
        let home = tempfile::tempdir().unwrap();
        let [new, old, data] = ["new", "old", "data"].map(|name| home.path().join(name));
        let text = |path: &Path| fs::read_to_string(path).ok();
        fs::write(&data, "data").unwrap();
        let kept = [Identity::of(&data).unwrap()];
        for there in [None, Some("old")] {
            fs::write(&new, "new").unwrap();
            there.iter().for_each(|there| fs::write(&old, there).unwrap());
            assert!(rename_over(&new, &old, &kept).unwrap());
            assert_eq!(text(&old).as_deref(), Some("new"));
            let _ = fs::remove_file(&new);
        }
        fs::write(&new, "newer").unwrap();
        assert!(!rename_over(&new, &data, &kept).unwrap());
        assert!(
            !rename_over(&new, &old, &[Identity::of(home.path()).unwrap()]).unwrap(),
            "in a directory that is kept"
        );
        let both = [text(&new), text(&data), text(&old)].map(Option::unwrap);
        assert_eq!(both, ["newer", "data", "new"]);
    }
}
