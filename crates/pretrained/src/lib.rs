//! Forecasts without training: a small network of our own, and those that others trained, from folders of their weights.
//!
//! A folder in Hugging Face's layout (`config.json`, `model.safetensors`) is a model: [`load_folder`] gives it ready to forecast,
//! [`of_folder`] as an estimator among others. Each series is forecast from its own history and the columns beside it, with quantiles; a
//! fit does nothing but read the weights. [`PretrainedNetwork`] is what the networks have in common.
//!
//! [`ESTIMATORS`] has `Foretell0`, whose weights are in the program, and which a fit can train on.
//!
//! | network | `config.json` | licence of the weights | reads |
//! |---|---|---|---|
//! | Chronos-Bolt | `architectures` is `ChronosBoltModelForForecasting` | Apache-2.0 | 2,048 values, known or not |
//! | Chronos-2 | `architectures` is `Chronos2Model` | Apache-2.0 | 8,192 values, known or not, columns, and the other series of a group |
//! | Fracast-0 | `model.family` is `fracast` | Apache-2.0 | 2,048 values, known or not |
//! | TiRex | `architectures` is `TiRexZero` | NXAI Community License | 2,048 values, known or not |
//! | TimesFM 2.5 | `architectures` is `TimesFm2_5ModelForPrediction` | Apache-2.0 | 16,384 values, known or filled |
//!
//! * Quantiles other than the network's own lie between two of them, and beyond the outermost as a normal distribution's would.
//! * Series with fewer known values than a network takes are forecast by their last one.
//! * Nothing in a folder is executed, and no pickle is opened. Each tensor is compared with the sizes in `config.json` before anything is
//!   made of it, so what a folder takes of memory is bounded by its files.
//! * A saved model holds the path of its folder and a checksum of what was read there, not the weights.
//!
//! # Features
//!
//! The only one, `default`, switches on what the crates below have by default: kernels dispatched at run time (`simd` of
//! `foretell-simd`), threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it
//! they are off, and everything gives the same results; depend on those crates as well to choose among them.
#![forbid(unsafe_code)]

mod attention;
mod bolt;
mod categories;
mod chronos2;
mod config;
mod error;
mod estimator;
mod folder;
pub mod foretell0;
mod fracast;
mod groups;
mod kinds;
mod linear;
mod network;
mod quantiles;
mod request;
mod rotary;
mod scale;
mod scratch_pool;
mod settings;
mod t5;
#[cfg(test)]
mod tests;
mod timesfm;
mod tirex;
mod weights;

pub use error::PretrainedError;
pub use estimator::{Pretrained, TrainedPretrained};
pub use folder::is_pretrained_folder;
pub use kinds::{ESTIMATORS, FOLDERS, load_folder, numbers_in, of_folder};
pub use network::{PretrainedNetwork, SeriesContext};
pub use settings::PretrainedSettings;

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
