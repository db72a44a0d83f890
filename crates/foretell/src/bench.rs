//! How fast a network is on this machine.

use foretell_estimator::MemoryLimit;
use foretell_neural::{Bench, Precision};

use crate::error::Error;
use crate::model_spec::ModelSpec;
use crate::registry::MODELS;
use crate::usage_error::UsageError;

/// Measures a network on `batch` synthetic windows with `threads` threads (0: as many as the machine has), in no more
/// memory than `limit`. Its training steps run in `precision`; its forecasts hold their weights in bfloat16 where that is the
/// precision, else in `f32`.
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
    precision: Precision,
    limit: &MemoryLimit,
) -> Result<Bench, Error> {
    let network = spec.network().ok_or_else(|| UsageError::NoNetwork {
        model: spec.name(),
        what: "bench",
        known: MODELS.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", "),
    })?;
    Ok(foretell_neural::bench(network, batch, threads, precision, limit)?)
}
