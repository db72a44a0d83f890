//! The training loop: shards, validation, early stopping, resume, progress.
//!
//! A batch of windows is cut into shards whose number depends on the batch alone. Each shard is cut from
//! the panel, run forwards and backwards on one thread, into a gradient arena of its own; the arenas are
//! summed in their order by the optimiser. So the number of threads changes no bit of the result.
//!
//! A model is known here only as [`foretell_nn::Model`], data only as [`foretell_data::Cutter`].
//!
//! # Features
//!
//! The only one, `default`, switches on what the crates below have by default: kernels dispatched at run time (`simd` of `foretell-simd`),
//! threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it they are off, and
//! everything gives the same results; depend on those crates as well to choose among them.
#![forbid(unsafe_code)]

mod config;
mod fit;
mod kept_optimizer;
mod pruning;
#[cfg(test)]
mod several_processes_tests;
mod shard;
mod shards;
mod state;
mod state_file;
mod stopping;

pub use config::TrainConfig;
pub use fit::{Fit, TrainError, check_coupling, fit};
pub use foretell_amp::{GradScaler, Precision};
pub use foretell_batch::{Batch, Cut, Preparation};
pub use foretell_data::{Cutter, WindowRef};
pub use foretell_estimator::{Listener, OneProcess, Outcome, Progress, Reduction, Verdict, add_in_order};
pub use foretell_nn::{
    Decoding, Dims, Key, Loss, Model, Needs, Network, Params, Table, Targets, Tensor, Windows,
};
pub use foretell_optim::{Clip, Optimizer, Pace, Rule, Schedule};
pub use foretell_threads::{TooManyThreads, Workers};
pub use kept_optimizer::KeptOptimizer;
pub use pruning::Pruning;
pub use shard::{shard_count, windows_at_a_time};
pub use shards::{Engine, NotFinite, rounding_of};
pub use state::{BEST, PARAMS, State, StateWriter, Statistics};
pub use state_file::{KeptFitError, StateError, StateSummary, fit_kept};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
