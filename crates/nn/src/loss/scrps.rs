//! The scaled continuous ranked probability score (Rangapuram et al. 2021): twice the sum of the pinball losses of several
//! quantiles, as a share of the sum of the absolute values.
//!
//! neuralforecast adds 1e-5 to the sum of absolute values, and counts those of masked steps, which are unknown. Here they are left
//! out, and what keeps the divisor from 0 is too small to be seen.

use serde_json::Value;

use super::function::{Gradient, LossFunction, Outputs};
use super::multi_quantile::MultiQuantile;
use super::sums::LossSums;
use super::targets::Targets;
use crate::HyperParameterError;
use crate::arguments::Arguments;

#[derive(Debug)]
pub(super) struct ScaledCrps(MultiQuantile);

impl LossFunction for ScaledCrps {
    fn read(arguments: &mut Arguments) -> Result<Self, HyperParameterError> {
        MultiQuantile::read(arguments).map(Self)
    }

    /// neuralforecast's class has none.
    fn has_horizon_weight() -> bool {
        false
    }

    fn arguments(&self) -> Vec<(&'static str, Value)> {
        self.0.arguments()
    }

    fn outputs(&self) -> Outputs<'_> {
        self.0.outputs()
    }

    /// As in neuralforecast; `MQLoss` has the same minimum.
    fn trains(&self) -> bool {
        false
    }

    fn sum(&self, prediction: &[f32], truth: Targets<'_>, gradient: Gradient<'_>) -> f64 {
        self.0.sum(prediction, truth, gradient)
    }

    /// `Σ w |y|`.
    fn reference(&self, truth: Targets<'_>) -> f64 {
        let known = truth.target.iter().zip(truth.weights).filter(|(_, weight)| **weight != 0.0);
        known.map(|(&y, &weight)| f64::from(weight) * f64::from(y.abs())).sum()
    }

    fn value_and_slope(&self, means: LossSums) -> (f64, f64) {
        let slope = 2.0 / (means.reference + 1e-12);
        (means.sum * slope, slope)
    }
}
