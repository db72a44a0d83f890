//! How fast networks are on this machine.

use foretell_estimator::{MemoryLimit, StepSettings};
use foretell_neural::{Bench, ForecastCurve, NetworkSpec, ThreadCurve, WeightPrecision};

use crate::error::Error;
use crate::model_spec::ModelSpec;
use crate::registry::MODELS;
use crate::usage_error::UsageError;

/// Measures a network on `batch` synthetic windows with `threads` threads (0: as many as the machine has), in no more
/// memory than `limit`. Its training steps are computed as `step` says, as those of [`Forecaster::steps_as`](crate::Forecaster::steps_as);
/// its forecasts hold their weights in bfloat16 where that is the precision, else in `f32`.
///
/// # Errors
/// If it is no network, the hyper-parameters do not fit together or let the training diverge, there are more than 1024 threads,
/// the model and its windows do not fit into memory, the batch has one window where windows are coupled, or the program was
/// built without this precision (the feature `amp`).
///
/// # Panics
/// If `batch` is 0.
pub fn bench(
    spec: &ModelSpec,
    batch: usize,
    threads: usize,
    step: StepSettings,
    limit: &MemoryLimit,
) -> Result<Bench, Error> {
    Ok(foretell_neural::bench(network(spec)?, batch, threads, step, limit)?)
}

/// Measures the forecasts a second of a network in batches of these numbers of windows with `threads` threads (0: as many as the
/// machine has), and chooses the smallest that reaches 90 % of the best rate ([`ForecastCurve::choice`]). Weights are held in
/// `precision`.
///
/// ```
/// use foretell::{MemoryLimit, ModelSpec, WeightPrecision, forecast_curve};
///
/// let spec = ModelSpec::new("NLinear", 7, 14)?;
/// let curve = forecast_curve(&spec, &[1, 8], 1, WeightPrecision::F32, &MemoryLimit::default())?;
/// assert_eq!(curve.points[1].batch, 8);
/// # Ok::<(), foretell::Error>(())
/// ```
///
/// # Errors
/// If it is no network, the hyper-parameters do not fit together, there are more than 1024 threads, the model and its largest
/// batch do not fit into memory, or the program was built without this precision (the feature `amp`).
///
/// # Panics
/// If there are no batches, or one is 0.
pub fn forecast_curve(
    spec: &ModelSpec,
    batches: &[usize],
    threads: usize,
    precision: WeightPrecision,
    limit: &MemoryLimit,
) -> Result<ForecastCurve, Error> {
    Ok(foretell_neural::forecast_curve(network(spec)?, batches, threads, precision, limit)?)
}

/// Measures a training step of a network with these numbers of threads (0: as many as the machine has), as far as the machine has
/// cores, and computes it for more: see [`ThreadCurve`].
///
/// # Errors
/// Those of [`bench()`].
///
/// # Panics
/// If `batch` is 0.
pub fn thread_curve(
    spec: &ModelSpec,
    batch: usize,
    threads: &[usize],
    step: StepSettings,
    limit: &MemoryLimit,
) -> Result<ThreadCurve, Error> {
    Ok(foretell_neural::thread_curve(network(spec)?, batch, threads, step, limit)?)
}

fn network(spec: &ModelSpec) -> Result<&NetworkSpec, UsageError> {
    spec.network().ok_or_else(|| UsageError::NoNetwork {
        model: spec.name(),
        what: "bench",
        known: MODELS.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", "),
    })
}
