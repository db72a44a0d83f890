//! The mean of values.

/// The mean of values; NaN of none.
pub(crate) fn mean(y: &[f64]) -> f64 {
    y.iter().sum::<f64>() / y.len() as f64
}
