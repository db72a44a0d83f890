//! Differentiable operations and the backward pass.
//!
//! A [`Var`] is a tensor and, where a gradient may flow through it, a node of the recorded graph. An
//! operation on variables without nodes records nothing: inference is the same code as training, with
//! parameters that are constants.
//!
//! [`Var::backward`] walks the nodes from the youngest to the oldest. Gradients of parameters are added
//! straight into a flat arena, where the parameter's own offset says; each node frees what it held as
//! soon as its turn has passed.
//!
//! ```
//! use foretell_autograd::Var;
//! use foretell_tensor::Tensor;
//!
//! // y = sum(w * x); the parameter w lives at offset 1 of the arena.
//! let w = Var::parameter(Tensor::from_slice(&[2.0, 3.0], [2]), 1);
//! let x = Var::constant(Tensor::from_slice(&[5.0, 7.0], [2]));
//! let mut gradients = [0.0; 3];
//! (&w * &x).sum(0).backward(&mut gradients);
//! assert_eq!(gradients, [0.0, 5.0, 7.0]);
//! ```
//!
//! # Features
//!
//! The only one, `default`, switches on what the crates below have by default: kernels dispatched at run time (`simd` of `foretell-simd`),
//! threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it they are off, and
//! everything gives the same results; depend on those crates as well to choose among them.
#![forbid(unsafe_code)]

mod graph;
mod operators;
mod ops;
mod step_weight;
#[cfg(test)]
mod tests;
mod var;

pub use foretell_gemm::{Accum, Rounding, WeightFormat, WeightMatrix};
use foretell_kernels::axis::Axis;
pub use foretell_kernels::convolution::PaddingMode;
pub use foretell_kernels::interpolate::{Interpolation, Resampler};
pub use foretell_kernels::pool::{MaxOfSteps, Pooling, pooled_len};
pub use foretell_kernels::recurrent::{Cell, HeldWeights, RecurrentBytes};
pub use foretell_kernels::splines::SplineBasis;
pub use foretell_kernels::wavelets::Wavelet;
pub use foretell_simd::{Activation, Key};
pub use foretell_tensor::{Buffer, Indices, Padding, Shape, Storage, Tensor, trace};
pub use graph::{BackwardPass, Edge};
pub use ops::attention::AttentionOptions;
pub use ops::batch_norm::ChannelStatistics;
pub use ops::convolution::{Conv1d, Conv2d};
pub use ops::held_linear::held_weight;
pub use ops::recurrent::{CellState, CellVars, RecurrentWeights};
pub use ops::sparse_attention::SparseAttention;
pub use step_weight::RoundedWeight;
pub use var::Var;

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
