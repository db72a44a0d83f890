//! Model directories in neuralforecast's format, read and written.
//!
//! The format is that of neuralforecast 3.3 (`nf_format` 2). What `NeuralForecast.save` writes is
//! read completely; what [`Checkpoint::save`] writes is loaded by `NeuralForecast.load`. This crate
//! knows names, shapes and types, and nothing of what models do with them.
//!
//! # The directory
//!
//! | file | content |
//! |---|---|
//! | `{alias}_{k}.safetensors` | one model ([`ModelFile`]); `k` counts models of equal alias from 0 |
//! | `configuration.json` | `{"nf_format": "2", "configuration": {...}}` ([`Configuration`]) |
//! | `configuration.safetensors` | the arrays that the configuration points at; absent if there are none |
//! | `dataset.json`, `dataset.safetensors` | the training panel ([`Dataset`]); optional |
//!
//! Values that JSON cannot hold are objects with a tag: `{"__nf__": "tensor", "key":
//! "__hparams__.ds", "kind": "numpy", "dtype": "int64"}` points at a tensor of the neighbouring
//! safetensors file, whose name is `__hparams__.` and the value's path.
//!
//! foretell adds a checksum (`foretell_crc32`) to the metadata of each safetensors file and beside `nf_format` in each JSON file,
//! which neuralforecast passes over. Where a file has one it is compared with the content.
//!
//! # What a model file must hold
//!
//! `NeuralForecast.load` builds the class with the hyper-parameters and then demands the state dict
//! exactly. So a file needs:
//!
//! - **Metadata** `nf_format` "2", `model_class`, `hyper_parameters` and `shared` (the last two JSON
//!   in text). [`ModelFile`] writes them.
//! - **Hyper-parameters** `h`, `input_size`, `loss`, `valid_loss` and each other constructor argument
//!   that differs from the class's default, under the constructor's names: numbers, texts, booleans
//!   and null unchanged, tuples as lists; `optimizer` and `lr_scheduler` null or
//!   [`optimizer_class`] / [`lr_scheduler_class`]; losses through [`ModelFile::set_losses`]. Unknown
//!   names are dropped there with a warning. (Python stores the base class's view of an argument that
//!   a class does not name itself: a saved DeepAR has `inference_input_size` one above `input_size`.)
//! - **Tensors**: every entry of the PyTorch state dict, trainable or not (batch normalisation's
//!   `num_batches_tracked` as a scalar I64, stored positional encodings, tensors of size zero), F32
//!   unless said otherwise. Two names of one PyTorch tensor are stored once and the second name is
//!   listed in `shared`.
//! - **Of the losses**, by [`ModelFile::set_losses`]: nothing for MAE, MSE, RMSE, MAPE, SMAPE, MASE,
//!   HuberLoss, TukeyLoss, QuantileLoss, HuberQLoss without `horizon_weight`; with it the array
//!   `__hparams__.{slot}.args.horizon_weight` (`slot` is `loss` or `valid_loss`), and no state dict
//!   entry. For MQLoss, HuberMQLoss and the distribution losses `__hparams__.{slot}.state.quantiles`
//!   and the state dict's `{slot}.quantiles`, both F32 `[quantiles]`. When `valid_loss` is null,
//!   Python validates with the training loss, so `valid_loss.quantiles` is the same tensor: `shared`
//!   is `{"loss.quantiles": ["valid_loss.quantiles"]}`. The layers of IQLoss and HuberIQLoss
//!   are among the model's tensors under `loss.`; to them comes `quantile_layer.integers`, which numbers the cosines.
//!
//! # What the configuration must hold
//!
//! `h`, `freq` and `fitted`; the names of the columns if they are not the usual; with local scalers
//! their type and, for `predict` on the stored dataset, their statistics. With a [`Dataset`] also
//! `uids` and `last_dates` (one per series) and `ds` (one per row): naive time stamps through
//! [`Column::microseconds`], integer times as [`Column::Integers`] with an integer frequency.
//!
//! ```
//! use foretell_checkpoint::{Checkpoint, Configuration, Frequency, LossSpec, ModelFile, TensorData};
//!
//! let mut model = ModelFile::new("NLinear", "NLinear");
//! model.hyper_parameters.insert("h".into(), 1.into());
//! model.hyper_parameters.insert("input_size".into(), 2.into());
//! model.set_losses(&LossSpec::point("MAE"), None);
//! model.tensors.insert("linear.weight".into(), TensorData::f32([1, 2], vec![0.5, 0.5]));
//! model.tensors.insert("linear.bias".into(), TensorData::f32([1], vec![0.0]));
//! let checkpoint = Checkpoint {
//!     configuration: Configuration::new(1, Frequency::Alias("D".into())),
//!     models: vec![model],
//!     plain_models: Vec::new(),
//!     dataset: None,
//! };
//! # let home = tempfile::tempdir().unwrap();
//! # let dir = home.path().join("model");
//! checkpoint.save(&dir, false)?;
//! assert_eq!(Checkpoint::load(&dir)?.models, checkpoint.models);
//! # Ok::<(), foretell_checkpoint::CheckpointError>(())
//! ```
//!
//! # Features
//!
//! * `pickle` (default): `read_pickle`, which reads PyTorch's files and Python's pickles without running anything.
#![forbid(unsafe_code)]

mod checkpoint;
mod checksum;
mod column;
mod configuration;
mod dataset;
mod directory;
mod error;
mod file;
mod loss;
mod model;
mod names;
mod open_tensors;
mod optimizer_state;
mod optimizers;
mod packed;
mod pickle;
mod plain_model;
mod tagged;
mod tensor;
#[cfg(test)]
mod tests;

pub use checkpoint::Checkpoint;
pub use column::{Column, TimeUnit};
pub use configuration::{Configuration, ConformalSettings, FittedScaler, Frequency};
pub use dataset::Dataset;
pub use directory::ModelDirectory;
pub use error::{CheckpointError, NameMismatch, Result};
pub use file::TensorFile;
pub use loss::LossSpec;
pub use model::ModelFile;
pub use names::check_names;
pub use open_tensors::OpenTensors;
pub use optimizer_state::OptimizerState;
pub use pickle::{PickleValue, PickledObject, parse_pickle, read_pickle};
pub use plain_model::PlainModel;
/// The type of hyper-parameters and settings: JSON.
pub use serde_json::{Map, Value};
pub use tagged::{lr_scheduler_class, optimizer_class, torch_class_name};
pub use tensor::{TensorData, TensorValues};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
