//! The mean absolute error as a share of the value; 0 where the value is 0.

use super::function::{Gradient, LossFunction};
use super::passes::{absolute, by_step};
use super::targets::Targets;
use crate::HyperParameterError;
use crate::arguments::Arguments;

#[derive(Debug)]
pub(super) struct Mape;

impl LossFunction for Mape {
    fn read(_: &mut Arguments) -> Result<Self, HyperParameterError> {
        Ok(Self)
    }

    fn sum(&self, prediction: &[f32], truth: Targets<'_>, gradient: Gradient<'_>) -> f64 {
        by_step(prediction, truth, gradient, |error, y, _| absolute(error, y.abs()))
    }
}
