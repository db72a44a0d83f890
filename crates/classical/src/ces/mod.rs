//! Complex exponential smoothing.

mod estimator;
mod fit;
mod model;

pub use estimator::AutoCes;
