//! Mixtures of distributions of one kind (Olivares et al. 2021, arXiv:2110.13179).
//!
//! The outputs of a step are those of the first parameter for all components, then those of the second, and so on, and with
//! `weighted` the logits of the components' weights; without, all weigh the same. With the weights `w` and the components'
//! negative log-likelihoods `ℓ` the loss is `-ln Σ_k w_k e^-ℓ_k`; its derivative by `ℓ_k` is `r_k`, the share of component `k`
//! in this sum, by the logit of `w_k` it is `w_k - r_k`.
//!
//! With `horizon_correlation` all steps of a window are of the same component: `ℓ_k` is a sum over the window's steps. As in
//! neuralforecast it stands in for the `ℓ_k` of each step, which counts by its weight. Steps without weight, whose values are
//! unknown, are left out of the sum, where neuralforecast includes whatever stands in their place.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use foretell_pool::Buffer;
use foretell_simd::{Key, Stream};
use serde_json::{Value, json};

use super::family::Family;
use crate::HyperParameterError;
use crate::arguments::Arguments;
use crate::loss::columns::{DistributionColumns, Level};
use crate::loss::function::{Distribution, Gradient, LossFunction, Outputs};
use crate::loss::quantiles::Quantiles;
use crate::loss::sampling;
use crate::loss::targets::{Support, Targets};

/// The components of a mixture, distributions of `P` parameters.
pub(crate) trait Component<const P: usize>:
    Clone + Debug + Send + Sync + UnwindSafe + RefUnwindSafe + 'static
{
    type Family: Family<P>;

    /// The distribution of a component.
    const FAMILY: Self::Family;

    /// The suffixes of the names of the parameters' columns, before the component's number.
    const PARAMETERS: [&'static str; P];

    /// neuralforecast's default of `n_components`.
    const COMPONENTS: usize;

    /// Whether neuralforecast's class takes `batch_correlation` and `horizon_correlation`.
    const CORRELATED: bool;

    /// Whether the values are whole numbers from 0.
    const COUNTS: bool;

    /// The window's location and scale as the distribution takes them.
    fn window(loc: f64, scale: f64) -> [f64; 2] {
        [loc, scale]
    }

    /// The probability of a value of at most `x`.
    fn cdf(parameters: [f64; P], x: f64) -> f64;
}

/// `GMM`, `PMM` or `NBMM`.
#[derive(Clone, Debug)]
pub(crate) struct Mixture<C, const P: usize> {
    components: usize,
    weighted: bool,
    horizon_correlation: bool,
    quantiles: Quantiles,
    num_samples: usize,
    return_params: bool,
    kind: PhantomData<C>,
}

impl<C: Component<P>, const P: usize> LossFunction for Mixture<C, P> {
    fn read(arguments: &mut Arguments) -> Result<Self, HyperParameterError> {
        let count = |argument: Option<u32>, default: usize| argument.map_or(default, |count| count as usize);
        let components = count(arguments.count("n_components", 1..=1000)?, C::COMPONENTS);
        let quantiles = Quantiles::read(arguments)?;
        let num_samples = count(arguments.count("num_samples", 1..=1_000_000)?, 1000);
        let return_params = arguments.flag("return_params", false)?;
        let mut horizon_correlation = false;
        if C::CORRELATED {
            if arguments.flag("batch_correlation", false)? {
                let expected = "false: the windows of a batch are treated as independent";
                return Err(HyperParameterError::new("batch_correlation", expected, true));
            }
            horizon_correlation = arguments.flag("horizon_correlation", false)?;
        }
        let weighted = arguments.flag("weighted", false)?;
        let kind = PhantomData;
        Ok(Self { components, weighted, horizon_correlation, quantiles, num_samples, return_params, kind })
    }

    /// neuralforecast's classes have none.
    fn has_horizon_weight() -> bool {
        false
    }

    fn arguments(&self) -> Vec<(&'static str, Value)> {
        let mut pairs = vec![
            ("n_components", json!(self.components)),
            self.quantiles.argument(),
            ("num_samples", json!(self.num_samples)),
            ("return_params", json!(self.return_params)),
        ];
        if C::CORRELATED {
            pairs.push(("batch_correlation", json!(false)));
            pairs.push(("horizon_correlation", json!(self.horizon_correlation)));
        }
        pairs.push(("weighted", json!(self.weighted)));
        pairs
    }

    fn outputs(&self) -> Outputs<'_> {
        Outputs::Distribution(self)
    }

    fn sum(&self, prediction: &[f32], truth: Targets<'_>, mut gradient: Gradient<'_>) -> f64 {
        let Targets { horizon, target, weights, loc, scale, .. } = truth;
        let (count, outputs) = (self.components, Distribution::outputs(self));
        // Steps that are of one component.
        let together = if self.horizon_correlation { horizon } else { 1 };
        // Of each component: its negative log-likelihood, the logarithm of its weight at the step and its share in the sum over
        // the steps; by each output of the parameters at each step the derivative of the first.
        let mut likelihoods = Buffer::<f64>::zeroed(count);
        let mut log_weights = Buffer::<f64>::zeroed(count);
        let mut shares = Buffer::<f64>::zeroed(count);
        let mut slopes = Buffer::<f64>::zeroed(together * count * P);
        let mut sum = 0.0;
        for first in (0..target.len()).step_by(together) {
            let part =
                |values: &[f32], neutral: f64| values.get(first / horizon).map_or(neutral, |&x| x.into());
            let [loc, scale] = C::window(part(loc, 0.0), part(scale, 1.0));
            let steps = first..first + together;
            likelihoods.fill(0.0);
            shares.fill(0.0);
            for step in steps.clone().filter(|&step| weights[step] != 0.0) {
                let output = &prediction[step * outputs..][..outputs];
                let slopes = slopes[(step - first) * count * P..].chunks_exact_mut(P);
                for (k, (likelihood, slopes)) in likelihoods.iter_mut().zip(slopes).enumerate() {
                    let (value, found) =
                        C::FAMILY.loss(self.component(output, k), loc, scale, target[step].into());
                    *likelihood += value;
                    slopes.copy_from_slice(&found);
                }
            }
            for step in steps.clone().filter(|&step| weights[step] != 0.0) {
                let (output, weight) = (&prediction[step * outputs..][..outputs], f64::from(weights[step]));
                self.log_weights(output, &mut log_weights);
                let term = |k: usize| log_weights[k] - likelihoods[k];
                let most = (0..count).map(term).fold(f64::NEG_INFINITY, f64::max);
                let all: f64 = (0..count).map(|k| (term(k) - most).exp()).sum();
                sum -= weight * (most + all.ln());
                for k in 0..count {
                    let share = (term(k) - most).exp() / all;
                    shares[k] += weight * share;
                    if let Some((gradient, factor)) = gradient.as_mut().filter(|_| self.weighted) {
                        let slope = weight * (log_weights[k].exp() - share);
                        gradient[step * outputs + P * count + k] = (f64::from(*factor) * slope) as f32;
                    }
                }
            }
            let Some((gradient, factor)) = &mut gradient else { continue };
            for step in steps {
                let gradient = &mut gradient[step * outputs..][..outputs];
                if weights[step] == 0.0 {
                    gradient.fill(0.0);
                    continue;
                }
                let slopes = slopes[(step - first) * count * P..].chunks_exact(P);
                for (k, (share, slopes)) in shares.iter().zip(slopes).enumerate() {
                    for (i, slope) in slopes.iter().enumerate() {
                        gradient[i * count + k] = (f64::from(*factor) * share * slope) as f32;
                    }
                }
            }
        }
        sum
    }
}

