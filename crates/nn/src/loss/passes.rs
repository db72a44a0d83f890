//! Passes over the steps of windows, which losses share.

use foretell_simd::PointLoss;

use super::function::Gradient;
use super::targets::Targets;

/// The sum of a loss that has a kernel.
pub(super) fn by_kernel(
    loss: PointLoss,
    prediction: &[f32],
    truth: Targets<'_>,
    gradient: Gradient<'_>,
) -> f64 {
    match gradient {
        Some((gradient, scale)) => {
            loss.value_and_grad(prediction, truth.target, Some(truth.weights), scale, gradient)
        }
        None => loss.value(prediction, truth.target, Some(truth.weights)),
    }
}

/// The sum of a loss of the error (forecast minus target), the target and the window's error scale, which gives
/// its value and its derivative by the forecast.
pub(super) fn by_step(
    prediction: &[f32],
    truth: Targets<'_>,
    mut gradient: Gradient<'_>,
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
            if let Some((gradient, scale)) = &mut gradient {
                gradient[i] = *scale * slope;
            }
        }
    }
    sum
}

/// The sum of a loss of several quantiles, `prediction [n, h, quantiles]`: for each a loss of the quantile and the error
/// (forecast minus target), which gives its value and its derivative by the forecast.
pub(super) fn by_quantile(
    quantiles: &[f32],
    prediction: &[f32],
    truth: Targets<'_>,
    mut gradient: Gradient<'_>,
    loss: impl Fn(f32, f32) -> (f32, f32),
) -> f64 {
    let count = quantiles.len();
    let mut sum = 0.0;
    let rows = prediction.chunks_exact(count).zip(truth.target.iter().zip(truth.weights));
    for (step, (row, (&target, &weight))) in rows.enumerate() {
        let mut slopes =
            gradient.as_mut().map(|(gradient, scale)| (&mut gradient[step * count..][..count], *scale));
        if weight == 0.0 {
            if let Some((slopes, _)) = slopes {
                slopes.fill(0.0);
            }
            continue;
        }
        let mut total = 0.0;
        for (i, (&q, &prediction)) in quantiles.iter().zip(row).enumerate() {
            let (value, slope) = loss(q, prediction - target);
            total += value;
            if let Some((slopes, scale)) = &mut slopes {
                slopes[i] = *scale * weight * slope;
            }
        }
        sum += f64::from(weight * total);
    }
    sum
}

/// The mean of the values; 0 if there are none.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), x| (sum + x, count + 1.0));
    if count == 0.0 { 0.0 } else { sum / count }
}

/// The values of a history that are known.
pub(super) fn known<'a>(history: &'a [f32], mask: &'a [f32]) -> impl DoubleEndedIterator<Item = f64> + 'a {
    history.iter().zip(mask).filter(|(_, mask)| **mask != 0.0).map(|(&y, _)| f64::from(y))
}

/// `|error| / unit` and its derivative by the error; 0 where the unit is 0.
pub(super) fn absolute(error: f32, unit: f32) -> (f32, f32) {
    if unit == 0.0 { (0.0, 0.0) } else { (error.abs() / unit, sign(error) / unit) }
}

/// PyTorch's sign: 0 at 0, NaN at NaN.
pub(super) fn sign(x: f32) -> f32 {
    if x == 0.0 { 0.0 } else { x.signum() }
}
