//! The Theta method and its optimised and dynamic forms.

mod estimators;
mod fit;
mod model;

pub use estimators::{AutoTheta, DynamicOptimizedTheta, DynamicTheta, OptimizedTheta, Theta};
