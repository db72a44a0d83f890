//! Boosted decomposition: median, Fourier series, line, smoothing, each fitted to what the others have left.

mod boost;
mod estimator;
mod fourier;
mod settings;
mod trend;

pub use settings::Mfles;
