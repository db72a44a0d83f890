//! Chronos-Bolt (Ansari et al. 2024, `amazon-science/chronos-forecasting`, Apache-2.0): T5 over patches of a series.
//!
//! 1. The known values of the context are scaled by their mean and deviation, cut into patches, and each patch with the marks of its
//!    known values becomes a token. Patches without a known value are left out: nothing attends to them.
//! 2. A T5 encoder (Raffel et al. 2020) with relative positions in buckets; behind the patches stands a token of its own (REG).
//! 3. A T5 decoder of one position, whose state becomes all quantiles of all steps of a pass.
//! 4. Beyond one pass each quantile is a path whose next steps are forecast with it for known: of Q quantiles Q x Q paths, whose
//!    quantiles are the forecast.

mod config;
mod decoder;
mod encoder;
mod network;
mod positions;

pub(crate) use config::BoltConfig;
pub(crate) use network::Bolt;
