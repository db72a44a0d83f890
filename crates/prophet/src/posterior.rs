//! The objective of a fit: minus the logarithm of the posterior, as in Prophet's Stan model, and its gradient.
//!
//! With `y` and `t` scaled, `y ~ N(trend * (1 + x_m beta) + x_a beta, sigma)`; `k, m ~ N(0, 5)`, `sigma ~ N(0, 0.5)`,
//! `beta ~ N(0, prior_scale)`, `delta ~ Laplace(0, changepoint_prior_scale)`. Parameters are in one slice, as [`Places`] says;
//! for `sigma`, which is above 0, its logarithm. The absolute values of `delta`, which have no derivative at 0, are left to the
//! optimiser. How far forecasts of the history are off is a function that it is given: of rows, or of their moments.

use std::ops::Range;

/// The variance of the priors of rate and offset, and of the noise.
const GROWTH_VARIANCE: f64 = 25.0;
const SIGMA_VARIANCE: f64 = 0.25;

/// A variance of the noise that is always there: a millionth of the scale of the data, of whose 32-bit numbers little more is
/// certain. A line without any noise would otherwise have no largest posterior.
const LEAST_VARIANCE: f64 = 1e-12;

/// Where each parameter is: rate, offset, logarithm of `sigma`, changes of the rate, coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    pub(crate) changes: usize,
    pub(crate) coefficients: usize,
}

impl Places {
    pub(crate) const RATE: usize = 0;
    pub(crate) const OFFSET: usize = 1;
    pub(crate) const LOG_SIGMA: usize = 2;

    pub(crate) fn delta(self) -> Range<usize> {
        3..3 + self.changes
    }

    pub(crate) fn beta(self) -> Range<usize> {
        self.delta().end..self.delta().end + self.coefficients
    }

    /// How many there are.
    pub(crate) fn count(self) -> usize {
        self.beta().end
    }
}

/// Minus the logarithm of the posterior at these parameters, without constants and the prior of `delta`; its gradient is
/// written. `squares` is the sum of squared errors of the history, and writes half its gradient, 0 by `sigma`.
pub(crate) fn value_and_gradient(
    parameters: &[f64],
    gradient: &mut [f64],
    rows: usize,
    prior_scales: &[f64],
    squares: impl FnOnce(&[f64], &mut [f64]) -> f64,
) -> f64 {
    let rows = rows as f64;
    let squares = squares(parameters, gradient) + rows * LEAST_VARIANCE;
    let (rate, offset) = (parameters[Places::RATE], parameters[Places::OFFSET]);
    let (log_sigma, variance) = (parameters[Places::LOG_SIGMA], (2.0 * parameters[Places::LOG_SIGMA]).exp());
    gradient.iter_mut().for_each(|gradient| *gradient /= variance);
    gradient[Places::RATE] += rate / GROWTH_VARIANCE;
    gradient[Places::OFFSET] += offset / GROWTH_VARIANCE;
    gradient[Places::LOG_SIGMA] = rows - squares / variance + variance / SIGMA_VARIANCE;
    let growth = (rate * rate + offset * offset) / GROWTH_VARIANCE;
    let mut value = rows * log_sigma + 0.5 * (squares / variance + variance / SIGMA_VARIANCE + growth);
    let first = parameters.len() - prior_scales.len();
    for ((by_beta, beta), scale) in gradient[first..].iter_mut().zip(&parameters[first..]).zip(prior_scales) {
        let scaled = beta / (scale * scale);
        *by_beta += scaled;
        value += 0.5 * beta * scaled;
    }
    value
}
