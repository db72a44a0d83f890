//! The Poisson distribution.

use foretell_simd::Stream;

use super::counts::count_quantile;
use super::family::Family;
use crate::HyperParameterError;
use crate::arguments::Arguments;
use crate::loss::columns::Level;
use crate::loss::sampling;
use crate::loss::special::{gamma_q, ln_gamma, sigmoid, softplus};
use crate::loss::targets::{FROM_ZERO, Support};

/// Output and parameter: the rate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Poisson {
    /// Added to the rate, so that it cannot vanish.
    pub(super) floor: f64,
}

impl Poisson {
    /// The probability of a count of at most `k`.
    pub(super) fn cdf([rate]: [f64; 1], k: f64) -> f64 {
        gamma_q(k + 1.0, rate)
    }
}

/// From here on Cornish and Fisher's expansion is off by less than 0.01.
const LARGE: f64 = 1e6;

impl Family<1> for Poisson {
    const NAME: &'static str = "Poisson";
    const SUFFIXES: [&'static str; 1] = ["-loc"];
    const SUPPORT: Support = FROM_ZERO;
    const COUNTS: bool = true;

    fn read(_: &mut Arguments, _: usize) -> Result<Self, HyperParameterError> {
        Ok(Self { floor: 1e-10 })
    }

    fn parameters(&self, [rate]: [f64; 1], loc: f64, scale: f64) -> [f64; 1] {
        [softplus(rate * scale + loc) + self.floor]
    }

    /// `λ - y ln λ + lnΓ(y + 1)`; by `λ` it is `1 - y/λ`.
    fn loss(&self, output: [f64; 1], loc: f64, scale: f64, y: f64) -> (f64, [f64; 1]) {
        let [rate] = self.parameters(output, loc, scale);
        let value = rate - y * rate.ln() + ln_gamma(y + 1.0);
        (value, [(1.0 - y / rate) * sigmoid(output[0] * scale + loc) * scale])
    }

    fn mean(&self, [rate]: [f64; 1]) -> f64 {
        rate
    }

    fn quantile(&self, [rate]: [f64; 1], at: Level) -> f64 {
        if rate > LARGE {
            return (rate + at.normal * rate.sqrt() + (at.normal * at.normal - 1.0) / 6.0).round();
        }
        count_quantile(at, rate, rate, 1.0, |k| Self::cdf([rate], k))
    }

    fn sample(&self, [rate]: [f64; 1], draws: &mut Stream) -> f64 {
        sampling::poisson(rate, draws)
    }
}
