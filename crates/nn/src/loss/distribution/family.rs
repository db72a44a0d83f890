//! The parts of a distribution, and the work that all share, step by step in double precision.

use foretell_simd::{Key, Stream};
use serde_json::Value;

use crate::HyperParameterError;
use crate::arguments::Arguments;
use crate::loss::columns::{DistributionColumns, Level};
use crate::loss::function::Gradient;
use crate::loss::targets::{NUMBERS, Support, Targets};

/// A distribution of `P` parameters, from as many outputs of the model and the location and scale of the window
/// (neuralforecast's "scale decouple": the network learns numbers of order 1, whatever the level of the series).
pub(crate) trait Family<const P: usize>: Sized {
    /// neuralforecast's name.
    const NAME: &'static str;

    /// The suffixes of the names of the parameters' columns, as in neuralforecast.
    const SUFFIXES: [&'static str; P];

    /// Whether the parameters may be columns of the forecast (`return_params`).
    const RETURNS_PARAMETERS: bool = true;

    /// The values that it gives a probability to.
    const SUPPORT: Support = NUMBERS;

    /// Whether values are counts: it has probabilities of whole numbers alone.
    const COUNTS: bool = false;

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

fn doubles<const P: usize>(output: &[f32]) -> [f64; P] {
    std::array::from_fn(|i| f64::from(output[i]))
}

pub(super) fn sum<const P: usize>(
    family: &impl Family<P>,
    output: &[f32],
    truth: Targets<'_>,
    mut gradient: Gradient<'_>,
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
        if let Some((gradient, factor)) = &mut gradient {
            let factor = f64::from(*factor) * weight;
            gradient[i * P..][..P]
                .iter_mut()
                .zip(slopes)
                .for_each(|(gradient, slope)| *gradient = (factor * slope) as f32);
        }
    }
    sum
}

pub(super) fn forecast<const P: usize>(
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

pub(super) fn sample<const P: usize>(
    family: &impl Family<P>,
    output: &[f32],
    [loc, scale]: [f32; 2],
    key: Key,
) -> f32 {
    let parameters = family.parameters(doubles(output), loc.into(), scale.into());
    match parameters.iter().all(|parameter| parameter.is_finite()) {
        true => family.sample(parameters, &mut Stream::new(key)) as f32,
        false => f32::NAN,
    }
}
