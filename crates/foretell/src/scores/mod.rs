//! The accuracy of models: forecasts of known rows, and their errors.

pub(crate) mod actual_values;
mod anomalies;
pub(crate) mod cross_validation;
pub(crate) mod crossed_ends;
pub(crate) mod forecast_file;
pub(crate) mod forecast_rows;
pub(crate) mod known_values;
pub(crate) mod metrics;
mod model_columns;
pub(crate) mod precision;
mod refits;
pub(crate) mod same_steps;
pub(crate) mod same_zone;
mod time_steps;
mod validate_anew;
