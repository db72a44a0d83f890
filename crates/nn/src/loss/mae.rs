//! The mean absolute error.

use foretell_simd::PointLoss;

use super::function::{Gradient, LossFunction};
use super::passes::by_kernel;
use super::targets::Targets;
use crate::HyperParameterError;
use crate::arguments::Arguments;

#[derive(Debug)]
pub(super) struct Mae;

impl LossFunction for Mae {
    fn read(_: &mut Arguments) -> Result<Self, HyperParameterError> {
        Ok(Self)
    }

    fn sum(&self, prediction: &[f32], truth: Targets<'_>, gradient: Gradient<'_>) -> f64 {
        by_kernel(PointLoss::Mae, prediction, truth, gradient)
    }
}
