//! Windows cut from a panel, as tensors with their targets and weights: the inputs of models in training and forecasts.
//!
//! [`foretell_data`] counts and cuts windows as plain slices, [`foretell_nn`] defines a model's inputs; here the first become
//! the second.
//!
//! # Features
//!
//! The only one, `default`, switches on what the crates below have by default: kernels dispatched at run time (`simd` of `foretell-simd`),
//! threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it they are off, and
//! everything gives the same results; depend on those crates as well to choose among them.
#![forbid(unsafe_code)]

mod batch;
mod shift_target;

pub use batch::{Batch, Cut, Preparation};
pub use foretell_data::{Cutter, WindowRef};
pub use foretell_nn::{Dims, Loss, Targets, Tensor, Windows};
pub use shift_target::shift_target;

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
