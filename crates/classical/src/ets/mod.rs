//! Exponential smoothing in the form of state spaces.

mod estimators;
mod fit;
mod model;
mod start;
mod variance;

pub use estimators::{AutoEts, Ets, Holt, HoltWinters};
pub(crate) use estimators::{describe, trend_ets};
