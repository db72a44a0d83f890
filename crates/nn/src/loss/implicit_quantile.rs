//! Implicit quantiles (Dabney et al. 2018, arXiv:1806.06923; for time series Gouttes et al. 2021, arXiv:2107.03743): a layer behind
//! the model makes of its output the quantile of any probability. Training draws a probability for each step of each window and
//! takes the loss of its quantile, the pinball loss or Huber's.
//!
//! In training the outputs of a step are this value and the probability that it was drawn for. A forecast has a value for each
//! quantile that is asked for, the median by default. The validation loss is a mean over fixed quantiles, where neuralforecast
//! draws some each time.

use std::sync::Arc;

use serde_json::{Number, Value, json};

use super::function::{Gradient, Implicit, LossFunction, Outputs};
use super::huber_quantile::huber_of_quantile;
use super::implicit_quantiles::ImplicitQuantiles;
use super::multi_quantile::pinball;
use super::passes::by_quantile;
use super::quantiles::Quantiles;
use super::targets::Targets;
use crate::HyperParameterError;
use crate::arguments::{Arguments, NumberRange};

/// The pinball loss.
pub(super) type IqLoss = ImplicitQuantile<false>;

/// Huber's loss.
pub(super) type HuberIqLoss = ImplicitQuantile<true>;

#[derive(Clone, Debug)]
pub(super) struct ImplicitQuantile<const HUBER: bool> {
    layer: ImplicitQuantiles,
    /// Of Huber's loss, as written.
    delta: Number,
    /// Those in the columns of a forecast.
    quantiles: Quantiles,
}

fn one() -> Number {
    Number::from_f64(1.0).expect("1 is finite")
}

impl<const HUBER: bool> ImplicitQuantile<HUBER> {
    /// The loss of the quantile of `q` and its derivative, of an `error` (forecast minus target).
    fn of_quantile(&self) -> impl Fn(f32, f32) -> (f32, f32) {
        let delta = self.delta.as_f64().unwrap_or(1.0) as f32;
        move |q, error| if HUBER { huber_of_quantile(q, error, delta) } else { pinball(q, error) }
    }
}

impl<const HUBER: bool> LossFunction for ImplicitQuantile<HUBER> {
    fn read(arguments: &mut Arguments) -> Result<Self, HyperParameterError> {
        let cos_embedding_dim = arguments.count("cos_embedding_dim", 1..=4096)?.unwrap_or(64) as usize;
        let mut concentration = |name| Ok(arguments.number(name, NumberRange::POSITIVE)?.unwrap_or(1.0));
        let concentration = [concentration("concentration0")?, concentration("concentration1")?];
        let delta = if HUBER { arguments.written_number("delta", NumberRange::POSITIVE)? } else { None };
        Ok(Self {
            layer: ImplicitQuantiles { cos_embedding_dim, concentration },
            delta: delta.unwrap_or_else(one),
            quantiles: Quantiles::one(0.5, "_ql0.5".to_owned()),
        })
    }

    fn arguments(&self) -> Vec<(&'static str, Value)> {
        let [to_0, to_1] = self.layer.concentration;
        let mut pairs = vec![
            ("cos_embedding_dim", json!(self.layer.cos_embedding_dim)),
            ("concentration0", json!(to_0)),
            ("concentration1", json!(to_1)),
        ];
        pairs.extend(HUBER.then(|| ("delta", json!(self.delta))));
        pairs
    }

    fn outputs(&self) -> Outputs<'_> {
        Outputs::Implicit(self)
    }

    /// Of pairs of a value and its probability.
    fn sum(&self, prediction: &[f32], truth: Targets<'_>, mut gradient: Gradient<'_>) -> f64 {
        let loss = self.of_quantile();
        let pairs = prediction.as_chunks::<2>().0;
        let mut sum = 0.0;
        for (i, (&[value, q], (&target, &weight))) in
            pairs.iter().zip(truth.target.iter().zip(truth.weights)).enumerate()
        {
            let (value, slope) = if weight == 0.0 { (0.0, 0.0) } else { loss(q, value - target) };
            sum += f64::from(weight * value);
            if let Some((gradient, scale)) = &mut gradient {
                gradient[2 * i] = *scale * weight * slope;
                gradient[2 * i + 1] = 0.0;
            }
        }
        sum
    }

    fn sum_of_forecasts(&self, forecast: &[f32], truth: Targets<'_>) -> f64 {
        let quantiles = self.quantiles.values();
        by_quantile(quantiles, forecast, truth, None, self.of_quantile()) / quantiles.len() as f64
    }
}

impl<const HUBER: bool> Implicit for ImplicitQuantile<HUBER> {
    fn layer(&self) -> &ImplicitQuantiles {
        &self.layer
    }

    fn quantiles(&self) -> &Quantiles {
        &self.quantiles
    }

    fn with_quantiles(&self, quantiles: Quantiles) -> Arc<dyn LossFunction> {
        Arc::new(Self { quantiles, ..self.clone() })
    }
}
