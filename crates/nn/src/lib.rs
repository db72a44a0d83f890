//! Parameters, initialisers, layers, losses, and the trait that a model implements.
//!
//! All parameters of a model live in one flat arena ([`Params`]); layers hold [`ParamId`]s. A model is
//! built through a [`Scope`], which prefixes names, so that parameters carry the paths of PyTorch's state
//! dictionary (`blocks.0.layers.1.weight`).
//!
//! ```
//! use foretell_nn::{Activation, Forward, Linear, Table, Tensor, Var};
//!
//! let mut table = Table::default();
//! let layer = Linear::new(&mut table.root().at("out"), 3, 2);
//! assert_eq!(table.entries()[0].name, "out.weight");
//!
//! let params = table.initialise(1);
//! let x = Var::constant(Tensor::zeros([4, 3]));
//! let y = layer.forward(&Forward::inference(&params), &x, Activation::Identity);
//! assert_eq!(&*y.shape(), [4, 2]);
//! ```
//!
//! # Features
//!
//! * `amp`: products in bfloat16, half precision and int8, chosen at run time. Without it all are in `f32`: [`check_amp`] returns an
//!   error for any other precision, and a run that computes in one is a panic.
//!
//! Beside these, `default` switches on what the crates below have by default: kernels dispatched at run time (`simd` of `foretell-simd`),
//! threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it they are off, and
//! everything gives the same results; depend on those crates as well to choose among them.
#![forbid(unsafe_code)]

mod amp;
mod arguments;
mod explanation;
mod held_copies;
mod hyper_parameter_error;
mod init;
mod layer_params;
mod layers;
mod loss;
mod model;
mod needs;
mod param_entry;
mod params;
mod revin;
mod rounded_weights;
mod running_state;
mod spline_noise;
mod table;
#[cfg(test)]
mod tests;
mod weight_precision;
mod weights;
mod windows;

pub use amp::{AMP, WithoutAmp, check_amp};
pub use arguments::{Arguments, NumberRange};
pub use explanation::{Explanation, Variable, VariableWeights};
pub use foretell_autograd::{
    Activation, Buffer, Cell, CellVars, Conv1d, Conv2d, Indices, Interpolation, Key, Padding, PaddingMode,
    Pooling, Resampler, Rounding, Shape, Storage, Tensor, Var, Wavelet, pooled_len, trace,
};
pub use hyper_parameter_error::HyperParameterError;
pub use init::{Curve, Init};
pub use layer_params::{Multiplied, MultipliedId, PairSizes};
pub use layers::activation::Nonlinearity;
pub use layers::attention::{AttentionSizes, MultiHeadAttention, ProbSparse};
pub use layers::attentive_lstm::AttentiveLstm;
pub use layers::auto_correlation::{AutoCorrelation, AutoCorrelationSizes};
pub use layers::batch_norm::{BatchNorm, BatchNormConfig};
pub use layers::causal_conv1d::{CausalConv1d, CausalConv1dSizes};
pub use layers::data_embedding::{
    DataEmbedding, DataEmbeddingSizes, InvertedEmbedding, MAX_POSITIONS, positional_encoding,
    sines_and_cosines,
};
pub use layers::distilling::Distilling;
pub use layers::embedding::Embedding;
pub use layers::fourier_attention::{FourierBlock, FourierCrossAttention, FourierSizes};
pub use layers::gated_linear::GatedLinear;
pub use layers::gated_residual::{GatedResidual, GatedResidualSizes, ResidualContext};
pub use layers::headwise_linear::HeadwiseLinear;
pub use layers::interpretable_attention::InterpretableAttention;
pub use layers::layer_norm::LayerNorm;
pub use layers::linear::Linear;
pub use layers::linear_pair::LinearPair;
pub use layers::matrix_lstm::{MatrixLstm, MatrixLstmSizes};
pub use layers::mlp::{Mlp, MlpSizes};
pub use layers::number_embedding::{EmbeddedNumbers, NumberEmbedding};
pub use layers::quantile_layer::QuantileLayer;
pub use layers::recurrent::{Recurrent, RecurrentSizes, RecurrentState};
pub use layers::reprogramming::{Reprogramming, ReprogrammingSizes};
pub use layers::res_lstm::ResLstm;
pub use layers::rev_in::{RevIn, RevInConfig, WindowScales};
pub use layers::scalar_lstm::{GatedFeedForward, ScalarLstm, ScalarLstmSizes};
pub use layers::seasonal_norm::SeasonalNorm;
pub use layers::spline_linear::{SplineLinear, SplineLinearConfig};
pub use layers::static_encoder::{StaticContexts, StaticEncoder, StaticEncoderSizes};
pub use layers::transformer::{
    PointwisePerceptron, TransformerDecoder, TransformerEncoder, TransformerSizes,
};
pub use layers::variable_selection::{SelectedVariables, VariableSelection, VariableSelectionSizes};
pub use loss::{DistributionColumns, ImplicitQuantiles, Loss, LossSums, Targets};
pub use model::{Forward, Model, Network, StepMemory, StepState};
pub use needs::{Coupling, Decoding, Feedback, Needs, SeriesPerWindow};
pub use param_entry::{CounterId, ParamEntry, ParamId, StateId};
pub use params::{ParamError, Params};
pub use revin::register_revin;
pub use rounded_weights::RoundedWeights;
pub use running_state::Update;
/// JSON, in which the arguments of a [`Loss`] are written.
pub use serde_json::{Map, Value};
pub use spline_noise::SplineNoise;
pub use table::{Alias, Scope, Table};
pub use weight_precision::{UnknownWeightPrecision, WeightPrecision};
pub use windows::{Dims, EmbeddedWindows, Inputs, Windows};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
