//! Panels: series of one frequency, the future values that are known of them, and how they are made of tables and slices.

mod append;
mod assemble;
pub(crate) mod builder;
pub(crate) mod categories;
mod cells;
pub(crate) mod column;
pub(crate) mod covariates;
mod edges;
mod extend;
pub(crate) mod fill;
pub(crate) mod forecast_table;
mod forecasts;
mod gaps;
pub(crate) mod local_scaler;
pub(crate) mod options;
mod origin;
pub(crate) mod panel;
mod part;
mod read;
#[cfg(feature = "parquet")]
mod record_batches;
mod rows;
mod sort;
pub(crate) mod unseen;
