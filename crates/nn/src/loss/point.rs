//! Losses with one output.

use foretell_simd::PointLoss;
use serde_json::{Number, Value, json};

use super::arguments::count;
use super::quantile::huber;
use super::{Targets, frequency};
use crate::HyperParameterError;
use crate::arguments::{Arguments, NumberRange};

/// A loss of one number per step.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Point {
    Mae,
    Mse,
    Rmse,
    Mape,
    Smape,
    Mase { seasonality: usize },
    RelMse,
    Huber { delta: f64 },
    Tukey { c: f64, normalize: bool },
    FreDf { alpha: f64 },
    Quantile { q: f64 },
    HuberQuantile { q: f64, delta: Number },
}

impl Point {
    pub(super) fn read(loss: &str, arguments: &mut Arguments) -> Result<Self, HyperParameterError> {
        Ok(match loss {
            "MAE" => Self::Mae,
            "MSE" => Self::Mse,
            "RMSE" => Self::Rmse,
            "MAPE" => Self::Mape,
            "SMAPE" => Self::Smape,
            "MASE" => match count(arguments, "seasonality")? {
                Some(seasonality) => Self::Mase { seasonality },
                None => {
                    let expected = "given: steps of a season";
                    return Err(HyperParameterError::new("seasonality", expected, Value::Null));
                }
            },
            "relMSE" => match arguments.take("y_train") {
                None => Self::RelMse,
                Some(found) => {
                    return Err(HyperParameterError::new("y_train", "null, as in neuralforecast", found));
                }
            },
            "HuberLoss" => {
                Self::Huber { delta: arguments.number("delta", NumberRange::POSITIVE)?.unwrap_or(1.0) }
            }
            "TukeyLoss" => Self::Tukey {
                c: arguments.number("c", NumberRange::POSITIVE)?.unwrap_or(4.685),
                normalize: arguments.flag("normalize", true)?,
            },
            "FreDF" => {
                Self::FreDf { alpha: arguments.number("alpha", NumberRange::FROM_0_TO_1)?.unwrap_or(0.5) }
            }
            "QuantileLoss" => {
                Self::Quantile { q: arguments.required_number("q", NumberRange::BETWEEN_0_AND_1)? }
            }
            "HuberQLoss" => {
                let q = arguments.required_number("q", NumberRange::BETWEEN_0_AND_1)?;
                let delta = arguments.written_number("delta", NumberRange::POSITIVE)?;
                let one = || Number::from_f64(1.0).expect("1 is finite");
                Self::HuberQuantile { q, delta: delta.unwrap_or_else(one) }
            }
            other => unreachable!("{other} is no loss of one output"),
        })
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Mae => "MAE",
            Self::Mse => "MSE",
            Self::Rmse => "RMSE",
            Self::Mape => "MAPE",
            Self::Smape => "SMAPE",
            Self::Mase { .. } => "MASE",
            Self::RelMse => "relMSE",
            Self::Huber { .. } => "HuberLoss",
            Self::Tukey { .. } => "TukeyLoss",
            Self::FreDf { .. } => "FreDF",
            Self::Quantile { .. } => "QuantileLoss",
            Self::HuberQuantile { .. } => "HuberQLoss",
        }
    }

    pub(super) fn arguments(&self) -> Vec<(&'static str, Value)> {
        match self {
            Self::Mae | Self::Mse | Self::Rmse | Self::Mape | Self::Smape | Self::RelMse => vec![],
            Self::Mase { seasonality } => vec![("seasonality", json!(seasonality))],
            Self::Huber { delta } => vec![("delta", json!(delta))],
            Self::Tukey { c, normalize } => vec![("c", json!(c)), ("normalize", json!(normalize))],
            Self::FreDf { alpha } => vec![("alpha", json!(alpha))],
            Self::Quantile { q } => vec![("q", json!(q))],
            Self::HuberQuantile { q, delta } => vec![("q", json!(q)), ("delta", json!(delta))],
        }
    }

    /// The suffix of the column's name, behind the model's.
    pub(super) fn suffix(&self) -> String {
        match self {
            Self::Quantile { q } => format!("_ql{q}"),
            Self::HuberQuantile { q, delta } => format!("_q{q}_d{delta}"),
            _ => String::new(),
        }
    }

    /// The quantile that the forecast is of, where it is not the mean or the median.
    pub(super) fn quantile(&self) -> Option<f32> {
        match self {
            Self::Quantile { q } | Self::HuberQuantile { q, .. } => Some(*q as f32),
            _ => None,
        }
    }

    /// Whether [`Point::error_scale`] depends on the history.
    pub(super) fn has_error_scale(&self) -> bool {
        matches!(self, Self::Mase { .. } | Self::RelMse | Self::Tukey { normalize: true, .. })
    }

    /// The scale of a window's errors, from its history: for MASE the mean error of the seasonal naive forecast
    /// within it, for Tukey's loss its standard deviation plus 0.01, for relMSE the naive forecast, its last value.
    /// Only known values count; 0 if there are none.
    pub(super) fn error_scale(&self, history: &[f32], mask: &[f32]) -> f32 {
        let known = || history.iter().zip(mask).filter(|(_, mask)| **mask != 0.0).map(|(&y, _)| f64::from(y));
        let error_scale = match *self {
            Self::Mase { seasonality } => {
                let at = |i: usize| (mask[i] != 0.0).then_some(f64::from(history[i]));
                let errors = (seasonality..history.len())
                    .filter_map(|now| Some((at(now)? - at(now - seasonality)?).abs()));
                mean(errors)
            }
            Self::Tukey { normalize: true, .. } => {
                let center = mean(known());
                mean(known().map(|y| (y - center) * (y - center))).sqrt() + 0.01
            }
            Self::RelMse => known().next_back().unwrap_or(0.0),
            _ => 1.0,
        };
        error_scale as f32
    }

    /// `Σ w l`; where a gradient is to be written, that of the sum times the given scale.
    pub(super) fn sum(&self, prediction: &[f32], truth: Targets<'_>, grad: Option<(&mut [f32], f32)>) -> f64 {
        match self {
            Self::Mae => kernel(PointLoss::Mae, prediction, truth, grad),
            Self::Mse | Self::Rmse | Self::RelMse => kernel(PointLoss::Mse, prediction, truth, grad),
            Self::Huber { delta } => {
                kernel(PointLoss::Huber { delta: *delta as f32 }, prediction, truth, grad)
            }
            Self::Quantile { q } => kernel(PointLoss::Pinball { q: *q as f32 }, prediction, truth, grad),
            Self::FreDf { alpha } => frequency::sum(*alpha, prediction, truth, grad),
            Self::Mape => each(prediction, truth, grad, |error, y, _| absolute(error, y.abs())),
            Self::Mase { .. } => {
                each(prediction, truth, grad, |error, _, error_scale| absolute(error, error_scale))
            }
            Self::Smape => each(prediction, truth, grad, |error, y, _| symmetric(error, y)),
            Self::Tukey { c, .. } => {
                let c = *c as f32;
                each(prediction, truth, grad, |error, _, error_scale| {
                    biweight(error / error_scale, c, error_scale)
                })
            }
            Self::HuberQuantile { q, delta } => {
                let (q, delta) = (*q as f32, delta.as_f64().unwrap_or(1.0) as f32);
                each(prediction, truth, grad, |error, _, _| {
                    let factor = if error > 0.0 { 1.0 - q } else { q };
                    let (value, slope) = huber(error.abs(), delta);
                    (factor * value, factor * slope.copysign(error))
                })
            }
        }
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), x| (sum + x, count + 1.0));
    if count == 0.0 { 0.0 } else { sum / count }
}

