//! NBEATSx: N-BEATS whose blocks also see exogenous columns, and may explain the target by them.
//!
//! Olivares, Challu, Marcjasz, Weron, Dubrawski 2023, "Neural basis expansion analysis with exogenous
//! variables: Forecasting electricity prices with NBEATSx" (arXiv 2104.05522), section 3.

use foretell_nn::{Dims, Model, Scope};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::basis::Trend;
use crate::nbeats_stacks::{Stack, Stacks};
use crate::perceptron::Layers;
use crate::registry::{Architecture, ConfigError, Exogenous};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Nbeatsx {
    /// Steps per period of the second function of a seasonality are `h`, of the following ones `h` by
    /// multiples of `1 / n_harmonics`.
    n_harmonics: usize,
    /// The highest power of time in a trend.
    n_polynomials: usize,
    /// `"identity"`, `"trend"`, `"seasonality"` or `"exogenous"` for each stack.
    stack_types: Vec<Stack>,
    /// Blocks of each stack.
    n_blocks: Vec<usize>,
    /// `[inputs, outputs]` of the hidden layers of every block.
    mlp_units: Vec<[usize; 2]>,
    /// Dropout behind each activation.
    dropout_prob_theta: f32,
    /// `"ReLU"`, `"Softplus"`, `"Tanh"`, `"SELU"`, `"LeakyReLU"`, `"PReLU"` or `"Sigmoid"`.
    activation: String,
    /// Whether the blocks of a stack have one set of weights.
    shared_weights: bool,
}

impl Default for Nbeatsx {
    fn default() -> Self {
        Self {
            n_harmonics: 2,
            n_polynomials: 2,
            stack_types: vec![Stack::Identity, Stack::Trend, Stack::Seasonality],
            n_blocks: vec![1; 3],
            mlp_units: vec![[512, 512]; 3],
            dropout_prob_theta: 0.0,
            activation: "ReLU".to_owned(),
            shared_weights: false,
        }
    }
}

impl Architecture for Nbeatsx {
    const NAME: &'static str = "NBEATSx";
    const PAPER: &'static str = "Olivares et al. 2023, arXiv 2104.05522";
    const EXOGENOUS: Exogenous = Exogenous::ALL;

    fn common_defaults() -> Value {
        json!({ "num_lr_decays": 3, "inference_windows_batch_size": -1 })
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, ConfigError> {
        let layers = Layers {
            mlp_units: &self.mlp_units,
            dropout: self.dropout_prob_theta,
            activation: &self.activation,
        };
        let stacks = Stacks {
            model: Self::NAME,
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
