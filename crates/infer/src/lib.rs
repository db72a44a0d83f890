//! Forecasts of trained networks: windows are cut from a panel, run block by block, and brought back to the data's scale.
//!
//! Neither the trainer nor the optimiser is needed for it. The threads come from outside ([`Workers`]): a program
//! that serves many models shares one pool among them, and no thread starts before the first forecast.
//!
//! # Features
//!
//! The only one, `default`, switches on what the crates below have by default: kernels dispatched at run time (`simd` of `foretell-simd`),
//! threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it they are off, and
//! everything gives the same results; depend on those crates as well to choose among them.
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

pub use attribution::graph_numbers;
pub use decompose::ForecastPartsOfNetwork;
pub use explain::ExplanationSum;
pub use forecast::{
    BatchSizes, Forecasts, MAX_BLOCK, block_windows, key as forecast_key, share_forecast, window_numbers,
    window_work,
};
pub use foretell_batch::{Batch, Cut};
pub use foretell_data::{Cutter, WindowRef};
pub use foretell_estimator::{Attribution, Contributions};
pub use foretell_nn::{Dims, Loss, Network, Params, Targets, Tensor, Windows};
pub use foretell_threads::{TooManyThreads, Workers};
pub use step_forecaster::{NoNumber, StepForecaster, StepParts};
pub use stepwise::{forecast, mean_of_outputs};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
