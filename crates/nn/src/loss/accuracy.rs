//! The share of forecasts that are exactly the value: of categories that are numbers.

use super::function::{Gradient, LossFunction};
use super::passes::by_step;
use super::targets::Targets;
use crate::HyperParameterError;
use crate::arguments::Arguments;

#[derive(Debug)]
pub(super) struct Accuracy;

impl LossFunction for Accuracy {
    fn read(_: &mut Arguments) -> Result<Self, HyperParameterError> {
        Ok(Self)
    }

    /// neuralforecast's class has none.
    fn has_horizon_weight() -> bool {
        false
    }

    /// Its derivative is 0 everywhere.
    fn trains(&self) -> bool {
        false
    }

    fn sum(&self, prediction: &[f32], truth: Targets<'_>, gradient: Gradient<'_>) -> f64 {
        by_step(prediction, truth, gradient, |error, _, _| (f32::from(u8::from(error == 0.0)), 0.0))
    }

    fn minimised(&self, value: f64) -> f64 {
        1.0 - value
    }
}
