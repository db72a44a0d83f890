//! NBEATSx: N-BEATS whose blocks also see exogenous columns, and may explain the target by them.
//!
//! Olivares, Challu, Marcjasz, Weron, Dubrawski 2023, "Neural basis expansion analysis with exogenous
//! variables: Forecasting electricity prices with NBEATSx" (arXiv 2104.05522), section 3.

use foretell_nn::{Dims, HyperParameterError, Model, Needs, Scope};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous, MIN_SHARD_LARGE_WEIGHTS};
use crate::hyper::hyper_parameters;
use crate::linear::shared::basis::Trend;
use crate::linear::shared::nbeats_stacks::{Stack, Stacks, blocks_of_stacks};
use crate::linear::shared::perceptron::{self, Layers};
use crate::rules::{self, MAX_LAYERS};

hyper_parameters! {
    Nbeatsx {
        /// A seasonality has the frequencies (n_harmonics + i) / n_harmonics per horizon, i = 0, 1, ..., below
        /// half the horizon's steps, and the constant.
        n_harmonics: usize = 2 => |count| rules::within(count, 0..=MAX_LAYERS),
        /// The highest power of time in a trend.
        n_polynomials: usize = 2,
        /// The kind of each stack: "identity", "trend", "seasonality" or "exogenous".
        stack_types: Vec<Stack> = vec![Stack::Identity, Stack::Trend, Stack::Seasonality],
        /// Blocks of each stack.
        n_blocks: Vec<usize> = vec![1; 3],
        /// [inputs, outputs] of the hidden layers of every block.
        mlp_units: Vec<Vec<usize>> = vec![vec![512, 512]; 3] => |units| perceptron::chained(units),
        /// Dropout behind each activation.
        dropout_prob_theta: f32 = 0.0 => rules::dropout,
        /// Behind each hidden layer: "ReLU", "Softplus", "Tanh", "SELU", "LeakyReLU", "PReLU" or "Sigmoid".
        activation: String = "ReLU".to_owned() => |name| perceptron::activation(name),
        /// Whether the blocks of a stack have one set of weights.
        shared_weights: bool = false,
    }
}

impl Architecture for Nbeatsx {
    const NAME: &'static str = "NBEATSx";
    const PAPER: &'static str = "Olivares et al. 2023, arXiv 2104.05522";
    const EXOGENOUS: Exogenous = Exogenous::ALL;
    const HIDDEN_UNITS: &'static [&'static str] = &["mlp_units"];
    const DIFFERENCES: &'static [&'static str] =
        &["A stack without blocks is an error; neuralforecast ignores it."];

    fn common_defaults() -> Value {
        json!({ "num_lr_decays": 3, "inference_windows_batch_size": -1 })
    }

    fn small() -> Vec<Value> {
        vec![json!({ "mlp_units": [[32, 32], [32, 32]], "dropout_prob_theta": 0.2 })]
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { shard_windows: MIN_SHARD_LARGE_WEIGHTS, ..Needs::default() }
    }

    fn unread(&self) -> Vec<String> {
        let stacks = blocks_of_stacks(&self.stack_types, &self.n_blocks);
        stacks.unread().into_iter().chain(perceptron::unread(&self.mlp_units)).collect()
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let layers = Layers {
            mlp_units: &self.mlp_units,
            dropout: self.dropout_prob_theta,
            activation: &self.activation,
        };
        let stacks = Stacks {
            types: &self.stack_types,
            n_blocks: &self.n_blocks,
            layers,
            shared_weights: self.shared_weights,
            n_harmonics: self.n_harmonics,
            trend: Trend::Polynomial,
            degree: ("n_polynomials", self.n_polynomials),
        };
        stacks.build(dims, scope)
    }
}
