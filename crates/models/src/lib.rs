//! The zoo: one file per model, one registry line each.
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
#![forbid(unsafe_code)]

mod autoformer;
mod basis;
mod categorical_columns;
#[cfg(test)]
mod conformance;
mod context_decoder;
mod decomposed_transformer;
mod deep_npts;
mod deepar;
mod dense_layers;
mod dilated_rnn;
mod dlinear;
mod encoder_decoder;
mod fedformer;
mod gru;
mod hyper;
mod informer;
mod itransformer;
mod lstm;
mod lstm_attention;
mod mixing;
mod mlp;
mod mlp_multivariate;
mod multivariate;
mod nbeats;
mod nbeats_stacks;
mod nbeatsx;
mod nhits;
mod nlinear;
mod normalised;
mod numpy_shuffle;
mod own;
#[cfg(test)]
mod parity;
mod patch_tst;
mod perceptron;
mod recurrent;
mod registry;
mod rnn;
pub mod rules;
mod sampling;
mod series_transformer;
mod softs;
mod softs_sharp;
mod star_aggregate;
mod tcn;
mod tft;
mod tide;
mod timexer;
mod transformers;
mod tsmixer;
mod tsmixerx;
mod vanilla_transformer;

pub use categorical_columns::{CategoricalColumn, CategoricalColumns};
pub use foretell_nn::{Dims, HyperParameterError, Map, Model, Needs, Network, Table, Value};
pub use hyper::HyperParameters;
pub use own::{find, register};
pub use registry::{Architecture, Exogenous, MODELS, ModelEntry};
pub use sampling::HYPER_PARAMETERS as SAMPLING;
/// What [`hyper_parameters!`] writes.
#[doc(hidden)]
pub use {hyper::read, serde_json, serde_json::json};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
