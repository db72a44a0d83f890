//! Numeric kernels over slices, dispatched at run time: AVX-512, AVX2, NEON, SIMD128, scalar.
//!
//! For code that does to flat arrays of `f32` or `f64` what time series and small networks ask for:
//! arithmetic, reductions, normalisation, moving windows, elementary functions, activations, losses,
//! softmax and norms over rows and columns, optimiser steps, random numbers, 16-bit formats. Each is one function
//! over slices; the instructions are chosen when it is called, so one binary serves every machine.
//!
//! ```
//! use foretell_simd::{Activation, ema, mean_variance, normalise, rolling_std};
//!
//! // A series on a common scale, and what a model of it may want to know.
//! let series = [3.0f64, 4.0, 6.0, 5.0, 7.0, 8.0, 7.0];
//! let (mean, variance) = mean_variance(&series);
//! let mut unit = [0.0; 7];
//! normalise(&series, mean, variance.sqrt(), &mut unit);
//! let (mut trend, mut spread) = ([0.0; 7], [0.0; 7]);
//! ema(&unit, 0.3, &mut trend);
//! rolling_std(&unit, 3, 1, &mut spread);
//! assert!(spread[1].is_nan() && spread[2] > 0.0); // the first windows are not full
//!
//! // A hidden layer, in place.
//! let mut hidden = [-1.0f32, 0.0, 2.0];
//! Activation::Gelu.apply(&mut hidden);
//! assert!((hidden[2] - 1.9545).abs() < 1e-4);
//! ```
//!
//! # What holds
//!
//! * **Levels.** The best [`Level`] of the machine is taken when the first kernel runs.
//!   `FORETELL_SIMD=scalar|avx2|avx512|amx|neon|simd128` overrides it for a process, [`with_level`] for a closure.
//!   Another word is told on standard error, and the best level taken.
//! * **Accuracy.** Each function's docs state it, and tests hold it at every level, lane count, length
//!   and alignment: elementary functions within 2 ULP over all `f32`,
//!   sums within the bound of pairwise summation, moving windows without cancellation.
//! * **Hard inputs.** NaN, infinities and subnormal numbers are defined for every function; slices may
//!   be empty. Slices of different lengths panic with both lengths, at the caller's line.
//! * **Deterministic.** The same inputs at the same level give the same bits, whatever the alignment;
//!   random numbers are a function of a [`Key`] and an index, the same at every level.
//! * **No allocation**, but for moving windows of 64 elements and more.
//!
//! # Features
//!
//! * `simd` (default): run-time dispatch to the widest vectors of the machine, by pulp. Without it there is the
//!   scalar level only, with the same functions, and pulp is not built.

#[cfg(test)]
extern crate self as foretell_simd;

#[cfg(all(feature = "simd", target_arch = "x86_64"))]
mod amx;
mod bits;
mod kernels;
#[cfg(test)]
mod lengths_tests;
mod level;
mod loops;
mod prefetch;
#[cfg(any(test, not(feature = "simd")))]
#[cfg_attr(feature = "simd", allow(dead_code, unreachable_pub, reason = "its tests compare it with pulp"))]
mod scalar;
/// The example is a test, too.
#[cfg(test)]
#[path = "../examples/series_features.rs"]
mod series_features;
#[cfg(test)]
mod testing;
mod vector;

#[cfg(feature = "simd")]
use pulp as isa;
#[cfg(not(feature = "simd"))]
use scalar as isa;

pub use kernels::activation::{Activation, Saved};
pub use kernels::adam::{AdamStep, adam, adamw};
pub use kernels::cell::{gru_cell, gru_cell_backward, gru_state, lstm_cell, lstm_cell_backward, lstm_state};
pub use kernels::column_norm::{
    ColumnNorm, column_moments, column_norm_backward, column_norm_sums, normalise_columns,
};
pub use kernels::convert::{bf16, f16, from_bf16, from_f16, to_bf16, to_f16};
pub use kernels::elementwise::{
    add, add_assign, axpy, div, div_assign, mul, mul_add, mul_add_assign, mul_assign, scale, sub, sub_assign,
};
pub use kernels::ema::ema;
pub use kernels::erf::erf;
pub use kernels::exp::exp;
pub use kernels::ln::ln;
pub use kernels::losses::PointLoss;
pub use kernels::maximum::{max_assign, max_assign_backward};
pub use kernels::norm::{
    AffineGrad, layer_norm_rows, layer_norm_rows_backward, rms_norm_rows, rms_norm_rows_backward,
};
pub use kernels::normalise::{denormalise, min_max_denormalise, min_max_normalise, normalise};
pub use kernels::radam::radam;
pub use kernels::random::{Key, Stream, dropout, uniform_fill};
pub use kernels::reductions::{dot, l2_norm, max, mean, mean_variance, min, sum, variance};
pub use kernels::rmsprop::{RmsPropStep, rmsprop};
pub use kernels::rolling::{rolling_mean, rolling_std};
pub use kernels::rolling_extremes::{rolling_max, rolling_min};
pub use kernels::scale_finite::scale_finite;
pub use kernels::sgd::{SgdStep, sgd};
pub use kernels::sigmoid::sigmoid;
pub use kernels::softmax::{
    log_softmax_rows, log_softmax_rows_backward, softmax_rows, softmax_rows_backward,
};
pub use kernels::softmax_columns::{
    log_softmax_columns, log_softmax_columns_backward, softmax_columns, softmax_columns_backward,
};
pub use kernels::sqrt::sqrt;
pub use kernels::tanh::{tanh, tanh_in_place};
pub use level::{Level, LevelError, UnknownLevel, at_this_level, level, with_level};
pub use vector::Float;

// Parts of the layers of foretell's models, of use to no one else: outside of what the docs show, and of what stays unchanged
// from one version to the next.
#[doc(hidden)]
pub use kernels::complex_tanh::{complex_tanh_backward, complex_tanh_in_place};
#[doc(hidden)]
pub use kernels::gated::{add_gated_rows, gated_rows_backward};
#[doc(hidden)]
pub use kernels::interleaved::{
    INTERLEAVED, Interleaved, interleaved_products, interleaved_softmax, interleaved_softmax_again,
    interleaved_softmax_backward,
};
#[doc(hidden)]
pub use kernels::online_softmax::{exp_rows_in_place, online_softmax_backward_rows, online_softmax_rows};
#[doc(hidden)]
pub use kernels::sampled_scores::{ScoredHeads, sampled_score_spread};
#[doc(hidden)]
pub use kernels::softmax_columns::softmax_columns_mean_backward;
#[doc(hidden)]
pub use kernels::weighted_rows::add_weighted_rows;
#[doc(hidden)]
pub use prefetch::prefetch;

/// Whether kernels are dispatched to the vector instructions of the machine: the feature `simd`.
pub const SIMD: bool = cfg!(feature = "simd");

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
