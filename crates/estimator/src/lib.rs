//! The seam that every forecaster implements: two traits, from a panel to a trained forecaster, and from that to columns.
//!
//! An [`Estimator`] is a model before training: a neural network, an exponential smoothing, a rule. [`Estimator::fit`] makes
//! it a [`Trained`] one, which forecasts the windows of a panel: numbers in columns ([`Output`]). What works with
//! forecasters (cross-validation, intervals, ensembles, directories) speaks these traits, and never asks what is behind them:
//! what a forecaster needs stands in [`EstimatorNeeds`], and what only some can, such as taking a forecast apart, is a method that
//! answers no by default.
//!
//! # Features
//!
//! The only one, `default`, switches on what the crates below have by default: kernels dispatched at run time (`simd` of `foretell-simd`),
//! threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it they are off, and
//! everything gives the same results; depend on those crates as well to choose among them.
#![forbid(unsafe_code)]

mod clock_grid;
mod columns;
mod contributions;
mod described;
mod each_window;
mod error;
mod estimator;
mod fallback;
mod forecasts;
mod hardly_known;
pub mod hyper;
mod importances;
mod interpolate;
mod known_columns;
mod levels_seen;
mod made_up;
mod memory;
mod memory_limit;
mod moment;
pub mod nan_as_null;
mod needs;
mod numbers;
mod outputs;
mod progress;
mod reduction;
mod run;
mod series_numbers;
mod sparsity;
mod step_settings;

pub use clock_grid::ClockGrid;
pub use columns::{ColumnKind, ColumnsRead};
pub use contributions::{Attribution, Contributions};
pub use described::{Described, ForecastPart, NamedNumbers};
pub use each_window::each_window;
pub use error::{EstimatorError, WithoutParts};
pub use estimator::{Estimator, EstimatorEntry, Restore, Trained};
pub use fallback::Fallback;
pub use forecasts::{Asked, Cutoff, ForecastValues, Learned, cutoffs, cutoffs_beside};
pub use foretell_amp::{Precision, UnknownPrecision};
pub use foretell_data::Peers;
pub use foretell_threads::{StillWanted, TooManyThreads, Workers, is_wanted, question, while_wanted};
pub use hardly_known::is_hardly_known;
pub use importances::{FeatureImportances, ImportanceSum, StepWeights};
pub use interpolate::interpolate;
pub use known_columns::KnownColumn;
pub use levels_seen::LevelsSeen;
pub use made_up::{made_up_future, made_up_panel};
pub use memory::{MemoryEstimate, TooMuchMemory};
pub use memory_limit::MemoryLimit;
pub use moment::Moment;
pub use needs::EstimatorNeeds;
pub use numbers::{dot, mean, median, quantile, upper_median, variance};
pub use outputs::{Output, point_column, sort_quantiles};
pub use progress::{Listener, Outcome, Progress, Verdict};
pub use reduction::{OneProcess, Reduction, add_in_order};
pub use run::{Difference, HeldOut, Run, Start, StateFile, TrainingSize, differences};
pub use series_numbers::SeriesNumbers;
pub use sparsity::{Sparsity, SparsityScope, UnknownScope};
pub use step_settings::StepSettings;

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
