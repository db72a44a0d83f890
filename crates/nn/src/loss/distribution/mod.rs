//! Distributions as forecasts: the loss is the negative log-likelihood, the model's outputs become the
//! distribution's parameters, and a forecast is its mean and quantiles.
//!
//! A distribution is one file, which gives neuralforecast's parameters from the outputs of the model and the
//! location and scale of the window (neuralforecast's "scale decouple": the network learns numbers of order 1, whatever
//! the level of the series), the negative log-likelihood with its derivatives by the outputs, the mean and the
//! quantiles. All are computed in double precision, step by step.

mod bernoulli;
mod negative_binomial;
mod normal;
mod poisson;
mod sampling;
mod special;
mod student;
mod tweedie;

use foretell_simd::{Key, Stream};
use serde_json::{Value, json};

use self::bernoulli::Bernoulli;
use self::negative_binomial::NegativeBinomial;
use self::normal::Normal;
use self::poisson::Poisson;
use self::special::normal_quantile;
use self::student::StudentT;
use self::tweedie::Tweedie;
use super::Truth;
use super::arguments::{count, quantiles};
use super::quantile::Quantiles;
use crate::HyperParameterError;
use crate::arguments::{Arguments, NumberRange};

/// A distribution of `P` parameters.
trait Family<const P: usize> {
    /// neuralforecast's parameters, from a step's outputs and its window's location and scale.
    fn parameters(&self, output: [f64; P], loc: f64, scale: f64) -> [f64; P];

    /// The negative log-likelihood of `y`, and its derivatives by the outputs.
    fn loss(&self, output: [f64; P], loc: f64, scale: f64, y: f64) -> (f64, [f64; P]);

    fn mean(&self, parameters: [f64; P]) -> f64;

    /// The smallest value that is exceeded with a probability of at most `1 - q`.
    fn quantile(&self, parameters: [f64; P], at: Level) -> f64;

    /// A sample of finite parameters.
    fn sample(&self, parameters: [f64; P], draws: &mut Stream) -> f64;

    /// Writes the quantiles.
    fn quantiles(&self, parameters: [f64; P], levels: &[Level], out: &mut [f32]) {
        out.iter_mut().zip(levels).for_each(|(out, &at)| *out = self.quantile(parameters, at) as f32);
    }
}

/// A quantile that is asked for: its probability, and that of the standard normal distribution.
#[derive(Clone, Copy, Debug)]
struct Level {
    q: f64,
    normal: f64,
}

/// The columns of a forecast: what is asked of a distribution.
#[derive(Clone, Debug)]
pub struct DistributionColumns {
    mean: bool,
    levels: Vec<Level>,
    parameters: usize,
}

impl DistributionColumns {
    pub(super) fn new(mean: bool, quantiles: &[f32], parameters: usize) -> Self {
        let level = |&q: &f32| Level { q: q.into(), normal: normal_quantile(q.into()) };
        Self { mean, levels: quantiles.iter().map(level).collect(), parameters }
    }

    /// The mean alone.
    pub fn mean() -> Self {
        Self::new(true, &[], 0)
    }

    /// Writes the columns of a step, of its mean and of samples, which it sorts.
    ///
    /// # Panics
    /// If there are no samples, or there are columns of parameters.
    pub fn of_samples(&self, mean: f32, samples: &mut [f32], into: &mut [f32]) {
        assert_eq!(self.parameters, 0, "samples have no parameters");
        samples.sort_unstable_by(f32::total_cmp);
        let (first, quantiles) = into.split_at_mut(usize::from(self.mean));
        first.fill(mean);
        quantiles.iter_mut().zip(&self.levels).for_each(|(out, at)| *out = quantile_of_sorted(samples, at.q));
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        usize::from(self.mean) + self.levels.len() + self.parameters
    }
}

/// `DistributionLoss`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Distribution {
    kind: DistributionKind,
    pub(super) quantiles: Quantiles,
    num_samples: usize,
    return_params: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum DistributionKind {
    Normal,
    StudentT,
    Poisson,
    NegativeBinomial,
    Bernoulli,
    Tweedie { rho: f64 },
}

/// Runs `$body` with `$family` standing for the distribution.
macro_rules! with_family {
    ($distribution:expr, |$family:ident| $body:expr) => {
        match $distribution.kind {
            DistributionKind::Normal => {
                let $family = &Normal;
                $body
            }
            DistributionKind::StudentT => {
                let $family = &StudentT;
                $body
            }
            DistributionKind::Poisson => {
                let $family = &Poisson;
                $body
            }
            DistributionKind::NegativeBinomial => {
                let $family = &NegativeBinomial;
                $body
            }
            DistributionKind::Bernoulli => {
                let $family = &Bernoulli;
                $body
            }
            DistributionKind::Tweedie { rho } => {
                let $family = &Tweedie { rho, samples: $distribution.num_samples };
                $body
            }
        }
    };
}

