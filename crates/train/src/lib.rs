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
//!   precision is an error.
//! * `parquet`, off by default: Parquet files, Arrow record batches and text in zstd. It takes long to build and compiles
//!   zstd, which is C.
//! * `tzdb`: the database of time zones is built in. Without it zones are looked up in the system's, if it has
//!   one; UTC and offsets such as `+02:00` need none.
#![forbid(unsafe_code)]

mod config;
mod fit;
mod kept_optimizer;
mod shard;
mod shards;
mod state;
mod stopping;

pub use config::TrainConfig;
pub use fit::{Fit, TrainError, check_coupling, fit};
pub use foretell_amp::{GradScaler, Precision};
pub use foretell_batch::{Batch, Cut};
pub use foretell_data::{Cutter, WindowRef};
pub use foretell_estimator::{Listener, OneProcess, Outcome, Progress, Reduction, Verdict, add_in_order};
pub use foretell_nn::{
    Decoding, Dims, Key, Loss, Model, Needs, Network, Params, Table, Targets, Tensor, Windows,
};
pub use foretell_optim::{Clip, Optimizer, Pace, Rule, Schedule};
#[cfg(feature = "parallel")]
pub use foretell_threads::ThreadPool;
pub use foretell_threads::{TooManyThreads, Workers};
pub use kept_optimizer::KeptOptimizer;
pub use shard::shard_count;
pub use shards::{BatchPart, Engine, NotFinite, rounding_of};
pub use state::{BEST, PARAMS, State, StateWriter, Statistics};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
