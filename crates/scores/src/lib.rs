//! Tables of forecasts, of whatever tool, and the actual values: matched, checked, scored.
//!
//! # Features
//!
//! The only one, `default`, switches on what the crates below have by default. Without it that is off, and everything gives the same results.

#![forbid(unsafe_code)]

mod bare_quantiles;
mod crossed_quantiles;
mod error;
mod known_values;
mod model_columns;
mod one_zone;
mod other_steps;
mod same_steps;
mod same_zone;
mod sample_tables;
mod scored_forecasts;
mod time_steps;

pub use bare_quantiles::name_quantiles;
pub use crossed_quantiles::CrossedQuantiles;
pub use error::ScoresError;
pub use model_columns::{ModelColumns, QuantileColumn};
pub use one_zone::OneZone;
pub use other_steps::OtherSteps;
pub use same_zone::{check_zone_of_data, skipped_hour};
pub use sample_tables::refuse_sample_paths;
pub use scored_forecasts::{ScoredForecasts, crossed_quantiles};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
