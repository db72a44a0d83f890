//! What the values of hyper-parameters may be: rules for [`hyper_parameters!`](crate::hyper_parameters), which
//! [`HyperParameters::set`](crate::HyperParameters::set) holds each value against.

use std::fmt::Display;
use std::ops::RangeInclusive;

/// From a value to what was expected instead, if it is none of those allowed.
pub type ValueRule<T> = fn(&T) -> Result<(), String>;

/// Layers or blocks that a model may have: more is a slip of the finger.
pub const MAX_LAYERS: usize = 1000;

/// Units of a layer, or steps between two that it reads, that a model may have: more is a slip of the finger.
pub const MAX_UNITS: usize = 1_000_000;

/// A value for which this `holds`.
pub fn require(holds: bool, expected: impl Into<String>) -> Result<(), String> {
    if holds { Ok(()) } else { Err(expected.into()) }
}

/// A number within the range.
pub fn within<T: PartialOrd + Display>(number: &T, range: RangeInclusive<T>) -> Result<(), String> {
    require(range.contains(number), format!("between {} and {}", range.start(), range.end()))
}

/// The number of layers or blocks of a model that has some.
pub fn layers(count: &usize) -> Result<(), String> {
    within(count, 1..=MAX_LAYERS)
}

/// The number of units of a layer, or of steps.
pub fn units(count: &usize) -> Result<(), String> {
    within(count, 1..=MAX_UNITS)
}

/// A probability that a unit is dropped in training.
pub fn dropout<T: Copy + Into<f64>>(probability: &T) -> Result<(), String> {
    require((0.0..1.0).contains(&(*probability).into()), "at least 0 and below 1")
}

/// The steps of a moving average.
pub fn odd(steps: &usize) -> Result<(), String> {
    require(!steps.is_multiple_of(2), "odd, so that the average has a middle")
}

/// One of these words.
pub fn one_of(word: &str, words: &[&str]) -> Result<(), String> {
    require(words.contains(&word), format!("one of {}", words.join(", ")))
}
