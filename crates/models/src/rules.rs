//! Rules for the values of hyper-parameters: [`hyper_parameters!`](crate::hyper_parameters) names one for each, and
//! [`HyperParameters::set`](crate::HyperParameters::set) checks each value by it.

use std::fmt::Display;
use std::ops::RangeInclusive;

/// A rule for the values of a hyper-parameter; the error of a value that breaks it says what was expected instead.
pub type ValueRule<T> = fn(&T) -> Result<(), String>;

/// The most layers or blocks that a model may have; more is taken for a typing error.
pub const MAX_LAYERS: usize = 1000;

/// The most units of a layer, or steps between two that it reads, that a model may have; more is taken for a typing
/// error.
pub const MAX_UNITS: usize = 1_000_000;

/// `Ok` if the value `holds`, else `expected` as the error.
///
/// # Errors
/// If the value does not hold.
pub fn require(holds: bool, expected: impl Into<String>) -> Result<(), String> {
    if holds { Ok(()) } else { Err(expected.into()) }
}

/// The rule of the steps of history that a model sees where it forecasts: any number, of which one that is not positive stands for
/// `input_size`, up to [`MAX_UNITS`].
///
/// # Errors
/// If it is larger.
pub fn inference_input_size(size: &Option<i64>) -> Result<(), String> {
    let expected = format!("at most {MAX_UNITS}, or null for input_size");
    require(size.is_none_or(|size| size <= MAX_UNITS as i64), expected)
}

/// The rule that a number is within the range.
///
/// # Errors
/// If it is outside of the range.
pub fn within<T: PartialOrd + Display>(number: &T, range: RangeInclusive<T>) -> Result<(), String> {
    require(range.contains(number), format!("between {} and {}", range.start(), range.end()))
}

/// The rule of a number of layers or blocks: from 1 to [`MAX_LAYERS`].
///
/// # Errors
/// If it is outside of this range.
pub fn layers(count: &usize) -> Result<(), String> {
    within(count, 1..=MAX_LAYERS)
}

/// The rule of a number of units of a layer, or of steps: from 1 to [`MAX_UNITS`].
///
/// # Errors
/// If it is outside of this range.
pub fn units(count: &usize) -> Result<(), String> {
    within(count, 1..=MAX_UNITS)
}

/// The rule of a probability that a unit is dropped in training: from 0 to below 1.
///
/// # Errors
/// If it is outside of this range.
pub fn dropout<T: Copy + Into<f64>>(probability: &T) -> Result<(), String> {
    require((0.0..1.0).contains(&(*probability).into()), "at least 0 and below 1")
}

/// The rule of the steps of a moving average: odd.
///
/// # Errors
/// If they are even.
pub fn odd(steps: &usize) -> Result<(), String> {
    require(!steps.is_multiple_of(2), "odd, so that the average has a middle")
}

/// The rule that a word is one of these.
///
/// # Errors
/// If it is not among them.
pub fn one_of(word: &str, words: &[&str]) -> Result<(), String> {
    require(words.contains(&word), format!("one of {}", words.join(", ")))
}
