//! Tukey's biweight (Beaton and Tukey 1974), in which errors beyond `c` count alike.

use serde_json::{Value, json};

use super::function::{Gradient, LossFunction};
use super::passes::{by_step, known, mean};
use super::targets::Targets;
use crate::HyperParameterError;
use crate::arguments::{Arguments, NumberRange};

#[derive(Debug)]
pub(super) struct Tukey {
    c: f64,
    /// Whether errors are divided by the standard deviation of their window's history.
    normalize: bool,
}

impl LossFunction for Tukey {
    fn read(arguments: &mut Arguments) -> Result<Self, HyperParameterError> {
        Ok(Self {
            c: arguments.number("c", NumberRange::POSITIVE)?.unwrap_or(4.685),
            normalize: arguments.flag("normalize", true)?,
        })
    }

    /// It is neuralforecast's only loss without.
    fn has_horizon_weight() -> bool {
        false
    }

    fn arguments(&self) -> Vec<(&'static str, Value)> {
        vec![("c", json!(self.c)), ("normalize", json!(self.normalize))]
    }

    /// The standard deviation of the known values plus 0.01.
    fn error_scale(&self, history: &[f32], mask: &[f32]) -> Option<f64> {
        let known = || known(history, mask);
        self.normalize.then(|| {
            let center = mean(known());
            mean(known().map(|y| (y - center) * (y - center))).sqrt() + 0.01
        })
    }

    fn sum(&self, prediction: &[f32], truth: Targets<'_>, gradient: Gradient<'_>) -> f64 {
        let c = self.c as f32;
        by_step(prediction, truth, gradient, |error, _, error_scale| {
            biweight(error / error_scale, c, error_scale)
        })
    }
}

/// The biweight of the residual `r`: `c²/6 (1 - (1 - (r/c)²)³)` up to `c`, beyond it `c²/6`. The derivative is by the error,
/// which is `r` times `unit`.
fn biweight(r: f32, c: f32, unit: f32) -> (f32, f32) {
    let rest = 1.0 - (r / c) * (r / c);
    // Written so that a residual which is not a number stays one.
    if rest <= 0.0 {
        (c * c / 6.0, 0.0)
    } else {
        (c * c / 6.0 * (1.0 - rest * rest * rest), r * rest * rest / unit)
    }
}
