//! The pinball loss of one quantile (Koenker and Bassett 1978).

use foretell_simd::PointLoss;
use serde_json::{Value, json};

use super::function::{Gradient, LossFunction, Outputs};
use super::passes::by_kernel;
use super::targets::Targets;
use crate::HyperParameterError;
use crate::arguments::{Arguments, NumberRange};

#[derive(Debug)]
pub(super) struct QuantileLoss {
    q: f64,
    suffix: String,
}

impl LossFunction for QuantileLoss {
    fn read(arguments: &mut Arguments) -> Result<Self, HyperParameterError> {
        let q = arguments.required_number("q", NumberRange::BETWEEN_0_AND_1)?;
        Ok(Self { q, suffix: format!("_ql{q}") })
    }

    fn arguments(&self) -> Vec<(&'static str, Value)> {
        vec![("q", json!(self.q))]
    }

    fn outputs(&self) -> Outputs<'_> {
        Outputs::Quantile { q: self.q as f32, suffix: &self.suffix }
    }

    fn sum(&self, prediction: &[f32], truth: Targets<'_>, gradient: Gradient<'_>) -> f64 {
        by_kernel(PointLoss::Pinball { q: self.q as f32 }, prediction, truth, gradient)
    }
}
