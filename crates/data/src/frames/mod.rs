//! Tables of forecasts, and how they are written.

#[cfg(feature = "parquet")]
pub(crate) mod batch;
pub(crate) mod cells;
pub(crate) mod frame;
mod serde;
#[cfg(feature = "parquet")]
pub(crate) mod stream;
pub(crate) mod write;
