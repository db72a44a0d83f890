//! The Bernoulli distribution: of series that are 0 or 1.

use foretell_simd::Stream;

use super::family::Family;
use crate::HyperParameterError;
use crate::arguments::Arguments;
use crate::loss::columns::Level;
use crate::loss::sampling;
use crate::loss::special::{sigmoid, softplus};
use crate::loss::targets::Support;

/// Output: the logit. Parameter: the probability of 1. The window's location and scale have no part in it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bernoulli;

impl Family<1> for Bernoulli {
    const NAME: &'static str = "Bernoulli";
    /// neuralforecast calls the probability logits.
    const SUFFIXES: [&'static str; 1] = ["-logits"];
    const SUPPORT: Support = ("0 or 1", |y| y == 0.0 || y == 1.0);

    fn read(_: &mut Arguments, _: usize) -> Result<Self, HyperParameterError> {
        Ok(Self)
    }

    fn parameters(&self, [logit]: [f64; 1], _: f64, _: f64) -> [f64; 1] {
        [sigmoid(logit)]
    }

    /// With the logit `a`: `ln(1 + e^a) - y a`; by `a` it is `p - y`.
    fn loss(&self, [logit]: [f64; 1], _: f64, _: f64, y: f64) -> (f64, [f64; 1]) {
        (softplus(logit) - y * logit, [sigmoid(logit) - y])
    }

    fn mean(&self, [p]: [f64; 1]) -> f64 {
        p
    }

    fn quantile(&self, [p]: [f64; 1], at: Level) -> f64 {
        match p.is_nan() {
            true => p,
            false => f64::from(u8::from(at.q > 1.0 - p)),
        }
    }

    fn sample(&self, [p]: [f64; 1], draws: &mut Stream) -> f64 {
        f64::from(u8::from(sampling::uniform(draws) <= p))
    }
}
