//! The parts of a loss: a trait that each implements in a file of its own.

use std::fmt::Debug;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use foretell_autograd::Key;
use serde_json::Value;

use super::columns::DistributionColumns;
use super::implicit_quantiles::ImplicitQuantiles;
use super::quantiles::Quantiles;
use super::sums::LossSums;
use super::targets::{Support, Targets};
use crate::HyperParameterError;
use crate::arguments::Arguments;

/// Where the derivative of a sum by the prediction is written, and its factor.
pub(super) type Gradient<'a> = Option<(&'a mut [f32], f32)>;

/// A loss and its arguments, `horizon_weight` excepted: weights of steps are the same for all losses.
///
/// Only [`LossFunction::sum`] is called for every part of every batch. It runs over whole slices, so the call through a table
/// of functions costs nothing.
pub(super) trait LossFunction: Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Takes its arguments out of the map; absent ones take neuralforecast's defaults.
    fn read(arguments: &mut Arguments) -> Result<Self, HyperParameterError>
    where
        Self: Sized;

    /// Whether neuralforecast's class takes weights of the steps.
    fn has_horizon_weight() -> bool
    where
        Self: Sized,
    {
        true
    }

    /// The arguments, such that [`LossFunction::read`] gives the loss back.
    fn arguments(&self) -> Vec<(&'static str, Value)> {
        vec![]
    }

    /// The kind of the model's outputs for a step.
    fn outputs(&self) -> Outputs<'_> {
        Outputs::Point
    }

    /// Steps of history that a window must have more of.
    fn seasonality(&self) -> usize {
        0
    }

    /// The scale that errors are divided by in a window of this `history [input_size]`, known where `mask` is not 0; `None`,
    /// whatever the history, if the loss has no such scale.
    fn error_scale(&self, history: &[f32], mask: &[f32]) -> Option<f64> {
        let _ = (history, mask);
        None
    }

    /// Whether models are trained with it, or only validated.
    fn trains(&self) -> bool {
        true
    }

    /// `Σ w l` over `prediction [n, h, outputs]`; where a gradient is to be written, that of the sum times its scale.
    /// Where a weight is 0, value and gradient are 0, whatever is there.
    fn sum(&self, prediction: &[f32], truth: Targets<'_>, gradient: Gradient<'_>) -> f64;

    /// `Σ w l` over forecasts, where they are other numbers than the model's outputs in training.
    fn sum_of_forecasts(&self, forecast: &[f32], truth: Targets<'_>) -> f64 {
        self.sum(forecast, truth, None)
    }

    /// `Σ w r`, of a loss that is relative to a mean of something else than `l`.
    fn reference(&self, truth: Targets<'_>) -> f64 {
        let _ = truth;
        0.0
    }

    /// The loss of a batch from the means of `l` and of its reference, and its derivative by the first.
    fn value_and_slope(&self, means: LossSums) -> (f64, f64) {
        (means.sum, 1.0)
    }

    /// A value that falls as forecasts get better, where the loss's own rises.
    fn minimised(&self, value: f64) -> f64 {
        value
    }
}

/// The kind of a model's outputs for a step, as its loss defines it.
pub(super) enum Outputs<'a> {
    /// One number, its best forecast.
    Point,
    /// One number: a quantile, in a column with this suffix.
    Quantile { q: f32, suffix: &'a str },
    /// A number for each of these quantiles.
    Quantiles(&'a Quantiles),
    /// One number, of which a layer behind the model makes any quantile.
    Implicit(&'a dyn Implicit),
    /// Numbers that make the parameters of a distribution.
    Distribution(&'a dyn Distribution),
}

/// A loss of implicit quantiles.
pub(super) trait Implicit {
    /// The layer behind the model.
    fn layer(&self) -> &ImplicitQuantiles;

    /// The quantiles in the columns of a forecast.
    fn quantiles(&self) -> &Quantiles;

    /// The same loss with other quantiles in the columns of its forecasts.
    fn with_quantiles(&self, quantiles: Quantiles) -> Arc<dyn LossFunction>;
}

/// A distribution as the forecast of a step.
pub(super) trait Distribution {
    /// How many outputs make it.
    fn outputs(&self) -> usize;

    /// The quantiles in the columns of a forecast, behind the mean.
    fn quantiles(&self) -> &Quantiles;

    /// The suffixes of the columns of its parameters, which follow the quantiles; none if they were not asked for.
    fn parameter_columns(&self) -> Vec<String>;

    /// The values that it gives a probability to.
    fn support(&self) -> Support;

    /// Whether it has probabilities of whole numbers alone.
    fn is_of_counts(&self) -> bool;

    /// Whether neuralforecast reads the outputs of several series parameter by parameter, and not series by series.
    fn is_read_by_parameter(&self) -> bool;

    /// The same loss with other quantiles in the columns of its forecasts.
    fn with_quantiles(&self, quantiles: Quantiles) -> Arc<dyn LossFunction>;

    /// Writes the columns of a window, `[h, columns]`, from the outputs `[h, outputs]` and the window's location and scale.
    fn forecast(&self, columns: &DistributionColumns, output: &[f32], window: [f32; 2], into: &mut [f32]);

    /// A sample of a step's distribution, from the outputs for it and the window's location and scale; NaN where they make no
    /// distribution.
    fn sample(&self, output: &[f32], window: [f32; 2], key: Key) -> f32;
}
