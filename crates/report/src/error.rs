//! Numbers that do not fit together.

use std::error::Error;
use std::fmt;

/// Numbers of a report that do not fit together.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReportError {
    /// More scores in a row than there are models.
    Scores {
        /// The models.
        models: usize,
        /// The scores of the row.
        found: usize,
    },
    /// More or fewer values than there are places for.
    Values {
        /// What they are values of.
        of: String,
        /// The places.
        expected: usize,
        /// The values.
        found: usize,
    },
}

impl fmt::Display for ReportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scores { models, found } => {
                write!(f, "a row has {found} scores of {models} models; give at most one for each model")
            }
            Self::Values { of, expected, found } => {
                write!(
                    f,
                    "{of} needs {expected} values, found {found}; give one for each place, NaN where nothing is known"
                )
            }
        }
    }
}

impl Error for ReportError {}
