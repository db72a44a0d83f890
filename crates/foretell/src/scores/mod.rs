//! The accuracy of models: forecasts of known rows, and their errors.

pub(crate) mod actual_values;
mod anomalies;
pub(crate) mod cross_validation;
pub(crate) mod forecast_rows;
pub(crate) mod metrics;
pub(crate) mod precision;
mod refits;
mod validate_anew;
