//! The normal distribution.

use foretell_simd::Stream;

use super::family::Family;
use crate::HyperParameterError;
use crate::arguments::Arguments;
use crate::loss::columns::Level;
use crate::loss::sampling;
use crate::loss::special::{sigmoid, softplus};

/// Outputs and parameters: mean, standard deviation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Normal;

/// Added to the standard deviation in units of the window's scale, so that it cannot vanish.
const FLOOR: f64 = 0.2;

impl Family<2> for Normal {
    const NAME: &'static str = "Normal";
    const SUFFIXES: [&'static str; 2] = ["-loc", "-scale"];

    fn read(_: &mut Arguments, _: usize) -> Result<Self, HyperParameterError> {
        Ok(Self)
    }

    fn parameters(&self, [mean, deviation]: [f64; 2], loc: f64, scale: f64) -> [f64; 2] {
        [mean * scale + loc, (softplus(deviation) + FLOOR) * scale]
    }

    /// With `z = (y - μ) / σ`: `z²/2 + ln σ + ln(2π)/2`; by `μ` it is `-z/σ`, by `σ` `(1 - z²)/σ`.
    fn loss(&self, output: [f64; 2], loc: f64, scale: f64, y: f64) -> (f64, [f64; 2]) {
        let [mean, deviation] = self.parameters(output, loc, scale);
        let z = (y - mean) / deviation;
        let value = 0.5 * z * z + deviation.ln() + 0.5 * std::f64::consts::TAU.ln();
        let unit = scale / deviation;
        (value, [-z * unit, (1.0 - z * z) * unit * sigmoid(output[1])])
    }

    fn mean(&self, [mean, _]: [f64; 2]) -> f64 {
        mean
    }

    fn quantile(&self, [mean, deviation]: [f64; 2], at: Level) -> f64 {
        mean + deviation * at.normal
    }

    fn sample(&self, [mean, deviation]: [f64; 2], draws: &mut Stream) -> f64 {
        mean + deviation * sampling::normal(draws)
    }
}
