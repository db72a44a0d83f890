//! FreDF: squared errors over time and absolute errors over frequencies (Wang et al. 2024,
//! arXiv:2402.02399).
//!
//! With `F(e)` the discrete Fourier transform of a window's errors and `K = h/2 + 1` its frequencies, the
//! loss of a step is `(1 - alpha) e² + alpha/K Σ_k |F_k(e)|`. Errors of steps without weight count as 0 in the
//! transform, so that unknown values change nothing. neuralforecast transforms the values of such steps; without
//! a mask and weights both are the same.

use foretell_pool::Buffer;
use foretell_simd::{PointLoss, axpy, dot};
use serde_json::{Value, json};

use super::function::{Gradient, LossFunction};
use super::passes::by_kernel;
use super::targets::Targets;
use crate::HyperParameterError;
use crate::arguments::{Arguments, NumberRange};

#[derive(Debug)]
pub(super) struct FreDf {
    /// The weight of the errors over frequencies.
    alpha: f64,
}

impl LossFunction for FreDf {
    fn read(arguments: &mut Arguments) -> Result<Self, HyperParameterError> {
        Ok(Self { alpha: arguments.number("alpha", NumberRange::FROM_0_TO_1)?.unwrap_or(0.5) })
    }

    fn arguments(&self) -> Vec<(&'static str, Value)> {
        vec![("alpha", json!(self.alpha))]
    }

    fn sum(&self, prediction: &[f32], truth: Targets<'_>, gradient: Gradient<'_>) -> f64 {
        sum(self.alpha, prediction, truth, gradient)
    }
}

/// The transform is computed frequency by frequency, as products of the windows with a row of cosines and one
/// of sines: `h²` products a window. Horizons are short (24 or 96, seldom 720), where this is as fast as a fast
/// transform, works for any length, and needs two rows of scratch instead of a planner.
fn sum(alpha: f64, prediction: &[f32], truth: Targets<'_>, mut gradient: Gradient<'_>) -> f64 {
    let Targets { horizon: h, target, weights, .. } = truth;
    let scaled = gradient.as_mut().map(|(grad, scale)| (&mut **grad, (1.0 - alpha) as f32 * *scale));
    let squares = by_kernel(PointLoss::Mse, prediction, truth, scaled);
    let mut errors = Buffer::zeroed(prediction.len());
    for (i, error) in errors.iter_mut().enumerate() {
        if weights[i] != 0.0 {
            *error = prediction[i] - target[i];
        }
    }
    let turn = |i: usize| std::f64::consts::TAU * i as f64 / h as f64;
    let (mut circle, mut cosines, mut sines) = (Buffer::zeroed(2 * h), Buffer::zeroed(h), Buffer::zeroed(h));
    for i in 0..h {
        (circle[2 * i], circle[2 * i + 1]) = (turn(i).cos() as f32, turn(i).sin() as f32);
    }
    let frequencies = h / 2 + 1;
    let mut sizes = 0.0;
    for k in 0..frequencies {
        let mut at = 0;
        for t in 0..h {
            (cosines[t], sines[t]) = (circle[2 * at], circle[2 * at + 1]);
            at = (at + k) % h;
        }
        for (window, errors) in errors.chunks_exact(h).enumerate() {
            let steps = window * h..(window + 1) * h;
            let weight: f32 = weights[steps.clone()].iter().sum();
            if weight == 0.0 {
                continue;
            }
            let (re, im) = (dot(errors, &cosines), dot(errors, &sines));
            let size = magnitude(re, im);
            sizes += f64::from(weight * size);
            if let Some((grad, scale)) = &mut gradient
                && size != 0.0
            {
                let factor = *scale * weight * alpha as f32 / frequencies as f32 / size;
                axpy(factor * re, &cosines, &mut grad[steps.clone()]);
                axpy(factor * im, &sines, &mut grad[steps]);
            }
        }
    }
    if let Some((grad, _)) = gradient {
        grad.iter_mut().zip(weights).filter(|(_, weight)| **weight == 0.0).for_each(|(grad, _)| *grad = 0.0);
    }
    (1.0 - alpha) * squares + alpha * sizes / frequencies as f64
}

/// The magnitude of a complex number: in double precision no square of a number of single precision overflows.
fn magnitude(re: f32, im: f32) -> f32 {
    let (re, im) = (f64::from(re), f64::from(im));
    (re * re + im * im).sqrt() as f32
}
