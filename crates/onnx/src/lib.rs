//! Trained networks as ONNX graphs.
//!
//! A forecast is run twice, for two numbers of windows, while each operation is recorded ([`foretell_nn::trace`]). What differs between
//! the two runs says which sizes are those of the batch: so a graph forecasts any number of windows. Each recorded operation is
//! written as ONNX operations by one table; window scaling and the columns of the loss stand around them. A new model needs
//! nothing here, a new operation a line in the table.
//!
//! The graphs are of opset 17, and a file holds one whole: weights, names and what a caller must know of them
//! ([`OnnxExport::graph`]).
#![forbid(unsafe_code)]

mod emitter;
mod error;
mod export;
mod extent;
mod graph;
#[cfg(test)]
mod graph_tests;
mod loss;
mod operations;
mod plan;
mod proto;
mod scaling;

pub use error::OnnxError;
pub use export::{OnnxExport, ScaledColumns};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