fn kernel(loss: PointLoss, prediction: &[f32], truth: Targets<'_>, grad: Option<(&mut [f32], f32)>) -> f64 {
    match grad {
        Some((grad, scale)) => {
            loss.value_and_grad(prediction, truth.target, Some(truth.weights), scale, grad)
        }
        None => loss.value(prediction, truth.target, Some(truth.weights)),
    }
}

/// The sum of a loss of the error (forecast minus target), the target and the window's error scale, which gives
/// its value and its derivative by the forecast.
fn each(
    prediction: &[f32],
    truth: Targets<'_>,
    mut grad: Option<(&mut [f32], f32)>,
    loss: impl Fn(f32, f32, f32) -> (f32, f32),
) -> f64 {
    let Targets { horizon, target, weights, error_scale, .. } = truth;
    let mut sum = 0.0;
    for (window, prediction) in prediction.chunks_exact(horizon).enumerate() {
        let error_scale = error_scale.get(window).copied().unwrap_or(1.0);
        for (step, &prediction) in prediction.iter().enumerate() {
            let i = window * horizon + step;
            let (value, slope) = match weights[i] {
                0.0 => (0.0, 0.0),
                weight => {
                    let (value, slope) = loss(prediction - target[i], target[i], error_scale);
                    (weight * value, weight * slope)
                }
            };
            sum += f64::from(value);
            if let Some((grad, scale)) = &mut grad {
                grad[i] = *scale * slope;
            }
        }
    }
    sum
}

/// `|error| / unit`; 0 where the unit is 0.
fn absolute(error: f32, unit: f32) -> (f32, f32) {
    if unit == 0.0 { (0.0, 0.0) } else { (error.abs() / unit, sign(error) / unit) }
}

/// `2 |error| / (|y| + |y + error|)`; 0 where both are 0.
fn symmetric(error: f32, y: f32) -> (f32, f32) {
    let prediction = y + error;
    let size = y.abs() + prediction.abs();
    if size == 0.0 {
        return (0.0, 0.0);
    }
    let value = 2.0 * error.abs() / size;
    (value, (2.0 * sign(error) - value * sign(prediction)) / size)
}

/// Tukey's biweight (Beaton and Tukey 1974) of the residual `r`: `c²/6 (1 - (1 - (r/c)²)³)` up to `c`,
/// beyond it `c²/6`. The derivative is by the error, which is `r` times `unit`.
fn biweight(r: f32, c: f32, unit: f32) -> (f32, f32) {
    let rest = 1.0 - (r / c) * (r / c);
    // Written so that a residual which is not a number stays one.
    if rest <= 0.0 {
        (c * c / 6.0, 0.0)
    } else {
        (c * c / 6.0 * (1.0 - rest * rest * rest), r * rest * rest / unit)
    }
}

/// PyTorch's sign: 0 at 0, NaN at NaN.
fn sign(x: f32) -> f32 {
    if x == 0.0 { 0.0 } else { x.signum() }
}
