//! Forecasts without training: a small network of our own, and those that others trained, from folders of their weights.
//!
//! # Features
//!
//! The only one, `default`, switches on what the crates below have by default: kernels dispatched at run time (`simd` of
//! `foretell-simd`), threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it
//! they are off, and everything gives the same results; depend on those crates as well to choose among them.
#![forbid(unsafe_code)]

pub mod foretell0;
mod network;
#[allow(dead_code, reason = "its estimator follows")]
mod quantiles;

pub use network::{PretrainedNetwork, SeriesContext};
