//! Huber's loss of the error of one quantile, times `q` below it and `1 - q` above.

use serde_json::{Number, Value, json};

use super::function::{Gradient, LossFunction, Outputs};
use super::huber::huber;
use super::passes::by_step;
use super::targets::Targets;
use crate::HyperParameterError;
use crate::arguments::{Arguments, NumberRange};

#[derive(Debug)]
pub(super) struct HuberQuantile {
    q: f64,
    /// As it was written, which the column's name repeats.
    delta: Number,
    suffix: String,
}

impl LossFunction for HuberQuantile {
    fn read(arguments: &mut Arguments) -> Result<Self, HyperParameterError> {
        let q = arguments.required_number("q", NumberRange::BETWEEN_0_AND_1)?;
        let delta = arguments.written_number("delta", NumberRange::POSITIVE)?;
        let delta = delta.unwrap_or_else(|| Number::from_f64(1.0).expect("1 is finite"));
        let suffix = format!("_q{q}_d{delta}");
        Ok(Self { q, delta, suffix })
    }

    fn arguments(&self) -> Vec<(&'static str, Value)> {
        vec![("q", json!(self.q)), ("delta", json!(self.delta))]
    }

    fn outputs(&self) -> Outputs<'_> {
        Outputs::Quantile { q: self.q as f32, suffix: &self.suffix }
    }

    fn sum(&self, prediction: &[f32], truth: Targets<'_>, gradient: Gradient<'_>) -> f64 {
        let (q, delta) = (self.q as f32, self.delta.as_f64().unwrap_or(1.0) as f32);
        by_step(prediction, truth, gradient, |error, _, _| huber_of_quantile(q, error, delta))
    }
}

/// The loss of an `error` (forecast minus target) and its derivative.
pub(super) fn huber_of_quantile(q: f32, error: f32, delta: f32) -> (f32, f32) {
    let factor = if error > 0.0 { 1.0 - q } else { q };
    let (value, slope) = huber(error.abs(), delta);
    (factor * value, factor * slope.copysign(error))
}
