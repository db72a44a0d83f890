//! Optimisers and learning-rate schedules over flat slices.
//!
//! A model's parameters are in one arena, its gradients in one arena per shard of the batch. A step is
//! one pass over all of them, block by block: sum the shards' gradients in their order, clip the sum and update the
//! parameters. A block stays in the caches next to the core
//! meanwhile, so memory is read and written once (a bound on the gradient's norm needs a second pass, over the
//! gradients). The order of the sums does not depend on the number of threads.
//!
//! ```
//! use foretell_optim::{Optimizer, Rule};
//!
//! let mut params = [1.0, -1.0];
//! let shards = [[0.5, 0.0], [0.5, 0.0]];
//! let mut adam = Optimizer::new(params.len(), Rule::default(), None);
//! adam.step(&mut params, &[&shards[0], &shards[1]], 0.1);
//! assert!((params[0] - 0.9).abs() < 1e-6 && params[1] == -1.0);
//! ```
//!
//! The constants of rules and schedules begin with PyTorch's, and a method of each field's name sets another:
//!
//! ```
//! use foretell_optim::{AdamConfig, Cosine, Optimizer, Rule, Schedule};
//!
//! let rule = Rule::AdamW(AdamConfig::default().beta2(0.98).weight_decay(0.01));
//! let schedule = Schedule::Cosine(Cosine::new(1e-3, 500).floor(1e-5));
//! let mut params = [1.0];
//! Optimizer::new(params.len(), rule, None).step(&mut params, &[&[0.5]], schedule.at(250));
//! assert!((params[0] - 0.99949).abs() < 1e-6);
//! ```
//!
//! # Features
//!
//! The only one, `default`, switches on what the crates below have by default: kernels dispatched at run time (`simd` of `foretell-simd`),
//! threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it they are off, and
//! everything gives the same results; depend on those crates as well to choose among them.
#![forbid(unsafe_code)]

mod adaptive;
mod bad_constant;
mod check;
mod constants;
mod optimizer;
mod rule;
mod schedule;
mod schedule_check;
mod setters;
#[cfg(test)]
mod torch_tests;

pub use bad_constant::BadConstant;
pub use constants::{AdadeltaConfig, AdagradConfig, AdamConfig, NAdamConfig, RmsPropConfig, SgdConfig};
pub use optimizer::{Clip, Optimizer};
pub use rule::Rule;
pub use schedule::{
    Cosine, CosineWarmup, Milestones, OneCycle, Pace, Plateau, PlateauConfig, Polynomial, Ramp, Schedule,
    StepDecay, WarmRestarts,
};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
