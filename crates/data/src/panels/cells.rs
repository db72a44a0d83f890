//! Which values a cell may hold.

use super::fill::Fill;
use foretell_tables::Flaw;

/// A value that is neither missing nor infinite.
pub(crate) fn finite(value: f32) -> Result<f32, Flaw> {
    match value {
        v if v.is_nan() => Err(Flaw::Missing),
        v if v.is_infinite() => Err(Flaw::Infinite),
        v => Ok(v),
    }
}

/// A missing value is NaN where it will be filled; in a row whose `available_mask` is 0 it is what
/// padding is: zero.
pub(crate) fn admitted(value: Result<f32, Flaw>, masked: bool, fill: Option<Fill>) -> Result<f32, Flaw> {
    match value {
        Err(Flaw::Missing) if fill.is_some() => Ok(f32::NAN),
        Err(Flaw::Missing) if masked => Ok(0.0),
        value => value,
    }
}

pub(crate) fn check_mask(value: f32) -> Result<f32, Flaw> {
    if value == 0.0 || value == 1.0 { Ok(value) } else { Err(Flaw::Mask) }
}

pub(crate) fn check_weight(value: f32) -> Result<f32, Flaw> {
    if value < 0.0 { Err(Flaw::Negative) } else { finite(value) }
}
