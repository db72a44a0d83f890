//! Huber's loss (1964): the squared error near 0, beyond `delta` the absolute error.

use foretell_simd::PointLoss;
use serde_json::{Value, json};

use super::function::{Gradient, LossFunction};
use super::passes::by_kernel;
use super::targets::Targets;
use crate::HyperParameterError;
use crate::arguments::{Arguments, NumberRange};

#[derive(Debug)]
pub(super) struct Huber {
    delta: f64,
}

impl LossFunction for Huber {
    fn read(arguments: &mut Arguments) -> Result<Self, HyperParameterError> {
        Ok(Self { delta: arguments.number("delta", NumberRange::POSITIVE)?.unwrap_or(1.0) })
    }

    fn arguments(&self) -> Vec<(&'static str, Value)> {
        vec![("delta", json!(self.delta))]
    }

    fn sum(&self, prediction: &[f32], truth: Targets<'_>, gradient: Gradient<'_>) -> f64 {
        by_kernel(PointLoss::Huber { delta: self.delta as f32 }, prediction, truth, gradient)
    }
}

/// Huber's loss of an `error` that is not negative, and its derivative.
pub(super) fn huber(error: f32, delta: f32) -> (f32, f32) {
    let clipped = if error > delta { delta } else { error };
    (clipped * (error - 0.5 * clipped), clipped)
}
