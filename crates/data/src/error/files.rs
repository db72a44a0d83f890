//! Errors of the files of a panel that are read one after another, or by several processes together.

use std::io;
use std::path::PathBuf;

use foretell_tables::Whereabouts;

/// Files of a panel that are not read one after another, or by several processes together.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum FilesError {
    /// A series with rows in two files that cannot be read one after another.
    #[error(
        "series `{id}` has rows in {first} and in {second}, {why}; of files that are read one after another each holds whole series, or \
         the steps of a series that follow those of the file before: write the files anew so, or read them as one table, in memory"
    )]
    #[strum(serialize = "series_in_two_files")]
    Pieces {
        /// The series.
        id: String,
        /// A file with rows of it.
        first: String,
        /// Another one.
        second: String,
        /// Why the second cannot follow the first.
        why: &'static str,
    },
    /// Processes that read other files of the same panel.
    #[error(
        "process {process} finds the file {found} where process 0 finds {expected}; all processes that read a panel together see the \
         same files, so let all machines share their directory, or copy them to the same place on each"
    )]
    OtherFiles {
        /// The first process that differs.
        process: usize,
        /// The first file of process 0 that it has not.
        expected: String,
        /// The file that it has in its place.
        found: String,
    },
    /// A file that another process cannot read, and this one can.
    #[error("process {process}: {reason}; all processes that read a panel together see the same files")]
    #[strum(serialize = "file_of_process")]
    OfProcess {
        /// The first process that cannot.
        process: usize,
        /// What it meets.
        reason: String,
    },
    /// A file of another kind than the first.
    #[error("{file}: its {what} {found}, and of the first file {expected}; all files of a panel are alike")]
    #[strum(serialize = "unlike_files")]
    Unlike {
        /// The file.
        file: String,
        /// The subject that differs, as `columns are`.
        what: &'static str,
        /// The value in the first file.
        expected: String,
        /// The value in this one.
        found: String,
    },
    /// A directory that does not take the numbers.
    #[error("cannot keep numbers in {dir}: {source}; name a directory on a disk with room for them", dir = dir.display())]
    #[strum(serialize = "cannot_keep_rows")]
    Unwritten {
        /// The directory.
        dir: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl FilesError {
    /// Where the mistake is.
    pub(crate) fn whereabouts(&self) -> Whereabouts {
        match self {
            Self::Unlike { file, .. } => Whereabouts::file(file),
            Self::Pieces { id, second, .. } => Whereabouts::file(second).series(id),
            Self::OtherFiles { found, .. } => Whereabouts::file(found),
            Self::OfProcess { .. } | Self::Unwritten { .. } => Whereabouts::default(),
        }
    }
}
