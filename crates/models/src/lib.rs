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
//! The only one, `default`, switches on what the crates below have by default: kernels dispatched at run time (`simd` of `foretell-simd`),
//! threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it they are off, and
//! everything gives the same results; depend on those crates as well to choose among them.
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
#[cfg(test)]
mod parity;
mod recurrent;
mod registered;
mod registry;
pub mod rules;
mod transformer;

pub use architecture::{Architecture, Exogenous, ModelEntry};
pub use categorical_columns::{CategoricalColumn, CategoricalColumns};
pub use foretell_nn::{Dims, HyperParameterError, Map, Model, Needs, Network, Table, Value};
pub use hyper::HyperParameters;
pub use implicit_quantiles::with_implicit_quantiles;
pub use recurrent::shared::sampling::HYPER_PARAMETERS as SAMPLING;
pub use registered::{find, register};
pub use registry::MODELS;
/// Names that the expansion of [`hyper_parameters!`] uses.
#[doc(hidden)]
pub use {hyper::read, serde_json, serde_json::json};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
