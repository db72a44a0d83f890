//! The sum of the pinball losses of several quantiles.
//!
//! neuralforecast's documentation says mean, but its code divides by the length of a dimension that is 1. Losses and
//! gradients here are those of its code.

use serde_json::Value;

use super::function::{Gradient, LossFunction, Outputs};
use super::passes::by_quantile;
use super::quantiles::Quantiles;
use super::targets::Targets;
use crate::HyperParameterError;
use crate::arguments::Arguments;

#[derive(Debug)]
pub(super) struct MultiQuantile {
    pub(super) quantiles: Quantiles,
}

impl LossFunction for MultiQuantile {
    fn read(arguments: &mut Arguments) -> Result<Self, HyperParameterError> {
        Ok(Self { quantiles: Quantiles::read(arguments)? })
    }

    fn arguments(&self) -> Vec<(&'static str, Value)> {
        vec![self.quantiles.argument()]
    }

    fn outputs(&self) -> Outputs<'_> {
        Outputs::Quantiles(&self.quantiles)
    }

    fn sum(&self, prediction: &[f32], truth: Targets<'_>, gradient: Gradient<'_>) -> f64 {
        by_quantile(self.quantiles.values(), prediction, truth, gradient, pinball)
    }
}

/// `max(q (y - ŷ), (q - 1) (y - ŷ))` and its derivative by the forecast, `error` being forecast minus target.
pub(super) fn pinball(q: f32, error: f32) -> (f32, f32) {
    // At a tie PyTorch takes the middle of both slopes; NaN goes through.
    let slope = if error > 0.0 {
        1.0 - q
    } else if error < 0.0 {
        -q
    } else {
        0.5 - q + error
    };
    (slope * error, slope)
}
