//! Why a file or a directory cannot be written.

use std::io;
use std::path::{Path, PathBuf};

/// The result of reading or writing files.
pub type Result<T, E = FileError> = std::result::Result<T, E>;

/// Why a file or a directory could not be read or written.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum FileError {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The attempted action, as a verb: "read", "write", "replace".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Another process writes there.
    #[error(
        "{} is being written by another process{}; wait until it is done, or name another place", path.display(),
        process.as_ref().map(|id| format!(" ({id})")).unwrap_or_default()
    )]
    #[strum(serialize = "path_busy")]
    Busy {
        /// The file or directory.
        path: PathBuf,
        /// The number of that process, where it is known.
        process: Option<u32>,
    },
    /// A file that is to be kept has come to a place that was to be written.
    #[error(
        "{} leads to a file that is read, or into a directory that is, and would replace it; name another place",
        path.display()
    )]
    #[strum(serialize = "path_is_read")]
    Kept {
        /// The file that was to be written.
        path: PathBuf,
    },
    /// A pipe, a device or a directory where a file is expected.
    #[error("{} is no regular file but a pipe, a device or a directory; put the file itself there", path.display())]
    #[strum(serialize = "not_a_file")]
    NotRegular {
        /// The path of it.
        path: PathBuf,
    },
    /// Something else has the name of the file that would lock the place.
    #[error(
        "{} cannot be locked: {lock} is {what}, and no lock of foretell; move it away, or name another place",
        path.display(), lock = lock.display()
    )]
    NotALock {
        /// The file or directory.
        path: PathBuf,
        /// The path that has the lock's name.
        lock: PathBuf,
        /// The kind of thing at that path.
        what: &'static str,
    },
    /// A directory that other file systems begin at cannot be renamed.
    #[error(
        "{path} is a mount point, which cannot be replaced: name a directory in it, as {}", path.join("model").display(),
        path = path.display()
    )]
    MountPoint {
        /// The directory.
        path: PathBuf,
    },
    /// The replaced directory could not be put back after a failed rename.
    #[error(
        "cannot rename the new directory to {}: {source}; the old one is kept in {}", path.display(), kept.display()
    )]
    #[strum(serialize = "stranded_directory")]
    Stranded {
        /// Where the directory belongs.
        path: PathBuf,
        /// Where the old content is now.
        kept: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A writer was killed between the two renames that replace a directory where names cannot be exchanged.
    #[error(
        "{} is missing, since the process that replaced it was killed: what it held is in {}; rename that to continue \
         with it, or save there again", path.display(), kept.display()
    )]
    #[strum(serialize = "unfinished_replacement")]
    Unfinished {
        /// Where the directory belongs.
        path: PathBuf,
        /// Where its content is.
        kept: PathBuf,
    },
    /// Files of others appeared in a directory while it was replaced.
    #[error(
        "{} was replaced, and meanwhile files appeared in it that are none of its own: they are in {}",
        path.display(), kept.display()
    )]
    #[strum(serialize = "foreign_files")]
    Appeared {
        /// The directory.
        path: PathBuf,
        /// Where those files are now.
        kept: PathBuf,
    },
    /// A directory that was replaced again and again while its files were opened.
    #[error("{} is replaced all the time, faster than its files can be opened", path.display())]
    #[strum(serialize = "restless_directory")]
    Restless {
        /// The directory.
        path: PathBuf,
    },
}

impl FileError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        move |source| Self::Io { action, path, source }
    }
}
