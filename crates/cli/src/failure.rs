//! Why a command ends without having done all it should, where the program treats it in its own way.

use std::{fmt, io};

/// A mistake in the command line that clap cannot see.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Ctrl-C stopped the work before its end; says what was saved.
#[derive(Debug)]
pub(crate) struct Interrupted(pub(crate) String);

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Interrupted {}

/// A score that is beyond a bound that was named; says which.
#[derive(Debug)]
pub(crate) struct ThresholdCrossed(pub(crate) String);

impl ThresholdCrossed {
    pub(crate) const EXIT_CODE: u8 = 3;
}

impl fmt::Display for ThresholdCrossed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ThresholdCrossed {}

/// Whether the reader of standard output has closed it.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
