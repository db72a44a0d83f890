//! The zoo by family: one file per model, one registry line each.
//!
//! [`MODELS`] lists them. A [`ModelEntry`] knows a model's hyper-parameters with their defaults and builds the
//! model from them; names and defaults are neuralforecast's.
//!
//! ```
//! use foretell_models::{CategoricalColumns, find};
//! use foretell_nn::{Dims, Table};
//!
//! let entry = find("NHITS").unwrap();
//! assert_eq!(entry.own_defaults()["n_pool_kernel_size"], serde_json::json!([2, 2, 1]));
//!
//! let dims = Dims::new(24, 12);
//! let mut table = Table::default();
//! entry.build(&entry.own_defaults(), &dims, &CategoricalColumns::default(), &mut table).unwrap();
//! assert_eq!(table.entries()[0].name, "blocks.0.layers.0.weight");
//! ```
//!
//! # Features
//!
//! Each is on by default and passed down to the crates below.
//!
//! * `flash`: attention in tiles, without the matrix of scores in memory. Without it the whole matrix of a head's scores is
//!   computed at once.
//! * `simd`: kernels dispatched at run time to the widest vectors of the machine. Without it they are scalar
//!   code.
//! * `faer`: matrix products that have no kernel of foretell's own by faer's. Without it these are plain loops.
//! * `parallel`: work on several threads. Without it everything runs on the calling thread, with the same bits.
//! * `pool`: buffers are kept for the next owner. Without it each is allocated and freed.
//! * `amp`: products in bfloat16, half precision and int8, chosen at run time. Without it all are in `f32`, and any other
//!   precision is a panic.
//! * `pickle`: passed down to the reader of safetensors; nothing here depends on it.
//! * `timellm`, off by default: TimeLLM, whose language model needs a reader of tokenizers. Without it the model is an error.
#![forbid(unsafe_code)]

mod architecture;
mod categorical_columns;
#[cfg(test)]
mod conformance;
mod convolution;
mod hyper;
mod implicit_quantiles;
mod linear;
mod mixer;
mod normalised;
mod own;
#[cfg(test)]
mod parity;
mod recurrent;
mod registry;
pub mod rules;
mod transformer;

pub use architecture::{Architecture, Exogenous, ModelEntry};
pub use categorical_columns::{CategoricalColumn, CategoricalColumns};
pub use foretell_nn::{Dims, HyperParameterError, Map, Model, Needs, Network, Table, Value};
pub use hyper::HyperParameters;
pub use implicit_quantiles::with_implicit_quantiles;
pub use own::{find, register};
pub use recurrent::shared::sampling::HYPER_PARAMETERS as SAMPLING;
pub use registry::MODELS;
/// Names that the expansion of [`hyper_parameters!`] uses.
#[doc(hidden)]
pub use {hyper::read, serde_json, serde_json::json};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
