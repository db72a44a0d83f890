//! Losses of several quantiles at a time, and what the quantiles are called.

use serde_json::{Number, Value, json};

use super::Targets;

/// Quantiles with the suffixes of their columns. How they were given decides order and names.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Quantiles {
    given: Given,
    values: Vec<f32>,
    suffixes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum Given {
    /// Central intervals in percent, kept as written: `80` and `80.0` name different columns.
    Level(Vec<Number>),
    List(Vec<f64>),
}

impl Quantiles {
    /// The median and the ends of central intervals, in percent, upwards.
    pub(super) fn of_level(written: Vec<Number>) -> Self {
        let mut level: Vec<(f64, Number)> = Vec::new();
        for number in written {
            let percent = number.as_f64().unwrap_or_default();
            if level.iter().all(|(known, _)| *known != percent) {
                level.push((percent, number));
            }
        }
        let ends = level.iter().flat_map(|(percent, number)| {
            [(50.0 - percent / 2.0, format!("-lo-{number}")), (50.0 + percent / 2.0, format!("-hi-{number}"))]
        });
        let mut ends: Vec<_> = ends.collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        ends.insert(0, (50.0, "-median".to_owned()));
        // The same operations in the same precision as in neuralforecast: quantiles are stored in checkpoints.
        let (values, suffixes) = ends.into_iter().map(|(q, suffix)| (q as f32 / 100.0, suffix)).unzip();
        Self { given: Given::Level(level.into_iter().map(|(_, number)| number).collect()), values, suffixes }
    }

    /// The listed quantiles, in the order of the list.
    pub(super) fn listed(list: Vec<f64>) -> Self {
        let suffix = |&q: &f64| match q {
            q if q < 0.5 => format!("-lo-{:?}", round2(100.0 - 200.0 * q)),
            q if q > 0.5 => format!("-hi-{:?}", round2(100.0 - 200.0 * (1.0 - q))),
            _ => "-median".to_owned(),
        };
        let (values, suffixes) =
            (list.iter().map(|&q| q as f32).collect(), list.iter().map(suffix).collect());
        Self { given: Given::List(list), values, suffixes }
    }

    /// Listed quantiles in ascending order; those of intervals as they are.
    pub(super) fn sorted(self) -> Self {
        match self.given {
            Given::List(mut list) => {
                list.sort_by(f64::total_cmp);
                Self::listed(list)
            }
            Given::Level(_) => self,
        }
    }

    pub(super) fn values(&self) -> &[f32] {
        &self.values
    }

    pub(super) fn suffixes(&self) -> &[String] {
        &self.suffixes
    }

    /// The constructor argument that gives these quantiles: its name and its value.
    pub(super) fn argument(&self) -> (&'static str, Value) {
        match &self.given {
            Given::Level(level) => ("level", json!(level)),
            Given::List(list) => ("quantiles", json!(list)),
        }
    }
}

fn round2(x: f64) -> f64 {
    (x * 100.0).round_ties_even() / 100.0
}

/// The sum over the quantiles of `max(q (y - ŷ), (q - 1) (y - ŷ))`, weighted and summed over steps; with a `delta`,
/// Huber's loss of the same errors.
///
/// neuralforecast's documentation says mean, but its code divides by the length of a dimension that is 1. Losses and
/// gradients here are those of its code.
pub(super) fn sum(
    quantiles: &[f32],
    delta: Option<f32>,
    prediction: &[f32],
    truth: Targets<'_>,
    grad: Option<(&mut [f32], f32)>,
) -> f64 {
    match delta {
        None => steps(quantiles, prediction, truth, grad, pinball),
        Some(delta) => steps(quantiles, prediction, truth, grad, |q, error| huber_pinball(q, error, delta)),
    }
}

fn steps(
    quantiles: &[f32],
    prediction: &[f32],
    truth: Targets<'_>,
    mut grad: Option<(&mut [f32], f32)>,
    loss: impl Fn(f32, f32) -> (f32, f32),
) -> f64 {
    let count = quantiles.len();
    let mut sum = 0.0;
    let rows = prediction.chunks_exact(count).zip(truth.target.iter().zip(truth.weights));
    for (step, (row, (&target, &weight))) in rows.enumerate() {
        let mut slopes = grad.as_mut().map(|(grad, scale)| (&mut grad[step * count..][..count], *scale));
        if weight == 0.0 {
            if let Some((slopes, _)) = slopes {
                slopes.fill(0.0);
            }
            continue;
        }
        let mut total = 0.0;
        for (i, (&q, &prediction)) in quantiles.iter().zip(row).enumerate() {
            let (value, slope) = loss(q, prediction - target);
            total += value;
            if let Some((slopes, scale)) = &mut slopes {
                slopes[i] = *scale * weight * slope;
            }
        }
        sum += f64::from(weight * total);
    }
    sum
}

/// The loss and its derivative by the forecast, `error` being forecast minus target.
fn pinball(q: f32, error: f32) -> (f32, f32) {
    // At a tie PyTorch takes the middle of both slopes; NaN goes through.
    let slope = if error > 0.0 {
        1.0 - q
    } else if error < 0.0 {
        -q
    } else {
        0.5 - q + error
    };
    (slope * error, slope)
}

/// Huber's loss of `q` times an error below or `1 - q` times one above (so in `HuberMQLoss`; `HuberQLoss`
/// has the factor before Huber's loss).
fn huber_pinball(q: f32, error: f32, delta: f32) -> (f32, f32) {
    let factor = if error > 0.0 { 1.0 - q } else { -q };
    let (value, slope) = huber(factor * error, delta);
    (value, factor * slope)
}

/// Huber's loss of an `error` that is not negative, and its derivative.
pub(super) fn huber(error: f32, delta: f32) -> (f32, f32) {
    let clipped = if error > delta { delta } else { error };
    (clipped * (error - 0.5 * clipped), clipped)
}
