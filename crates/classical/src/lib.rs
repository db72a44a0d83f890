//! Classical forecasters as estimators: averages, exponential smoothing, Theta, ARIMA, intermittent demand.
//!
//! Each is a [`Method`], most of them a [`LocalMethod`], which sees one series at a time; [`Classical`] makes it an estimator, with a
//! line in [`ESTIMATORS`]. They are estimators like any other: fitted, saved, scored and given intervals as networks are. The numbers
//! that a method learns of each series ([`SeriesNumbers`]) are saved as a binary file. Their names and hyper-parameters are those of statsforecast.
//!
//! One series is forecast in a line:
//!
//! ```
//! use foretell_classical::AutoEts;
//!
//! let monthly: Vec<f64> = (0..60).map(|month| f64::from(month % 12)).collect();
//! assert_eq!(AutoEts::new(12).fit(&monthly)?.forecast(12).len(), 12);
//! # Ok::<(), foretell_classical::ClassicalError>(())
//! ```
//!
//! And many as a panel, by the traits that all of foretell's models have:
//!
//! ```
//! use foretell_classical::{Classical, SeasonalNaive};
//! use foretell_calendar::Freq;
//! use foretell_data::{Panel, Span, Vocabulary};
//! use foretell_estimator::{Asked, Estimator as _, HeldOut, Run, Verdict, Workers};
//!
//! let week = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
//! let panel = Panel::from_series(Freq::parse("D")?, [("a", 0, week.repeat(3))])?;
//! let (workers, vocabulary) = (Workers::new(1)?, Vocabulary::new());
//! let listen = &mut |_: &_| Verdict::Continue;
//! let run = Run::alone(&workers, &vocabulary, listen);
//! // The season of days is a week.
//! let trained = Classical::<SeasonalNaive>::new(9).fit(&panel, HeldOut::default(), run)?;
//! let asked = Asked { span: Span::Predict { future: None }, h: 9, quantiles: None };
//! let forecast = trained.forecast(&panel, &asked, &workers)?;
//! assert_eq!(forecast.values, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 1.0, 2.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! The only one, `default`, switches on what the crates below have by default: kernels dispatched at run time (`simd` of `foretell-simd`),
//! threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it they are off, and
//! everything gives the same results; depend on those crates as well to choose among them.
#![forbid(unsafe_code)]

mod arima;
mod averages;
mod ces;
mod error;
mod ets;
mod hyper;
mod intermittent;
mod local;
mod method;
mod mfles;
mod mstl;
mod naive;
mod numeric;
mod one_series;
mod repeated;
mod seasonal_naive;
#[cfg(test)]
mod tests;
mod theta;

use foretell_estimator::EstimatorEntry;

pub use arima::{Arima, AutoArima};
pub use averages::{HistoricAverage, RandomWalkWithDrift, SeasonalWindowAverage, WindowAverage};
pub use ces::AutoCes;
pub use error::ClassicalError;
pub use ets::{AutoEts, Ets, Holt, HoltWinters};
pub use foretell_estimator::SeriesNumbers;
pub use hyper::HyperParameter;
pub use intermittent::{Adida, CrostonClassic, CrostonOptimized, CrostonSba, Imapa, Tsb};
pub use local::{LocalMethod, SeriesForecast};
pub use method::{Classical, HistoryFacts, Method, TrainedClassical};
pub use mfles::Mfles;
pub use mstl::Mstl;
pub use naive::Naive;
pub use numeric::box_cox::BoxCox;
pub use one_series::FittedSeries;
pub use seasonal_naive::SeasonalNaive;
pub use theta::{AutoTheta, DynamicOptimizedTheta, DynamicTheta, OptimizedTheta, Theta};

/// All estimators of this crate. A static, not a constant: each crate that named a constant would compile all methods again.
pub static ESTIMATORS: &[EstimatorEntry] = &[
    Classical::<Naive>::entry(),
    Classical::<SeasonalNaive>::entry(),
    Classical::<HistoricAverage>::entry(),
    Classical::<WindowAverage>::entry(),
    Classical::<SeasonalWindowAverage>::entry(),
    Classical::<RandomWalkWithDrift>::entry(),
    Classical::<AutoEts>::entry(),
    Classical::<Ets>::entry(),
    Classical::<Holt>::entry(),
    Classical::<HoltWinters>::entry(),
    Classical::<AutoArima>::entry(),
    Classical::<Arima>::entry(),
    Classical::<AutoCes>::entry(),
    Classical::<Mstl>::entry(),
    Classical::<Mfles>::entry(),
    Classical::<AutoTheta>::entry(),
    Classical::<Theta>::entry(),
    Classical::<OptimizedTheta>::entry(),
    Classical::<DynamicTheta>::entry(),
    Classical::<DynamicOptimizedTheta>::entry(),
    Classical::<CrostonClassic>::entry(),
    Classical::<CrostonOptimized>::entry(),
    Classical::<CrostonSba>::entry(),
    Classical::<Adida>::entry(),
    Classical::<Imapa>::entry(),
    Classical::<Tsb>::entry(),
];

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
