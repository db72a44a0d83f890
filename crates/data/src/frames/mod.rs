//! Tables of forecasts, and how they are written.

#[cfg(feature = "parquet")]
pub(crate) mod batch;
pub(crate) mod frame;
mod serde;
pub(crate) mod write;