impl<C: Component<P>, const P: usize> Mixture<C, P> {
    /// The outputs of component `k` among those of a step.
    fn component(&self, output: &[f32], k: usize) -> [f64; P] {
        std::array::from_fn(|i| f64::from(output[i * self.components + k]))
    }

    /// Writes the logarithms of the components' weights, which are the softmax of their logits.
    fn log_weights(&self, output: &[f32], into: &mut [f64]) {
        if !self.weighted {
            return into.fill(-(self.components as f64).ln());
        }
        let logits = &output[P * self.components..];
        let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        into.iter_mut().zip(logits).for_each(|(into, logit)| *into = f64::from(logit - most));
        let all = into.iter().map(|logit| logit.exp()).sum::<f64>().ln();
        into.iter_mut().for_each(|logit| *logit -= all);
    }

    /// Numbers that [`Mixture::mixture`] fills.
    fn scratch(&self) -> Buffer<f64> {
        Buffer::zeroed((P + 1) * self.components)
    }

    /// The components of a step, their weights and parameters.
    fn mixture<'a>(
        &self,
        output: &[f32],
        [loc, scale]: [f32; 2],
        scratch: &'a mut [f64],
    ) -> impl ExactSizeIterator<Item = (f64, [f64; P])> + Clone + 'a {
        let (weights, parameters) = scratch.split_at_mut(self.components);
        self.log_weights(output, weights);
        weights.iter_mut().for_each(|weight| *weight = weight.exp());
        let [loc, scale] = C::window(loc.into(), scale.into());
        for (k, parameters) in parameters.chunks_exact_mut(P).enumerate() {
            parameters.copy_from_slice(&C::FAMILY.parameters(self.component(output, k), loc, scale));
        }
        let parameters = parameters.chunks_exact(P).map(|own| std::array::from_fn(|i| own[i]));
        weights.iter().copied().zip(parameters)
    }
}

