//! The training loop: shards, validation, early stopping, resume, progress; and forecasts by the batch.
//!
//! A batch of windows is cut into shards whose number depends on the batch alone. Each shard is cut from
//! the panel, run forwards and backwards on one thread, into a gradient arena of its own; the arenas are
//! summed in their order by the optimiser. So the number of threads changes no bit of the result.
//!
//! A model is known here only as [`foretell_nn::Model`], data only as [`foretell_data::Cutter`].
#![forbid(unsafe_code)]

mod batch;
mod config;
mod fit;
mod forecast;
mod progress;
mod shards;
mod state;
mod stepwise;
mod stopping;
mod workers;

pub use batch::{Batch, Cut};
pub use config::TrainConfig;
pub use fit::{Fit, Listener, Outcome, TrainError, fit};
pub use forecast::Forecasts;
pub use progress::{Progress, Verdict};
pub use shards::{Engine, NotANumber};
pub use state::{BEST, Keep, PARAMS, State};
pub use stepwise::{forecast, mean_of_outputs};
pub use workers::Workers;
