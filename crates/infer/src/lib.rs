//! Forecasts of trained networks: windows are cut from a panel, run block by block, and brought back to the data's scale.
//!
//! Neither the trainer nor the optimiser is needed for it. The threads come from outside ([`Workers`]): a program
//! that serves many models shares one pool among them, and no thread starts before the first forecast.
//!
//! # Features
//!
//! Each is on by default, unless it says otherwise, and passed down to the crates below.
//!
//! * `flash`: attention in tiles, without the matrix of scores in memory. Without it the whole matrix of a head's scores is
//!   computed at once.
//! * `simd`: kernels dispatched at run time to the widest vectors of the machine. Without it they are scalar
//!   code.
//! * `faer`: matrix products that have no kernel of foretell's own by faer's. Without it these are plain loops.
//! * `parallel`: work on several threads. Without it everything runs on the calling thread, with the same bits.
//! * `pool`: buffers are kept for the next owner. Without it each is allocated and freed.
//! * `amp`: products in bfloat16, half precision and int8, chosen at run time. Without it all are in `f32`, and any other
//!   precision is a panic.
//! * `parquet`, off by default: Parquet files, Arrow record batches and text in zstd. It takes long to build and compiles
//!   zstd, which is C.
//! * `tzdb`: the database of time zones is built in. Without it zones are looked up in the system's, if it has
//!   one; UTC and offsets such as `+02:00` need none.
#![forbid(unsafe_code)]

mod ancestral;
mod attribution;
mod attribution_inputs;
mod decompose;
mod dropout;
mod explain;
mod forecast;
mod quadrature;
mod step_forecaster;
mod stepwise;

pub use attribution::{Attribution, Contributions};
pub use decompose::ForecastPartsOfNetwork;
pub use explain::ExplanationSum;
pub use forecast::{BatchSizes, Forecasts, MAX_BLOCK, block_windows, share_forecast, window_numbers};
pub use foretell_batch::{Batch, Cut};
pub use foretell_data::{Cutter, WindowRef};
pub use foretell_nn::{Dims, Loss, Network, Params, Targets, Tensor, Windows};
#[cfg(feature = "parallel")]
pub use foretell_threads::ThreadPool;
pub use foretell_threads::{TooManyThreads, Workers};
pub use step_forecaster::{NoNumber, StepForecaster, StepParts};
pub use stepwise::{forecast, mean_of_outputs};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
