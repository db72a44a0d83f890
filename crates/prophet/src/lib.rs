//! Prophet: growth with change points, Fourier seasonalities, holidays and regressors, fitted to each series.
//!
//! Taylor and Letham, Forecasting at Scale, The American Statistician 72 (2018). [`Prophet`] is an estimator like any other:
//! fitted, saved, scored and given intervals as networks are. Hyper-parameters ([`ProphetSettings`]) are named as in the Python
//! package `prophet`, and a fit makes the same posterior as large as it gets, in 64-bit numbers, by L-BFGS that stops at the kinks of
//! absolute values. Series are fitted side by side on all threads; no bit depends on their number.
//!
//! ```
//! use foretell_calendar::Freq;
//! use foretell_data::{Panel, Span};
//! use foretell_estimator::{Asked, Estimator as _, HeldOut, Run, Verdict, Workers};
//! use foretell_prophet::{Prophet, ProphetSettings};
//! # use foretell_data::Vocabulary;
//!
//! // Days from 1970-01-01 on: a line and a week.
//! let week = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0];
//! let y: Vec<f32> = (0..140).map(|day| 100.0 + 0.5 * day as f32 + week[day % 7]).collect();
//! let panel = Panel::from_series(Freq::parse("D")?, [("shop", 0, y)])?;
//! let (workers, vocabulary) = (Workers::new(1)?, Vocabulary::new());
//! let listen = &mut |_: &_| Verdict::Continue;
//! let run = Run::alone(&workers, &vocabulary, listen);
//! let settings = ProphetSettings { h: 7, ..ProphetSettings::default() };
//! let trained = Prophet::new(settings).fit(&panel, HeldOut::default(), run)?;
//! let asked = Asked { span: Span::Predict { future: None }, h: 7, quantiles: Some(&[0.1, 0.9]) };
//! let forecast = trained.forecast(&panel, &asked, &workers)?;
//! for (step, row) in forecast.values.chunks(3).enumerate() {
//!     let expected = 100.0 + 0.5 * (140 + step) as f32 + week[step];
//!     assert!((row[0] - expected).abs() < 0.2 && row[1] < row[2], "{row:?}, not {expected}");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What to expect of a short series
//!
//! A seasonality needs two of its seasons to be told from the trend. Where it is left to the history (`auto`), it is left out below
//! that: the yearly one below 730 days, the weekly one below 14 days, the daily one below 2 days; the forecast is then the trend
//! and what other components there are. Switched on by hand (`true`, or a number of harmonics), it is fitted all the same,
//! held near 0 by its prior alone: within the history it takes up what the trend could explain as well, and beyond it the two
//! part. A seasonality of your own is always fitted. A series of `n` rows has at most `n * changepoint_range - 1` change
//! points. Two known values are the least: they make a straight line. A fit tells of the seasonalities that series are too short
//! for (`Estimator::caveats`).
//!
//! # Holidays
//!
//! Days of your own (`holidays`: a list, or a CSV file) and public holidays of a country (`country_holidays`), of which
//! `foretell-holidays` has those from 1990 to 2050; days outside of these years are as others are, which a fit tells of data with
//! such days (`Estimator::caveats`).
//!
//! # What differs from the package
//!
//! Quantiles are those of futures with change points at any time, as in the paper (the package's own way where it is not
//! vectorised), not at the rows alone. Weights of rows (`sample_weight`) have no effect. There is no sampling of the posterior
//! (`mcmc_samples`), and no model of a regressor's future.
//!
//! # Features
//!
//! The only one, `default`, switches on what the crates below have by default: kernels dispatched at run time (`simd` of `foretell-simd`),
//! threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it they are off, and
//! everything gives the same results; depend on those crates as well to choose among them.
#![forbid(unsafe_code)]

mod decompose;
mod description;
mod design;
mod error;
mod errors_by_row;
mod fit;
mod holiday;
mod holiday_years;
mod hyper_parameters;
mod intervals;
mod lbfgs;
mod learned;
mod moments;
#[cfg(test)]
mod parity_tests;
mod posterior;
mod prophet;
mod rows;
mod settings;
mod short_history;
mod trend;
mod unlearned;

use foretell_estimator::EstimatorEntry;

pub use decompose::{ComponentValues, ForecastParts};
pub use error::ProphetError;
pub use holiday::Holiday;
pub use prophet::{Prophet, TrainedProphet};
pub use settings::{BuiltIn, Growth, Mode, OwnSeasonality, ProphetSettings, RegressorOptions, Scaling};

/// All estimators of this crate.
pub const ESTIMATORS: &[EstimatorEntry] = &[prophet::ENTRY];

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
