//! Neural networks as estimators: specification, training and resuming, forecasts, weights in fewer bits, benches.
//!
//! A [`NetworkSpec`] is a model of the zoo with its hyper-parameters, and an
//! [`Estimator`](foretell_estimator::Estimator). What comes of its training is a [`TrainedNetwork`], which has what only
//! networks have: parameters, the weights behind its forecasts, products in fewer bits. [`model_file`] and [`read_model`]
//! make neuralforecast's files of it and back, [`bench()`] measures a network on synthetic windows.
//!
//! # Features
//!
//! Each is on by default, unless it says otherwise, and passed down to the crates below.
//!
//! * `flash`: attention in tiles, without the matrix of scores in memory. Without it the whole matrix of a head's scores is
//!   computed at once.
//! * `simd`: kernels dispatched at run time to the widest vectors of the machine. Without it they are scalar
//!   code.
//! * `faer`: matrix products that have no kernel of foretell's own by faer's. Without it these are plain loops.
//! * `parallel`: work on several threads. Without it everything runs on the calling thread, with the same bits.
//! * `pool`: buffers are kept for the next owner. Without it each is allocated and freed.
//! * `amp`: products in bfloat16, half precision and int8, chosen at run time. Without it all are in `f32`, and any other
//!   precision is an error.
//! * `pickle`: [`import_model`], which reads files of PyTorch's.
//! * `timellm`, off by default: TimeLLM, whose language model needs a reader of tokenizers. Without it the model is an error.
#![forbid(unsafe_code)]

mod acceleration;
mod attributions;
mod bench;
mod common_hyper_parameters;
mod dropout_samples;
mod error;
mod estimator;
mod forecast_curve;
mod import;
mod importances;
mod kept_numbers;
mod kept_optimizer;
mod memory;
mod model_file;
mod multivariate;
mod narrowed;
mod onnx;
mod optimizer_settings;
mod product_rate;
mod spec;
mod spec_error;
mod start;
mod synthetic;
mod thread_curve;
mod torch_classes;
mod train_config;
mod trained_network;
mod training;
mod unit_importance;
mod unknown_name;
mod windows;

/// The types that a network of your own needs: an [`Architecture`](own_model::Architecture) states its hyper-parameters and
/// builds a [`Model`](own_model::Model), the forward pass; [`NetworkSpec::of`] then makes it a network like the zoo's.
pub mod own_model {
    pub use foretell_models::{Architecture, Exogenous, HyperParameters, hyper_parameters, register, rules};
    // A model and its requirements.
    pub use foretell_nn::{
        Coupling, Decoding, Dims, Explanation, Feedback, Forward, HyperParameterError, Inputs, Map, Model,
        Needs, SeriesPerWindow, StepMemory, StepState, Value, Variable, VariableWeights, Windows,
    };
    // Its parameters.
    pub use foretell_nn::{CounterId, Init, ParamId, Params, Scope, StateId, Table};
    // Operations on variables.
    pub use foretell_nn::{
        Activation, Cell, CellVars, Interpolation, Key, Padding, Pooling, Resampler, Shape, Tensor, Var,
        pooled_len,
    };
    // Layers.
    pub use foretell_nn::{
        AttentionSizes, AttentiveLstm, AutoCorrelation, AutoCorrelationSizes, BatchNorm, BatchNormConfig,
        CausalConv1d, CausalConv1dSizes, DataEmbedding, DataEmbeddingSizes, Distilling, EmbeddedNumbers,
        Embedding, FourierBlock, FourierCrossAttention, FourierSizes, GatedLinear, GatedResidual,
        GatedResidualSizes, InterpretableAttention, InvertedEmbedding, LayerNorm, Linear, LinearPair,
        MAX_POSITIONS, Mlp, MlpSizes, MultiHeadAttention, Nonlinearity, NumberEmbedding, PairSizes,
        PointwisePerceptron, ProbSparse, Recurrent, RecurrentSizes, RecurrentState, ResLstm, ResidualContext,
        RevIn, RevInConfig, SeasonalNorm, SelectedVariables, StaticContexts, StaticEncoder,
        StaticEncoderSizes, TransformerDecoder, TransformerEncoder, TransformerSizes, VariableSelection,
        VariableSelectionSizes, WindowScales, positional_encoding,
    };
}

pub use acceleration::{Acceleration, check_simd_level};
pub use bench::{Bench, BenchProduct, bench};
pub use error::NetworkError;
pub use forecast_curve::{CurvePoint, ForecastCurve, forecast_curve};
pub use foretell_infer::{NoNumber, StepForecaster};
pub use foretell_models::{Exogenous, MODELS, ModelEntry, find};
pub use foretell_nn::{
    HyperParameterError, Loss, UnknownWeightPrecision, WeightPrecision, WithoutAmp, check_amp,
};
pub use foretell_onnx::OnnxError;
pub use foretell_simd::Level;
pub use foretell_train::{Precision, StateError, StateSummary, TrainError};
pub use import::{import_model, json_of};
pub use model_file::{loss_value, model_file, read_model};
pub use optimizer_settings::from_file as plain_optimizer;
pub use spec::{NetworkSpec, UNSUPPORTED};
pub use spec_error::SpecError;
pub use thread_curve::{ThreadCurve, ThreadPoint, thread_curve};
pub use trained_network::TrainedNetwork;

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
