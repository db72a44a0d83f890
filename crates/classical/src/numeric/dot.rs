//! The product of two vectors, summed from the first element on.

/// The sum of the products of their elements.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
