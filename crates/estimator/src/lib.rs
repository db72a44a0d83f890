//! The seam that every forecaster implements: two traits, from a panel to a trained forecaster, and from that to columns.
//!
//! An [`Estimator`] is a model before training: a neural network, an exponential smoothing, a rule. [`Estimator::fit`] makes
//! it a [`Trained`] one, which forecasts the windows of a panel: numbers in columns ([`Output`]). Whoever works with
//! forecasters (cross-validation, intervals, ensembles, directories) speaks these traits, and never asks what is behind them;
//! what only one kind has is reached by a downcast, as both traits are [`Any`](std::any::Any).
//!
//! # Features
//!
//! Each is on by default, unless it says otherwise, and passed down to the crates below.
//!
//! * `simd`: kernels dispatched at run time to the widest vectors of the machine. Without it they are scalar
//!   code.
//! * `parallel`: work on several threads. Without it everything runs on the calling thread, with the same bits.
//! * `pool`: buffers are kept for the next owner. Without it each is allocated and freed.
//! * `parquet`, off by default: Parquet files, Arrow record batches and text in zstd. It takes long to build and compiles
//!   zstd, which is C.
//! * `tzdb`: the database of time zones is built in. Without it zones are looked up in the system's, if it has
//!   one; UTC and offsets such as `+02:00` need none.
#![forbid(unsafe_code)]

mod columns;
mod error;
mod estimator;
mod forecasts;
mod levels_seen;
mod memory;
mod memory_limit;
mod outputs;
mod progress;
mod reduction;
mod run;
mod series_numbers;

pub use columns::{ColumnKind, ColumnsRead};
pub use error::EstimatorError;
pub use estimator::{Estimator, EstimatorEntry, Restore, Trained};
pub use forecasts::{Asked, Cutoff, ForecastValues, Learned, cutoffs};
pub use foretell_data::Peers;
pub use foretell_threads::{StillWanted, TooManyThreads, Workers, is_wanted, while_wanted};
pub use levels_seen::LevelsSeen;
pub use memory::{MemoryEstimate, TooMuchMemory};
pub use memory_limit::MemoryLimit;
pub use outputs::{Output, point_column, sort_quantiles};
pub use progress::{Listener, Outcome, Progress, Verdict};
pub use reduction::{OneProcess, Reduction, add_in_order};
pub use run::{Difference, HeldOut, Run, Start, StateFile, TrainingSize, differences};
pub use series_numbers::SeriesNumbers;

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
