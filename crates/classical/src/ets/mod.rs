//! Exponential smoothing in the form of state spaces.

mod estimators;
mod fit;
mod model;
mod start;
mod variance;

pub(crate) use estimators::trend_ets;
pub use estimators::{AutoEts, Ets, Holt, HoltWinters};