impl Distribution {
    pub(super) fn read(arguments: &mut Arguments) -> Result<Self, HyperParameterError> {
        const NAMES: &str = "one of Normal, StudentT, Poisson, NegativeBinomial, Bernoulli, Tweedie";
        let name = arguments.take("distribution").unwrap_or_default();
        let kind = match name.as_str() {
            Some("Normal") => DistributionKind::Normal,
            Some("StudentT") => DistributionKind::StudentT,
            Some("Poisson") => DistributionKind::Poisson,
            Some("NegativeBinomial") => DistributionKind::NegativeBinomial,
            Some("Bernoulli") => DistributionKind::Bernoulli,
            Some("Tweedie") => {
                const RHO: NumberRange = NumberRange {
                    expected: "a number above 1 and below 2",
                    holds: |rho| 1.0 < rho && rho < 2.0,
                };
                DistributionKind::Tweedie { rho: arguments.required_number("rho", RHO)? }
            }
            _ => return Err(HyperParameterError::new("distribution", NAMES, name)),
        };
        let quantiles = quantiles(arguments)?.sorted();
        let num_samples = count(arguments, "num_samples")?.unwrap_or(1000);
        let return_params = arguments.flag("return_params", false)?;
        if return_params && matches!(kind, DistributionKind::Tweedie { .. }) {
            return Err(HyperParameterError::new("return_params", "false for a Tweedie distribution", true));
        }
        Ok(Self { kind, quantiles, num_samples, return_params })
    }

    pub(super) fn with_quantiles(&self, quantiles: &[f64]) -> Self {
        Self { quantiles: Quantiles::listed(quantiles.to_vec()).sorted(), ..self.clone() }
    }

    pub(super) fn arguments(&self) -> Vec<(&'static str, Value)> {
        let mut pairs = vec![
            ("distribution", json!(self.name())),
            self.quantiles.argument(),
            ("num_samples", json!(self.num_samples)),
            ("return_params", json!(self.return_params)),
        ];
        if let DistributionKind::Tweedie { rho } = self.kind {
            pairs.push(("rho", json!(rho)));
        }
        pairs
    }

    fn name(&self) -> &'static str {
        match self.kind {
            DistributionKind::Normal => "Normal",
            DistributionKind::StudentT => "StudentT",
            DistributionKind::Poisson => "Poisson",
            DistributionKind::NegativeBinomial => "NegativeBinomial",
            DistributionKind::Bernoulli => "Bernoulli",
            DistributionKind::Tweedie { .. } => "Tweedie",
        }
    }

    /// The suffixes of the parameters' columns. Those of Bernoulli and NegativeBinomial say logits, as in
    /// neuralforecast; in both they hold probabilities.
    fn parameter_suffixes(&self) -> &'static [&'static str] {
        match self.kind {
            DistributionKind::Normal => &["-loc", "-scale"],
            DistributionKind::StudentT => &["-df", "-loc", "-scale"],
            DistributionKind::Poisson => &["-loc"],
            DistributionKind::NegativeBinomial => &["-total_count", "-logits"],
            DistributionKind::Bernoulli => &["-logits"],
            DistributionKind::Tweedie { .. } => &["-log_mu"],
        }
    }

    /// Numbers that the model gives for each step.
    pub(super) fn outputs(&self) -> usize {
        self.parameter_suffixes().len()
    }

    pub(super) fn suffixes(&self) -> Vec<String> {
        let parameters = if self.return_params { self.parameter_suffixes() } else { &[] };
        std::iter::once(String::new())
            .chain(self.quantiles.suffixes().iter().cloned())
            .chain(parameters.iter().map(|&suffix| suffix.to_owned()))
            .collect()
    }

    /// The columns of a forecast: mean, quantiles and, if they were asked for, parameters.
    pub(super) fn columns(&self) -> DistributionColumns {
        let parameters = if self.return_params { self.outputs() } else { 0 };
        DistributionColumns::new(true, self.quantiles.values(), parameters)
    }

    /// What values it gives a probability to.
    pub(super) fn support(&self) -> (&'static str, fn(f32) -> bool) {
        match self.kind {
            DistributionKind::Normal | DistributionKind::StudentT => ("a number", |_| true),
            DistributionKind::Bernoulli => ("0 or 1", |y| y == 0.0 || y == 1.0),
            DistributionKind::Poisson
            | DistributionKind::NegativeBinomial
            | DistributionKind::Tweedie { .. } => ("at least 0", |y| y >= 0.0),
        }
    }

    /// `Σ w l`; with a gradient to write, its scale times that of the sum.
    pub(super) fn sum(&self, output: &[f32], truth: Truth<'_>, grad: Option<(&mut [f32], f32)>) -> f64 {
        with_family!(self, |family| sum(family, output, truth, grad))
    }

    /// Writes the columns of a window, `[h, columns]`, from the outputs `[h, outputs]`.
    pub(super) fn forecast(
        &self,
        columns: &DistributionColumns,
        output: &[f32],
        loc: f32,
        scale: f32,
        into: &mut [f32],
    ) {
        with_family!(self, |family| forecast(family, columns, output, loc, scale, into));
    }

    /// A sample of a step's distribution, from the outputs for it.
    pub(super) fn sample(&self, output: &[f32], loc: f32, scale: f32, key: Key) -> f32 {
        with_family!(self, |family| sample(family, output, loc, scale, key))
    }
}