fn all_finite<const P: usize>(mut components: impl Iterator<Item = (f64, [f64; P])>) -> bool {
    components.all(|(weight, parameters)| weight.is_finite() && parameters.iter().all(|x| x.is_finite()))
}

impl<C: Component<P>, const P: usize> Distribution for Mixture<C, P> {
    fn outputs(&self) -> usize {
        (P + usize::from(self.weighted)) * self.components
    }

    fn quantiles(&self) -> &Quantiles {
        &self.quantiles
    }

    fn parameter_columns(&self) -> Vec<String> {
        let count = if self.return_params { self.components } else { 0 };
        let names = || C::PARAMETERS.into_iter().chain(self.weighted.then_some("-weight"));
        (1..=count).flat_map(|k| names().map(move |name| format!("{name}-{k}"))).collect()
    }

    fn support(&self) -> Support {
        C::Family::SUPPORT
    }

    fn is_of_counts(&self) -> bool {
        C::COUNTS
    }

    fn is_read_by_parameter(&self) -> bool {
        false
    }

    fn with_quantiles(&self, quantiles: Quantiles) -> Arc<dyn LossFunction> {
        Arc::new(Self { quantiles, ..self.clone() })
    }

    fn forecast(&self, columns: &DistributionColumns, output: &[f32], window: [f32; 2], into: &mut [f32]) {
        let (outputs, mut scratch) = (Distribution::outputs(self), self.scratch());
        for (output, row) in output.chunks_exact(outputs).zip(into.chunks_exact_mut(columns.count())) {
            let components = self.mixture(output, window, &mut scratch);
            let sound = all_finite(components.clone());
            let (mean, row) = row.split_at_mut(usize::from(columns.mean));
            let (quantiles, rest) = row.split_at_mut(columns.levels.len());
            if let [mean] = mean {
                *mean = components.clone().map(|(w, of)| w * C::FAMILY.mean(of)).sum::<f64>() as f32;
            }
            for (quantile, &at) in quantiles.iter_mut().zip(&columns.levels) {
                let components = components.clone();
                *quantile = if sound { quantile_of::<C, P>(components, at) as f32 } else { f32::NAN };
            }
            let numbers = components.flat_map(|(w, of)| of.into_iter().chain(self.weighted.then_some(w)));
            rest.iter_mut().zip(numbers).for_each(|(into, number)| *into = number as f32);
        }
    }

    fn sample(&self, output: &[f32], window: [f32; 2], key: Key) -> f32 {
        let mut scratch = self.scratch();
        let mut components = self.mixture(output, window, &mut scratch);
        if !all_finite(components.clone()) {
            return f32::NAN;
        }
        let mut draws = Stream::new(key);
        let mut rest = sampling::uniform(&mut draws);
        let last = components.clone().last();
        let drawn = components.find(|(weight, _)| {
            rest -= weight;
            rest <= 0.0
        });
        // Rounded weights may add up to a little less than 1.
        let (_, parameters) = drawn.or(last).expect("a mixture has components");
        C::FAMILY.sample(parameters, &mut draws) as f32
    }
}

/// The quantile of a mixture of components with these weights. It is between the least and the greatest of the components',
/// and is found by halving: that of a count exactly, others to 1e-12 of this distance.
fn quantile_of<C: Component<P>, const P: usize>(
    components: impl Iterator<Item = (f64, [f64; P])> + Clone,
    at: Level,
) -> f64 {
    let own = components.clone().map(|(_, of)| C::FAMILY.quantile(of, at));
    let (mut low, mut high) =
        own.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), q| (low.min(q), high.max(q)));
    let enough = |x: f64| components.clone().map(|(w, of)| w * C::cdf(of, x)).sum::<f64>() >= at.q;
    if low == high || (C::COUNTS && enough(low)) {
        return low;
    }
    // Of counts, from here on: not enough at `low`, enough at `high`.
    let precision = if C::COUNTS { (high * 3e-8).max(1.0) } else { (high - low) * 1e-12 };
    while high - low > precision {
        let middle = 0.5 * (low + high);
        let middle = if C::COUNTS { middle.floor() } else { middle };
        if middle <= low || middle >= high {
            break;
        }
        if enough(middle) { high = middle } else { low = middle }
    }
    high
}
