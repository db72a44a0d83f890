//! The mean squared error as a share of that of the naive forecast, a window's last known value.

use foretell_simd::PointLoss;

use super::function::{Gradient, LossFunction};
use super::passes::{by_kernel, known};
use super::sums::LossSums;
use super::targets::Targets;
use crate::HyperParameterError;
use crate::arguments::Arguments;

#[derive(Debug)]
pub(super) struct RelMse;

impl LossFunction for RelMse {
    fn read(arguments: &mut Arguments) -> Result<Self, HyperParameterError> {
        match arguments.take("y_train") {
            None => Ok(Self),
            Some(found) => Err(HyperParameterError::new("y_train", "null, as in neuralforecast", found)),
        }
    }

    /// The naive forecast; 0 if nothing is known.
    fn error_scale(&self, history: &[f32], mask: &[f32]) -> Option<f64> {
        Some(known(history, mask).next_back().unwrap_or(0.0))
    }

    fn sum(&self, prediction: &[f32], truth: Targets<'_>, gradient: Gradient<'_>) -> f64 {
        by_kernel(PointLoss::Mse, prediction, truth, gradient)
    }

    /// `Σ w (y - ŷ)²` of the naive forecast.
    fn reference(&self, truth: Targets<'_>) -> f64 {
        let Targets { horizon, target, weights, error_scale, .. } = truth;
        let squares = target.iter().zip(weights).enumerate().filter(|(_, (_, weight))| **weight != 0.0);
        squares
            .map(|(i, (&y, &weight))| {
                let error = f64::from(y) - f64::from(error_scale.get(i / horizon).copied().unwrap_or(1.0));
                f64::from(weight) * error * error
            })
            .sum()
    }

    fn value_and_slope(&self, means: LossSums) -> (f64, f64) {
        let slope = 1.0 / (means.reference + 1e-5);
        (means.sum * slope, slope)
    }
}
