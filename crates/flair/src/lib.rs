//! FLAIR: forecasts at once from the shape of a season and a ridge regression of its level, nothing trained.
//!
//! Honda, Don't Learn the Shape: Forecasting Periodic Time Series by Rank-1 Decomposition (arXiv 2605.07222, 2026). [`Flair`] is an
//! estimator like any other: saved, scored and ensembled as networks are, though a fit does nothing. Each forecast is computed from
//! its history, in closed form:
//!
//! 1. **Season.** The history is laid out as a table whose rows are cycles, for each candidate of the calendar
//!    ([`calendar_seasons`](foretell_calendar::calendar_seasons)) or of `season_length`. A table is a product of one shape and a level for
//!    each cycle, plus errors: the more its first singular value explains, the better. The Bayesian information criterion chooses among the candidates
//!    and none.
//! 2. **Shape.** What each step of the season has of its sum: the mean of the last two cycles.
//! 3. **Level.** The sums of cycles, less what is noise of their singular value, less a longer season (weeks of days), and
//!    transformed (Box and Cox). A ridge regression explains each by a trend that fades, the level before, and the one a longer
//!    season ago; columns known ahead (`futr_exog_list`) enter by their means over a cycle. Penalties are averaged by the errors of rows left
//!    out, which are exact without a fit for each row; they draw the level towards the one before.
//! 4. **Paths.** Of each path the level continues with those errors drawn anew, widened by the leverage of what is ahead, and the
//!    shape has the errors of one cycle of the history. The point forecast is the median of `n_samples` paths, quantiles are theirs.
//!    No path leaves the range of the recent history by more than that range, or goes below the least value that there was; counts
//!    stay whole.
//!
//! Series of any length, unit and sign are forecast: without enough cycles there is no season, and fewer than three rows are forecast by the
//! last. Unknown values lie on the line between their neighbours. The draws of a forecast follow from the seed, the id of its series, the
//! time of its end, and the step; no bit depends on the number of threads. A series that is multiplied by a power of two is forecast by the same
//! numbers multiplied.
//!
//! ```
//! use foretell_calendar::Freq;
//! use foretell_data::{Panel, Span, Vocabulary};
//! use foretell_estimator::{Asked, Estimator as _, HeldOut, Run, Verdict, Workers};
//! use foretell_flair::{Flair, FlairSettings};
//!
//! // Months of a season that grows.
//! let value = |month: usize| (200.0 + month as f32) * [0.8, 0.9, 1.0, 1.3][month % 12 / 3];
//! let y: Vec<f32> = (0..120).map(value).collect();
//! let panel = Panel::from_series(Freq::parse("MS")?, [("shop", 0, y)])?;
//! let (workers, vocabulary) = (Workers::new(1)?, Vocabulary::new());
//! let listen = &mut |_: &_| Verdict::Continue;
//! let settings = FlairSettings { h: 12, ..FlairSettings::default() };
//! let trained = Flair::new(settings).fit(&panel, HeldOut::default(), Run::alone(&workers, &vocabulary, listen))?;
//! let asked = Asked { span: Span::Predict { future: None }, h: 12, quantiles: Some(&[0.1, 0.9]) };
//! let forecast = trained.forecast(&panel, &asked, &workers)?;
//! for (step, row) in forecast.values.chunks(3).enumerate() {
//!     let expected = value(120 + step);
//!     assert!((row[0] / expected - 1.0).abs() < 0.03 && row[1] <= row[0] && row[0] <= row[2], "{row:?}, not {expected}");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What differs from the package `flaircast`
//!
//! * The package adds 1 to all values, so that its forecasts depend on their unit. Here counts are in units of 1 (of the power of two that
//!   divides all of them), and other values in thousandths of their mean magnitude, where 1 is next to nothing.
//! * Paths are spread evenly over the errors, so that 400 give the quantiles of some thousand independent ones.
//! * A frequency of several steps (`2h`) has the seasons of its steps, and quarter-hours to seconds two seasons each.
//! * Of two rows the change between them tells how far a forecast may be off.
//!
//! # Features
//!
//! The only one, `default`, switches on what the crates below have by default: kernels dispatched at run time (`simd` of
//! `foretell-simd`), threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it
//! they are off, and everything gives the same results; depend on those crates as well to choose among them.
#![forbid(unsafe_code)]

mod box_cox;
mod draws;
mod flair;
#[cfg(test)]
mod flaircast_tests;
mod history;
mod level;
mod ridge;
mod season;
mod series;
mod settings;
mod shape;
mod spectrum;

use foretell_estimator::EstimatorEntry;

pub use flair::{Flair, TrainedFlair};
pub use settings::FlairSettings;

/// All estimators of this crate.
pub const ESTIMATORS: &[EstimatorEntry] = &[flair::ENTRY];

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
