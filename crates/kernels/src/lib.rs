//! Fused forward and backward pairs over slices: recurrent sequences, pooling, interpolation, moving
//! averages, convolutions, attention, Fourier transforms, running totals, the largest values and where they are.
//!
//! Kernels work on plain slices; tensors and the bookkeeping of gradients are the callers'. Kernels over rows take
//! contiguous rows, and their backward kernels *add* to the gradient they are given; kernels over sequences take them
//! time-major, and say what they do with a gradient's old values.
//!
//! ```
//! use foretell_kernels::pool::{Pooling, pooled_len};
//!
//! let x = [1.0, 5.0, 2.0, 3.0, 4.0];
//! let mut y = [0.0; 3];
//! Pooling::Max.forward(&x, x.len(), 2, &mut y);
//! assert_eq!(pooled_len(5, 2), 3);
//! assert_eq!(y, [5.0, 3.0, 4.0]);
//! ```
//!
//! # Features
//!
//! * `simd` (default): Fourier transforms by AVX or NEON.
//!
//! Beside these, `default` switches on what the crates below have by default: kernels dispatched at run time (`simd` of `foretell-simd`),
//! threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it they are off, and
//! everything gives the same results; depend on those crates as well to choose among them.
#![forbid(unsafe_code)]

pub mod additive_attention;
pub mod auto_correlation;
pub mod axis;
pub mod causal_convolution;
pub mod column_sums;
pub mod convolution;
pub mod cumulative_sum;
pub mod decomposition;
mod depthwise;
pub mod fourier;
pub mod gather;
pub mod interpolate;
pub mod matrix_memory;
pub mod mode_products;
pub mod moving_average;
pub mod pool;
pub mod recurrent;
pub mod scalar_memory;
pub mod select;
pub mod sparse_queries;
pub mod splines;
pub mod stochastic_pool;
#[cfg(test)]
mod testing;
pub mod wavelets;

pub use foretell_gemm::Accum;

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
