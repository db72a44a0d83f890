//! Common parts of models that forecast all series together.

use serde_json::{Value, json};

/// A difference from neuralforecast.
pub(crate) const QUANTILES_OF_SERIES: &str = "With several quantiles each series gets its own; in neuralforecast a series gets values of other series.";

/// [`Architecture::common_defaults`](crate::Architecture::common_defaults) of these models: fewer windows than others take,
/// since each is as many rows as there are series.
pub(crate) fn multivariate_defaults() -> Value {
    json!({ "windows_batch_size": 32, "inference_windows_batch_size": 32 })
}
