//! Optimisers and learning-rate schedules over flat slices.
//!
//! A model's parameters lie in one arena, its gradients in one arena per shard of the batch. A step is
//! one pass over all of them, block by block: sum the shards' gradients in their order and update the
//! parameters. A block stays in the caches next to the core
//! meanwhile, so memory is read and written once. The order of the sums does not depend on the number of threads.
//!
//! ```
//! use foretell_optim::{Adam, AdamConfig};
//!
//! let mut params = [1.0, -1.0];
//! let shards = [[0.5, 0.0], [0.5, 0.0]];
//! let mut adam = Adam::new(params.len(), AdamConfig::default());
//! adam.step(&mut params, &[&shards[0], &shards[1]], 0.1, 1);
//! assert!((params[0] - 0.9).abs() < 1e-6 && params[1] == -1.0);
//! ```
#![forbid(unsafe_code)]

mod adam;
mod schedule;

pub use adam::{Adam, AdamConfig};
pub use schedule::StepDecay;
