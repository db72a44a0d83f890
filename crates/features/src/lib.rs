//! Columns computed from a panel's target and times: lags, moving windows, calendars, Fourier terms, holidays.
//!
//! [`Features`] are read from short words, `lag:1,7,weekday,fourier:yearly:3`; [`FEATURES`] is the table of all of them. Those of
//! the target are historic columns: in row t they are computed from rows before t alone, so no forecast sees more through them
//! than the target of its own history. Those of the times are known ahead.
//!
//! ```
//! use foretell_features::Features;
//!
//! let features: Features = "lag:1,7,roll_mean:28,weekday,fourier:yearly:1".parse()?;
//! assert_eq!(features.hist_columns(), ["lag_1", "lag_7", "roll_mean_28"]);
//! assert_eq!(features.futr_columns(), ["weekday", "fourier_yearly_sin_1", "fourier_yearly_cos_1"]);
//! # Ok::<(), foretell_features::FeatureError>(())
//! ```
//!
//! # Features
//!
//! The only one, `default`, switches on what the crates below have by default: kernels dispatched at run time (`simd` of `foretell-simd`),
//! threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it they are off, and
//! everything gives the same results; depend on those crates as well to choose among them.
#![forbid(unsafe_code)]

mod arguments;
mod clock;
#[cfg(test)]
mod columns_tests;
mod compute;
mod day_file;
mod error;
mod feature;
mod kinds;
mod past;
mod rows;
mod spec;
mod table;

pub use day_file::read_days;
pub use error::FeatureError;
pub use spec::{Features, day_file_of};
pub use table::{FEATURES, FeatureEntry};

/// The times of the panels.
pub use foretell_calendar as calendar;
/// The panels that features are computed on.
pub use foretell_data as data;
/// The threads that compute them.
pub use foretell_threads as threads;

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
