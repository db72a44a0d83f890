//! Mixed precision over flat slices: a gradient scaler, `f32` master weights, and which operations run in 16 bits.
//!
//! For training with products in `bf16` or `f16`, with any optimiser. A step looks like this:
//!
//! 1. The products of the forward and backward pass run on [`MasterWeights::copies`], as [`Autocast`] says.
//! 2. In `f16` the loss, or its derivative, is multiplied by [`GradScaler::scale`], so that small gradients do not become zero.
//! 3. [`GradScaler::unscale`] divides the gradients again and says whether all are finite; [`GradScaler::update`] says
//!    whether the step is to be taken, and what the next scale is.
//! 4. The optimiser changes the masters within [`MasterWeights::update`], which then makes the copies anew.
//!
//! `bf16` has the range of `f32` and needs no scaler.
//!
//! foretell's own training takes the scaler and [`Precision`] from here, and rounds what it multiplies by
//! `Var::with_rounding` of foretell-autograd; [`Autocast`], [`OperationKind`], [`MasterWeights`] and [`HalfFloat`] are for
//! other training loops.
//!
//! ```
//! use foretell_amp::{GradScaler, GradScalerConfig};
//!
//! let mut scaler = GradScaler::new(GradScalerConfig::default());
//! let mut gradients = [f32::INFINITY, 65536.0];
//! let finite = scaler.unscale(&mut gradients);
//! assert!(!finite && !scaler.update(!finite)); // the step is skipped,
//! assert_eq!((scaler.scale(), scaler.skipped()), (32768.0, 1)); // the scale halved
//! ```
//!
//! # Features
//!
//! The only one, `default`, switches on what the crates below have by default: kernels dispatched at run time (`simd` of `foretell-simd`),
//! threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it they are off, and
//! everything gives the same results; depend on those crates as well to choose among them.
#![forbid(unsafe_code)]

mod autocast;
mod grad_scaler;
mod master_weights;
#[cfg(test)]
mod torch_tests;

pub use autocast::{Autocast, OperationKind, Precision, UnknownPrecision};
pub use foretell_simd::{bf16, f16};
pub use grad_scaler::{GradScaler, GradScalerConfig, InvalidGradScaler};
pub use master_weights::{HalfFloat, MasterWeights};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
