//! A constant that an optimiser or a schedule cannot have.

use std::error::Error;
use std::fmt;

/// A constant with which a training climbs, or comes to nothing but NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct BadConstant {
    /// Its name.
    pub name: &'static str,
    /// What has it: an optimiser, or a schedule.
    pub of: &'static str,
    /// What it may be.
    pub expected: &'static str,
    /// What it is.
    pub found: f64,
}

impl fmt::Display for BadConstant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, of, expected, found } = self;
        write!(f, "{name} of {of} must be {expected}, found {found}")
    }
}

impl Error for BadConstant {}
