//! The sum over several quantiles of Huber's loss of `q` times an error below or `1 - q` times one above. (`HuberQLoss` has
//! the factor before Huber's loss.)

use serde_json::Value;

use super::function::{Gradient, LossFunction, Outputs};
use super::huber::huber;
use super::passes::by_quantile;
use super::quantiles::Quantiles;
use super::targets::Targets;
use crate::HyperParameterError;
use crate::arguments::{Arguments, NumberRange};

#[derive(Debug)]
pub(super) struct HuberMultiQuantile {
    quantiles: Quantiles,
    delta: f64,
}

impl LossFunction for HuberMultiQuantile {
    fn read(arguments: &mut Arguments) -> Result<Self, HyperParameterError> {
        let delta = arguments.number("delta", NumberRange::POSITIVE)?.unwrap_or(1.0);
        Ok(Self { quantiles: Quantiles::read(arguments)?, delta })
    }

    fn arguments(&self) -> Vec<(&'static str, Value)> {
        vec![self.quantiles.argument(), ("delta", self.delta.into())]
    }

    fn outputs(&self) -> Outputs<'_> {
        Outputs::Quantiles(&self.quantiles)
    }

    fn sum(&self, prediction: &[f32], truth: Targets<'_>, gradient: Gradient<'_>) -> f64 {
        let delta = self.delta as f32;
        by_quantile(self.quantiles.values(), prediction, truth, gradient, |q, error| {
            let factor = if error > 0.0 { 1.0 - q } else { -q };
            let (value, slope) = huber(factor * error, delta);
            (value, factor * slope)
        })
    }
}
