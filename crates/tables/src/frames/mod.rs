//! Tables of forecasts, and how they are written.

#[cfg(feature = "parquet")]
pub(crate) mod batch;
pub(crate) mod cells;
pub(crate) mod forecast_column;
pub(crate) mod frame;
pub(crate) mod models;
mod serde;
#[cfg(feature = "parquet")]
pub(crate) mod stream;
pub(crate) mod write;
