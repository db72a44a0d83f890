//! A number that may be NaN, for `#[serde(with = "foretell_estimator::nan_as_null")]`: NaN is written as nothing (`null` in
//! JSON, which knows no NaN), and nothing is read as NaN.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes the number, or nothing where it is NaN.
///
/// # Errors
/// If the serializer fails.
pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    (!value.is_nan()).then_some(value).serialize(serializer)
}

/// Reads what [`serialize`] wrote.
///
/// # Errors
/// If the deserializer fails, or a value is no number.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}
