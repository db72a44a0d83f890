//! Why a command ends without having done all it should, where the program treats it in its own way.

use std::io;

/// A mistake in the command line that clap cannot see.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// Ctrl-C stopped the work before its end; says what was saved.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Interrupted(pub(crate) String);

/// A score that is beyond a bound that was named; says which.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ThresholdCrossed(pub(crate) String);

impl ThresholdCrossed {
    pub(crate) const EXIT_CODE: u8 = 3;
}

/// Whether the reader of standard output has closed it.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
