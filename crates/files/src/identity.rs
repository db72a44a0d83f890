//! Identities of files: whether two paths lead to one file.

#[cfg(not(windows))]
use std::fs;
use std::{io, path::Path};

/// The file or directory that a path leads to, whatever it is called: links and hard links of one file are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity(Inner);

/// Device and inode; on Windows volume and number of the file.
#[cfg(any(unix, windows))]
type Inner = (u64, u64);
#[cfg(not(any(unix, windows)))]
type Inner = std::path::PathBuf;

impl Identity {
    /// The identity of the file or directory at the path, links followed.
    ///
    /// # Errors
    /// If there is nothing, or nothing that may be looked at.
    pub fn of(path: &Path) -> io::Result<Self> {
        #[cfg(unix)]
        return fs::metadata(path).map(|metadata| Self::of_metadata(&metadata));
        #[cfg(windows)]
        return Self::of_open(&winapi_util::Handle::from_path_any(path)?);
        #[cfg(not(any(unix, windows)))]
        return fs::canonicalize(path).map(Self);
    }

    /// The identity of an open file or directory.
    #[cfg(windows)]
    pub(crate) fn of_open(file: impl winapi_util::AsHandleRef) -> io::Result<Self> {
        let found = winapi_util::file::information(file)?;
        Ok(Self((found.volume_serial_number(), found.file_index())))
    }

    /// Devices and inodes are numbers of other types on macOS.
    #[cfg(unix)]
    #[allow(clippy::unnecessary_cast)]
    pub(crate) fn of_stat(stat: &rustix::fs::Stat) -> Self {
        Self((stat.st_dev as u64, stat.st_ino as u64))
    }

    #[cfg(unix)]
    pub(crate) fn of_metadata(metadata: &fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self((metadata.dev(), metadata.ino()))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn one_file_is_one_by_any_name() {
        let home = tempfile::tempdir().unwrap();
        let [file, hard, other] = ["file", "hard", "other"].map(|name| home.path().join(name));
        fs::write(&file, "").unwrap();
        fs::write(&other, "").unwrap();
        assert_eq!(Identity::of(&file).unwrap(), Identity::of(&home.path().join("./file")).unwrap());
        assert_ne!(Identity::of(&file).unwrap(), Identity::of(&other).unwrap());
        assert!(Identity::of(&hard).is_err());
        assert!(Identity::of(home.path()).is_ok());
        #[cfg(any(unix, windows))]
        {
            fs::hard_link(&file, &hard).unwrap();
            assert_eq!(Identity::of(&file).unwrap(), Identity::of(&hard).unwrap());
        }
        #[cfg(unix)]
        {
            let link = home.path().join("link");
            std::os::unix::fs::symlink("file", &link).unwrap();
            assert_eq!(Identity::of(&file).unwrap(), Identity::of(&link).unwrap());
        }
    }
}
