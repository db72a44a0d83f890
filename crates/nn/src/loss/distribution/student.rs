//! Student's t distribution.

use std::f64::consts::PI;

use foretell_simd::Stream;

use super::family::Family;
use crate::HyperParameterError;
use crate::arguments::Arguments;
use crate::loss::columns::Level;
use crate::loss::sampling;
use crate::loss::special::{
    beta_inc, digamma, ln_gamma, sigmoid, softplus, symmetric_quantile, tail_quantile,
};

/// Outputs and parameters: degrees of freedom, location, scale.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StudentT;

/// Added to the scale in units of the window's scale, so that it cannot vanish.
const FLOOR: f64 = 0.1;

/// Added to the degrees of freedom, so that mean and variance exist.
const FREEDOM: f64 = 3.0;

impl Family<3> for StudentT {
    const NAME: &'static str = "StudentT";
    const SUFFIXES: [&'static str; 3] = ["-df", "-loc", "-scale"];

    fn read(_: &mut Arguments, _: usize) -> Result<Self, HyperParameterError> {
        Ok(Self)
    }

    fn parameters(&self, [df, loc, scale]: [f64; 3], window_loc: f64, window_scale: f64) -> [f64; 3] {
        [FREEDOM + softplus(df), loc * window_scale + window_loc, (softplus(scale) + FLOOR) * window_scale]
    }

    /// With `z = (y - μ) / σ` and `t = z²/ν`: `ln σ + ln(πν)/2 + lnΓ(ν/2) - lnΓ((ν+1)/2) + (ν+1)/2 ln(1 + t)`.
    /// By `z` it is `s = (ν+1) z / (ν (1 + t))`; by `μ` `-s/σ`, by `σ` `(1 - s z)/σ`, by `ν`
    /// `(1/ν + ψ(ν/2) - ψ((ν+1)/2) + ln(1 + t) - (ν+1)/ν t/(1 + t)) / 2`.
    fn loss(&self, output: [f64; 3], loc: f64, scale: f64, y: f64) -> (f64, [f64; 3]) {
        let [df, mean, unit] = self.parameters(output, loc, scale);
        let z = (y - mean) / unit;
        let t = z * z / df;
        let (half, next) = (0.5 * df, 0.5 * (df + 1.0));
        let value = unit.ln() + 0.5 * (PI * df).ln() + ln_gamma(half) - ln_gamma(next) + next * t.ln_1p();
        let slope = (df + 1.0) * z / (df * (1.0 + t));
        let by_df = 1.0 / df + digamma(half) - digamma(next) + t.ln_1p() - (df + 1.0) / df * t / (1.0 + t);
        let ratio = scale / unit;
        let slopes = [
            0.5 * by_df * sigmoid(output[0]),
            -slope * ratio,
            (1.0 - slope * z) * ratio * sigmoid(output[2]),
        ];
        (value, slopes)
    }

    fn mean(&self, [_, mean, _]: [f64; 3]) -> f64 {
        mean
    }

    fn quantile(&self, [df, mean, unit]: [f64; 3], at: Level) -> f64 {
        if !df.is_finite() {
            return f64::NAN;
        }
        let peak = (ln_gamma(0.5 * (df + 1.0)) - ln_gamma(0.5 * df)).exp() / (PI * df).sqrt();
        let tail_and_density = |x: f64| {
            let size = df + x * x;
            let tail = 0.5 * beta_inc(0.5 * df, 0.5, df / size, x * x / size);
            (tail, peak * (-0.5 * (df + 1.0) * (x * x / df).ln_1p()).exp())
        };
        // The tails are heavier than the normal distribution's: its quantile is before the one sought.
        mean + unit * symmetric_quantile(at.q, |p| tail_quantile(p, at.normal.abs(), tail_and_density))
    }

    /// A standard normal number divided by the root of a χ² distributed one over its degrees of freedom.
    fn sample(&self, [df, mean, unit]: [f64; 3], draws: &mut Stream) -> f64 {
        let normal = sampling::normal(draws);
        mean + unit * normal / (2.0 * sampling::gamma(0.5 * df, draws) / df).sqrt()
    }
}
