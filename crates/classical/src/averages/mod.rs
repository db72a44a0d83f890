//! Averages and a line: nothing is learned.

mod drift;
mod historic;
mod season_window;
mod window;

pub use drift::RandomWalkWithDrift;
pub use historic::HistoricAverage;
pub use season_window::SeasonalWindowAverage;
pub use window::WindowAverage;

/// The square root of a sum of squares over their number less one; 0 of a single one.
fn deviation(squares: f64, count: usize) -> f64 {
    if count > 1 { (squares / (count - 1) as f64).sqrt() } else { 0.0 }
}
