//! How a chore ended that did not fail.

/// The end of a chore.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    Done,
    /// It needs what this machine lacks, and why: nothing was shown.
    PassedOver(String),
}
