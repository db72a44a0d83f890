//! Tweedie's distribution with a power between 1 and 2 (Jørgensen 1987): a Poisson number of gamma distributed
//! amounts, for series that are 0 at times and positive at others.

use foretell_pool::Buffer;
use foretell_simd::Stream;
use serde_json::{Value, json};

use super::family::Family;
use crate::HyperParameterError;
use crate::arguments::{Arguments, NumberRange};
use crate::loss::columns::{Level, quantile_of_sorted};
use crate::loss::sampling;
use crate::loss::special::{sigmoid, softplus};
use crate::loss::targets::{FROM_ZERO, Support};

/// Output and parameter: the logarithm of the mean.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tweedie {
    /// The power of the mean that gives the variance.
    pub(super) rho: f64,
    /// The number of samples that quantiles are taken from.
    pub(super) samples: usize,
    /// Whether the softplus of the output is the logarithm of the mean, as in neuralforecast, and not the mean itself. Then no
    /// mean is below 1 or below the window's location, so that only models that were trained so have it.
    pub(super) softplus: bool,
}

/// The logarithm of the mean is between these, before and after the window's location is added; after a softplus it is
/// positive.
const BOUNDS: [f64; 2] = [-37.0, 37.0];
const POSITIVE: [f64; 2] = [1e-9, 37.0];

impl Tweedie {
    /// The logarithm of the mean, and its derivative by the output.
    ///
    /// Where the location is not positive, as in every window without a scaler, neuralforecast takes its logarithm all
    /// the same, and the mean is 1 (or not a number) whatever the model's output. Here the location is then left out.
    fn log_mean(&self, output: f64, loc: f64) -> (f64, f64) {
        let [low, high] = if self.softplus { POSITIVE } else { BOUNDS };
        let inside = |x: f64| (low..=high).contains(&x) || x.is_nan();
        let (soft, slope) = (softplus(output), sigmoid(output));
        // A mean that grows like the output, not like its exponential, stays near the data where these say little.
        let (own, slope) = if self.softplus { (soft, slope) } else { (soft.ln(), slope / soft) };
        let shifted = own.clamp(low, high) + if loc > 0.0 { loc.ln() } else { 0.0 };
        let slope = if inside(own) && inside(shifted) { slope } else { 0.0 };
        (shifted.clamp(low, high), slope)
    }
}

impl Family<1> for Tweedie {
    const NAME: &'static str = "Tweedie";
    const SUFFIXES: [&'static str; 1] = ["-log_mu"];
    const RETURNS_PARAMETERS: bool = false;
    const SUPPORT: Support = FROM_ZERO;

    fn read(arguments: &mut Arguments, num_samples: usize) -> Result<Self, HyperParameterError> {
        let range =
            NumberRange { expected: "a number above 1 and below 2", holds: |rho| 1.0 < rho && rho < 2.0 };
        // neuralforecast asks for it; halfway between Poisson and Gamma is the usual default.
        let rho = arguments.number("rho", range)?.unwrap_or(1.5);
        let softplus = arguments.flag("softplus", false)?;
        Ok(Self { rho, samples: num_samples, softplus })
    }

    fn arguments(&self) -> Vec<(&'static str, Value)> {
        vec![("rho", json!(self.rho)), ("softplus", json!(self.softplus))]
    }

    fn parameters(&self, [output]: [f64; 1], loc: f64, _: f64) -> [f64; 1] {
        [self.log_mean(output, loc).0]
    }

    /// With `L = ln μ`: `e^((2-ρ)L)/(2-ρ) - y e^((1-ρ)L)/(1-ρ)`, but for what does not depend on `L`; by `L` it is
    /// `e^((2-ρ)L) - y e^((1-ρ)L)`.
    fn loss(&self, [output]: [f64; 1], loc: f64, _: f64, y: f64) -> (f64, [f64; 1]) {
        let (log_mean, slope) = self.log_mean(output, loc);
        let (up, down) = (2.0 - self.rho, 1.0 - self.rho);
        let (a, b) = ((up * log_mean).exp(), y * (down * log_mean).exp());
        (a / up - b / down, [(a - b) * slope])
    }

    fn mean(&self, [log_mean]: [f64; 1]) -> f64 {
        log_mean.exp()
    }

    fn quantile(&self, parameters: [f64; 1], at: Level) -> f64 {
        let mut out = [0.0];
        self.quantiles(parameters, &[at], &mut out);
        out[0].into()
    }

    /// The samples' quantiles, linear between neighbours as `torch.quantile` has them.
    ///
    /// Every forecast is sampled with the same random numbers: it depends on its parameters alone.
    fn quantiles(&self, [log_mean]: [f64; 1], levels: &[Level], out: &mut [f32]) {
        if levels.is_empty() {
            return;
        }
        if !log_mean.is_finite() {
            return out.fill(f32::NAN);
        }
        let mut samples = Buffer::zeroed(self.samples);
        for (i, sample) in samples.iter_mut().enumerate() {
            *sample = self.sample([log_mean], &mut sampling::draws(i)) as f32;
        }
        samples.sort_unstable_by(f32::total_cmp);
        out.iter_mut().zip(levels).for_each(|(out, at)| *out = quantile_of_sorted(&samples, at.q));
    }

    fn sample(&self, [log_mean]: [f64; 1], draws: &mut Stream) -> f64 {
        let (up, down) = (2.0 - self.rho, self.rho - 1.0);
        let (mean, rate) = (log_mean.exp(), (up * log_mean).exp() / up);
        // A sum of n amounts of shape α is one of shape nα.
        let (shape, unit) = (up / down, mean.powf(down) * down);
        let count = sampling::poisson(rate, draws);
        if count == 0.0 { 0.0 } else { sampling::gamma(count * shape, draws) * unit }
    }
}
