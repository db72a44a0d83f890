//! NBEATS: blocks that each explain a part of the history and of the future by functions of time, and
//! leave the rest to the next.
//!
//! Oreshkin, Carpov, Chapados, Bengio 2020, "N-BEATS: Neural basis expansion analysis for interpretable
//! time series forecasting" (arXiv 1905.10437): generic blocks (section 3.3, identity), trend and
//! seasonality (section 3.3, interpretable). Bases of the trend beside powers are neuralforecast's.

use foretell_nn::{Dims, HyperParameterError, Model, Needs, Scope};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous, MIN_SHARD_LARGE_WEIGHTS};
use crate::hyper::hyper_parameters;
use crate::linear::shared::basis::Trend;
use crate::linear::shared::nbeats_stacks::{Stack, Stacks, blocks_of_stacks};
use crate::linear::shared::perceptron::{self, Layers};
use crate::rules::{self, MAX_LAYERS};

hyper_parameters! {
    Nbeats {
        /// A seasonality has the frequencies (n_harmonics + i) / n_harmonics per horizon, i = 0, 1, ..., below
        /// half the horizon's steps, and the constant.
        n_harmonics: usize = 2 => |count| rules::within(count, 0..=MAX_LAYERS),
        /// Read and not used: n_basis and basis took its place.
        n_polynomials: Option<usize> = None,
        /// Functions of a trend beside the first.
        n_basis: usize = 2,
        /// The functions of a trend: "polynomial", "legendre", "chebyshev", "changepoint", "piecewise_linear",
        /// "linear_hat" or "spline".
        basis: Trend = Trend::Polynomial,
        /// The kind of each stack: "identity", "trend" or "seasonality".
        stack_types: Vec<Stack> = vec![Stack::Identity, Stack::Trend, Stack::Seasonality],
        /// Blocks of each stack.
        n_blocks: Vec<usize> = vec![1; 3],
        /// [inputs, outputs] of the hidden layers of every block.
        mlp_units: Vec<Vec<usize>> = vec![vec![512, 512]; 3] => |units| perceptron::chained(units),
        /// 0: NBEATSx has dropout, NBEATS has none.
        dropout_prob_theta: f32 = 0.0 => |&dropout| rules::require(
            dropout == 0.0,
            "0, as in neuralforecast; NBEATSx without exogenous columns is the same model with dropout",
        ),
        /// Behind each hidden layer: "ReLU", "Softplus", "Tanh", "SELU", "LeakyReLU", "PReLU" or "Sigmoid".
        activation: String = "ReLU".to_owned() => |name| perceptron::activation(name),
        /// Whether the blocks of a stack have one set of weights.
        shared_weights: bool = false,
    }
}

impl Architecture for Nbeats {
    const NAME: &'static str = "NBEATS";
    const PAPER: &'static str = "Oreshkin et al. 2020, arXiv 1905.10437";
    const EXOGENOUS: Exogenous = Exogenous::NONE;
    const HIDDEN_UNITS: &'static [&'static str] = &["mlp_units"];
    const DIFFERENCES: &'static [&'static str] = &[
        "With shared_weights and another basis than polynomial it can be saved; neuralforecast cannot save it.",
        "A stack without blocks is an error; neuralforecast ignores it.",
    ];

    fn common_defaults() -> Value {
        json!({ "num_lr_decays": 3, "inference_windows_batch_size": -1 })
    }

    fn small() -> Vec<Value> {
        vec![json!({ "mlp_units": [[32, 32], [32, 32]] })]
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
            trend: self.basis,
            degree: ("n_basis", self.n_basis),
        };
        stacks.build(dims, scope)
    }
}
