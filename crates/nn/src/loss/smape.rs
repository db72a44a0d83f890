//! The mean absolute error as a share of the mean of value and forecast.

use super::function::{Gradient, LossFunction};
use super::passes::{by_step, sign};
use super::targets::Targets;
use crate::HyperParameterError;
use crate::arguments::Arguments;

#[derive(Debug)]
pub(super) struct Smape;

impl LossFunction for Smape {
    fn read(_: &mut Arguments) -> Result<Self, HyperParameterError> {
        Ok(Self)
    }

    fn sum(&self, prediction: &[f32], truth: Targets<'_>, gradient: Gradient<'_>) -> f64 {
        by_step(prediction, truth, gradient, |error, y, _| symmetric(error, y))
    }
}

/// `2 |error| / (|y| + |y + error|)` and its derivative by the error; 0 where both are 0.
fn symmetric(error: f32, y: f32) -> (f32, f32) {
    let prediction = y + error;
    let size = y.abs() + prediction.abs();
    if size == 0.0 {
        return (0.0, 0.0);
    }
    let value = 2.0 * error.abs() / size;
    (value, (2.0 * sign(error) - value * sign(prediction)) / size)
}
