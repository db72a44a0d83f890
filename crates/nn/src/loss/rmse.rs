//! The root of the mean squared error.

use foretell_simd::PointLoss;

use super::function::{Gradient, LossFunction};
use super::passes::by_kernel;
use super::sums::LossSums;
use super::targets::Targets;
use crate::HyperParameterError;
use crate::arguments::Arguments;

#[derive(Debug)]
pub(super) struct Rmse;

impl LossFunction for Rmse {
    fn read(_: &mut Arguments) -> Result<Self, HyperParameterError> {
        Ok(Self)
    }

    fn sum(&self, prediction: &[f32], truth: Targets<'_>, gradient: Gradient<'_>) -> f64 {
        by_kernel(PointLoss::Mse, prediction, truth, gradient)
    }

    /// The slope of the root at 0 is taken to be 0, so that a perfect forecast is not moved.
    fn value_and_slope(&self, means: LossSums) -> (f64, f64) {
        let root = means.sum.sqrt();
        (root, if root == 0.0 { 0.0 } else { 0.5 / root })
    }
}
