//! The negative binomial distribution.

use foretell_simd::Stream;

use super::counts::count_quantile;
use super::family::Family;
use crate::HyperParameterError;
use crate::arguments::Arguments;
use crate::loss::columns::Level;
use crate::loss::sampling;
use crate::loss::special::{beta_inc, digamma, ln_gamma, sigmoid, softplus};
use crate::loss::targets::{FROM_ZERO, Support};

/// Outputs: the mean `μ` and the dispersion `α`, whose inverse is the total count `n`. Parameters, as in neuralforecast:
/// `n` and `p = μα / (1 + μα)`.
///
/// neuralforecast adds 1e-8 to `p` against a logarithm of 0. `μ` is at least 1e-8 times the window's scale, so it
/// is left out here.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NegativeBinomial;

/// Added to both outputs, so that they cannot vanish.
const FLOOR: f64 = 1e-8;

/// Mean and total count.
fn decoupled([mean, dispersion]: [f64; 2], loc: f64, scale: f64) -> (f64, f64) {
    ((softplus(mean) + FLOOR) * scale + loc, (scale + 1.0) / (softplus(dispersion) + FLOOR))
}

impl NegativeBinomial {
    /// The probability of a count of at most `k`.
    pub(super) fn cdf([count, p]: [f64; 2], k: f64) -> f64 {
        beta_inc(count, k + 1.0, 1.0 - p, p)
    }
}

impl Family<2> for NegativeBinomial {
    const NAME: &'static str = "NegativeBinomial";
    /// neuralforecast calls the probability logits.
    const SUFFIXES: [&'static str; 2] = ["-total_count", "-logits"];
    const SUPPORT: Support = FROM_ZERO;
    const COUNTS: bool = true;

    fn read(_: &mut Arguments, _: usize) -> Result<Self, HyperParameterError> {
        Ok(Self)
    }

    fn parameters(&self, output: [f64; 2], loc: f64, scale: f64) -> [f64; 2] {
        let (mean, count) = decoupled(output, loc, scale);
        [count, mean / (count + mean)]
    }

    /// With `x = μ/n`: `n ln(1 + x) + y ln((1 + x)/x) + lnΓ(y + 1) + lnΓ(n) - lnΓ(n + y)`; by `μ` it is
    /// `(1 - y/μ) / (1 + x)`, by `n` `ln(1 + x) - (x - y/n) / (1 + x) + ψ(n) - ψ(n + y)`. `n = (s + 1)/α` with the
    /// window's scale `s`, so the derivative by `α` is that by `n` times `-n²/(s + 1)`.
    fn loss(&self, output: [f64; 2], loc: f64, scale: f64, y: f64) -> (f64, [f64; 2]) {
        let (mean, count) = decoupled(output, loc, scale);
        let x = mean / count;
        let normaliser = ln_gamma(y + 1.0) + ln_gamma(count) - ln_gamma(count + y);
        let value = count * x.ln_1p() + y * (x.ln_1p() - x.ln()) + normaliser;
        let by_mean = (1.0 - y / mean) / (1.0 + x);
        let by_count = x.ln_1p() - (x - y / count) / (1.0 + x) + digamma(count) - digamma(count + y);
        let by_dispersion = -by_count * count * count / (scale + 1.0);
        (value, [by_mean * scale * sigmoid(output[0]), by_dispersion * sigmoid(output[1])])
    }

    fn mean(&self, [count, p]: [f64; 2]) -> f64 {
        count * p / (1.0 - p)
    }

    fn quantile(&self, [count, p]: [f64; 2], at: Level) -> f64 {
        let x = p / (1.0 - p);
        count_quantile(at, count * x, count * x * (1.0 + x), 1.0 + 2.0 * x, |k| Self::cdf([count, p], k))
    }

    /// A Poisson count whose rate is gamma distributed.
    fn sample(&self, [count, p]: [f64; 2], draws: &mut Stream) -> f64 {
        let rate = sampling::gamma(count, draws) * p / (1.0 - p);
        sampling::poisson(rate, draws)
    }
}
