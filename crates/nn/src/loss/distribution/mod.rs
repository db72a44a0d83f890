//! Distributions as forecasts: the loss is the negative log-likelihood, the model's outputs become the
//! distribution's parameters, and a forecast is its mean and quantiles.
//!
//! A distribution is one file with a [`Family`], a `mod` line and a line in the list below. All are computed in double
//! precision, step by step.

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

use self::special::normal_quantile;
use super::Targets;
use super::arguments::{count, quantiles};
use super::quantile::Quantiles;
use crate::HyperParameterError;
use crate::arguments::{Arguments, NumberRange};

/// The list of distributions, `file::Family`.
macro_rules! distributions {
    ($($file:ident::$family:ident,)*) => {
        $(use self::$file::$family;)*

        #[derive(Clone, Debug, PartialEq)]
        enum DistributionKind {
            $($family($family),)*
        }

        impl DistributionKind {
            const NAMES: &[&str] = &[$($family::NAME),*];

            /// The distribution of this name, with its own arguments.
            fn read(
                name: &Value,
                arguments: &mut Arguments,
                num_samples: usize,
            ) -> Result<Self, HyperParameterError> {
                match name.as_str() {
                    $(Some($family::NAME) => {
                        $family::read(arguments, num_samples).map(Self::$family)
                    })*
                    _ => {
                        let expected = format!("one of {}", Self::NAMES.join(", "));
                        Err(HyperParameterError::new("distribution", expected, name))
                    }
                }
            }

            fn name(&self) -> &'static str {
                match self { $(Self::$family(_) => $family::NAME,)* }
            }

            fn arguments(&self) -> Vec<(&'static str, Value)> {
                match self { $(Self::$family(family) => family.arguments(),)* }
            }

            fn parameter_suffixes(&self) -> &'static [&'static str] {
                match self { $(Self::$family(_) => &$family::SUFFIXES,)* }
            }

            fn returns_parameters(&self) -> bool {
                match self { $(Self::$family(_) => $family::RETURNS_PARAMETERS,)* }
            }

            fn support(&self) -> Support {
                match self { $(Self::$family(_) => $family::SUPPORT,)* }
            }

            fn sum(&self, output: &[f32], truth: Targets<'_>, grad: Option<(&mut [f32], f32)>) -> f64 {
                match self { $(Self::$family(family) => sum(family, output, truth, grad),)* }
            }

            fn forecast(
                &self,
                columns: &DistributionColumns,
                output: &[f32],
                [loc, scale]: [f32; 2],
                into: &mut [f32],
            ) {
                match self { $(Self::$family(family) => forecast(family, columns, output, [loc, scale], into),)* }
            }

            fn sample(&self, output: &[f32], [loc, scale]: [f32; 2], key: Key) -> f32 {
                match self { $(Self::$family(family) => sample(family, output, [loc, scale], key),)* }
            }
        }
    };
}

distributions! {
    normal::Normal,
    student::StudentT,
    poisson::Poisson,
    negative_binomial::NegativeBinomial,
    bernoulli::Bernoulli,
    tweedie::Tweedie,
}

/// The values that a distribution gives a probability to, in words and as a test.
type Support = (&'static str, fn(f32) -> bool);

const NUMBERS: Support = ("a number", |_| true);
const FROM_ZERO: Support = ("at least 0", |y| y >= 0.0);

/// A distribution of `P` parameters, made of as many outputs of the model and the location and scale of the window
/// (neuralforecast's "scale decouple": the network learns numbers of order 1, whatever the level of the series).
trait Family<const P: usize>: Sized {
    /// neuralforecast's name.
    const NAME: &'static str;

    /// The suffixes of the names of the parameters' columns, as in neuralforecast.
    const SUFFIXES: [&'static str; P];

    /// Whether the parameters may be columns of the forecast (`return_params`).
    const RETURNS_PARAMETERS: bool = true;

    /// The values that it gives a probability to.
    const SUPPORT: Support = NUMBERS;

    /// Takes its own arguments out of those of the loss. `num_samples` is for those that are sampled.
    fn read(arguments: &mut Arguments, num_samples: usize) -> Result<Self, HyperParameterError>;

    /// Its own arguments, such that [`Family::read`] gives the distribution back.
    fn arguments(&self) -> Vec<(&'static str, Value)> {
        vec![]
    }

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

    /// Writes the columns of a step from its mean and its samples, which are sorted in place.
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

    /// The number of columns.
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

impl Distribution {
    pub(super) fn read(arguments: &mut Arguments) -> Result<Self, HyperParameterError> {
        let name = arguments.take("distribution").unwrap_or_default();
        let num_samples = count(arguments, "num_samples")?.unwrap_or(1000);
        let kind = DistributionKind::read(&name, arguments, num_samples)?;
        let quantiles = quantiles(arguments)?.sorted();
        let return_params = arguments.flag("return_params", false)?;
        if return_params && !kind.returns_parameters() {
            let expected = format!("false for a {} distribution", kind.name());
            return Err(HyperParameterError::new("return_params", expected, true));
        }
        Ok(Self { kind, quantiles, num_samples, return_params })
    }

    pub(super) fn with_quantiles(&self, quantiles: &[f64]) -> Self {
        Self { quantiles: Quantiles::listed(quantiles.to_vec()).sorted(), ..self.clone() }
    }

    pub(super) fn arguments(&self) -> Vec<(&'static str, Value)> {
        let mut pairs = vec![
            ("distribution", json!(self.kind.name())),
            self.quantiles.argument(),
            ("num_samples", json!(self.num_samples)),
            ("return_params", json!(self.return_params)),
        ];
        pairs.extend(self.kind.arguments());
        pairs
    }

    /// Numbers that the model gives for each step.
    pub(super) fn outputs(&self) -> usize {
        self.kind.parameter_suffixes().len()
    }

    pub(super) fn suffixes(&self) -> Vec<String> {
        let parameters = if self.return_params { self.kind.parameter_suffixes() } else { &[] };
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

    /// The values that it gives a probability to.
    pub(super) fn support(&self) -> Support {
        self.kind.support()
    }

    /// `Σ w l`; where a gradient is to be written, that of the sum times the given scale.
    pub(super) fn sum(&self, output: &[f32], truth: Targets<'_>, grad: Option<(&mut [f32], f32)>) -> f64 {
        self.kind.sum(output, truth, grad)
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
        self.kind.forecast(columns, output, [loc, scale], into);
    }

    /// A sample of a step's distribution, from the outputs for it.
    pub(super) fn sample(&self, output: &[f32], loc: f32, scale: f32, key: Key) -> f32 {
        self.kind.sample(output, [loc, scale], key)
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
    truth: Targets<'_>,
    mut grad: Option<(&mut [f32], f32)>,
) -> f64 {
    let Targets { horizon, target, weights, loc, scale, .. } = truth;
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
    [loc, scale]: [f32; 2],
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

fn sample<const P: usize>(family: &impl Family<P>, output: &[f32], [loc, scale]: [f32; 2], key: Key) -> f32 {
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
