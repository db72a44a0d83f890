//! The reports of the rules.

use std::fmt;

/// A broken rule: where, what, and what to do about it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Violation {
    /// Relative to the root of the workspace.
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) what: String,
    pub(super) remedy: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}; {}", self.path, self.line, self.what, self.remedy)
    }
}
