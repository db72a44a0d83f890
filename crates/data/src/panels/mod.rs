//! Panels: series of one frequency, the future values that are known of them, and how tables and slices become panels.

pub(crate) mod aggregate;
mod append;
mod assemble;
pub(crate) mod builder;
pub(crate) mod categories;
mod cells;
mod coarse;
pub(crate) mod column;
mod constants;
pub(crate) mod covariates;
mod edges;
pub(crate) mod ends;
mod extend;
pub(crate) mod fill;
pub(crate) mod forecast_table;
mod forecasts;
mod gaps;
mod join;
mod laid_out;
pub(crate) mod local_scaler;
mod long_rows;
mod merge;
pub(crate) mod options;
mod origin;
mod pair;
pub(crate) mod panel;
mod part;
mod partial;
mod parts;
mod periods;
mod read;
#[cfg(feature = "parquet")]
mod record_batches;
mod rows;
mod sort;
mod spelling;
pub(crate) mod unseen;