/// A quantile of sorted samples, linear between neighbours as `torch.quantile` has it.
fn quantile_of_sorted(samples: &[f32], q: f64) -> f32 {
    let place = q * (samples.len() - 1) as f64;
    let (low, share) = (samples[place as usize], place.fract() as f32);
    low + share * (samples[place.ceil() as usize] - low)
}

fn doubles<const P: usize>(output: &[f32]) -> [f64; P] {
    std::array::from_fn(|i| f64::from(output[i]))
}

fn sum<const P: usize>(
    family: &impl Family<P>,
    output: &[f32],
    truth: Truth<'_>,
    mut grad: Option<(&mut [f32], f32)>,
) -> f64 {
    let Truth { horizon, target, weights, loc, scale, .. } = truth;
    let mut sum = 0.0;
    for (i, output) in output.chunks_exact(P).enumerate() {
        let weight = f64::from(weights[i]);
        let (value, slopes) = if weight == 0.0 {
            (0.0, [0.0; P])
        } else {
            let part = |values: &[f32], neutral: f64| values.get(i / horizon).map_or(neutral, |&x| x.into());
            family.loss(doubles(output), part(loc, 0.0), part(scale, 1.0), target[i].into())
        };
        sum += weight * value;
        if let Some((grad, factor)) = &mut grad {
            let factor = f64::from(*factor) * weight;
            grad[i * P..][..P]
                .iter_mut()
                .zip(slopes)
                .for_each(|(grad, slope)| *grad = (factor * slope) as f32);
        }
    }
    sum
}

fn forecast<const P: usize>(
    family: &impl Family<P>,
    columns: &DistributionColumns,
    output: &[f32],
    loc: f32,
    scale: f32,
    into: &mut [f32],
) {
    for (output, row) in output.chunks_exact(P).zip(into.chunks_exact_mut(columns.count())) {
        let parameters = family.parameters(doubles(output), loc.into(), scale.into());
        let (mean, row) = row.split_at_mut(usize::from(columns.mean));
        let (quantiles, rest) = row.split_at_mut(columns.levels.len());
        mean.iter_mut().for_each(|mean| *mean = family.mean(parameters) as f32);
        family.quantiles(parameters, &columns.levels, quantiles);
        rest.iter_mut().zip(parameters).for_each(|(out, parameter)| *out = parameter as f32);
    }
}

fn sample<const P: usize>(family: &impl Family<P>, output: &[f32], loc: f32, scale: f32, key: Key) -> f32 {
    let parameters = family.parameters(doubles(output), loc.into(), scale.into());
    match parameters.iter().all(|parameter| parameter.is_finite()) {
        true => family.sample(parameters, &mut Stream::new(key)) as f32,
        false => f32::NAN,
    }
}

/// The smallest whole number `k` of at least 0 with `cdf(k) >= q`, of a distribution of counts with this mean
/// and variance, `skew` being its third central moment divided by the variance. The search starts from Cornish
/// and Fisher's expansion, which is seldom off by more than one or two where the mean is not tiny.
///
/// Above 2^24 singles are further apart than 1: there the search ends at that precision.
fn count_quantile(at: Level, mean: f64, variance: f64, skew: f64, cdf: impl Fn(f64) -> f64) -> f64 {
    if !(mean.is_finite() && variance.is_finite()) {
        return f64::NAN;
    }
    let enough = |k: f64| cdf(k) >= at.q;
    if enough(0.0) {
        return 0.0;
    }
    let guess = mean + at.normal * variance.sqrt() + (at.normal * at.normal - 1.0) / 6.0 * skew;
    let guess = guess.floor().max(1.0);
    // From here on: not enough at `low`, enough at `high`.
    let (mut low, mut high, mut stride) = (0.0, guess, 1.0);
    if enough(guess) {
        while high - stride > 0.0 {
            if !enough(high - stride) {
                low = high - stride;
                break;
            }
            high -= stride;
            stride *= 2.0;
        }
    } else {
        low = guess;
        while high == guess || !enough(high) {
            low = high;
            high += stride;
            stride *= 2.0;
        }
    }
    while high - low > (high * 3e-8).max(1.0) {
        let middle = ((low + high) / 2.0).floor();
        if enough(middle) { high = middle } else { low = middle }
    }
    high
}

#[cfg(test)]
mod tests;
