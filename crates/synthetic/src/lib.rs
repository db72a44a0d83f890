//! Synthetic time series of many kinds, each a function of a seed and an index, to pretrain a network on.
//!
//! A network that forecasts series that it has never seen has to have seen many *kinds* of them: what it learns of synthetic series carries over
//! to real ones by the variety of the mix, not by its number (Ansari et al. 2024, Moroshan et al. 2025). So this crate draws from
//! Gaussian processes with kernels composed at random, calendars with closed days, regimes, ARIMA and exponential smoothing,
//! intermittent demand and counts, steps, sawteeth, growth, spikes and daylight, and mixes some of them. [`Kind::MIX`] has the shares.
//!
//! ```
//! use foretell_synthetic::SyntheticSeries;
//!
//! let series = SyntheticSeries::new(1, 42, 512);
//! assert_eq!(series.values.len(), 512);
//! assert_eq!(series, SyntheticSeries::new(1, 42, 512));
//! ```
//!
//! No real series is in it, and none was looked at to fix the shares.
#![forbid(unsafe_code)]

mod drawn;
mod draws;
mod kinds;
mod series;
mod shapes;

pub use kinds::Kind;
pub use series::SyntheticSeries;
