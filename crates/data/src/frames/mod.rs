//! Tables of forecasts: written, and read back.

#[cfg(feature = "parquet")]
pub(crate) mod batch;
pub(crate) mod frame;
mod read;
mod serde;
pub(crate) mod write;
