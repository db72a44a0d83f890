//! Averages and a line: nothing is learned.

mod drift;
mod historic;
mod season_window;
mod window;

pub use drift::RandomWalkWithDrift;
pub use historic::HistoricAverage;
pub use season_window::SeasonalWindowAverage;
pub use window::WindowAverage;

use crate::hyper::{self, HyperParameter};
use serde_json::Value;

/// The square root of a sum of squares over their number less one; 0 of a single one.
fn deviation(squares: f64, count: usize) -> f64 {
    if count > 1 { (squares / (count - 1) as f64).sqrt() } else { 0.0 }
}

/// The mean of values; NaN of none.
fn mean(y: &[f64]) -> f64 {
    y.iter().sum::<f64>() / y.len() as f64
}

/// How many steps, or seasons, an average is of.
const fn window_size<M>(
    meaning: &'static str,
    get: fn(&M) -> Value,
    set: fn(&mut M, &Value) -> Option<()>,
) -> HyperParameter<M> {
    HyperParameter { name: "window_size", meaning, expected: hyper::STEPS, get, set }
}
