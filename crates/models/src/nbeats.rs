//! NBEATS: blocks that each explain a part of the history and of the future by functions of time, and
//! leave the rest to the next.
//!
//! Oreshkin, Carpov, Chapados, Bengio 2020, "N-BEATS: Neural basis expansion analysis for interpretable
//! time series forecasting" (arXiv 1905.10437): generic blocks (section 3.3, identity), trend and
//! seasonality (section 3.3, interpretable). Bases of the trend beside powers are neuralforecast's.

use foretell_nn::{Dims, Model, Scope};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::basis::Trend;
use crate::nbeats_stacks::{Stack, Stacks};
use crate::perceptron::Layers;
use crate::registry::{Architecture, ConfigError, Exogenous};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Nbeats {
    /// Steps per period of the second function of a seasonality are `h`, of the following ones `h` by
    /// multiples of `1 / n_harmonics`.
    n_harmonics: usize,
    /// Read and not used: `n_basis` and `basis` took its place.
    n_polynomials: Option<usize>,
    /// Functions of a trend beside the first.
    n_basis: usize,
    /// `"polynomial"`, `"legendre"`, `"chebyshev"`, `"changepoint"`, `"piecewise_linear"`, `"linear_hat"` or
    /// `"spline"`: the functions of a trend.
    basis: Trend,
    /// `"identity"`, `"trend"` or `"seasonality"` for each stack.
    stack_types: Vec<Stack>,
    /// Blocks of each stack.
    n_blocks: Vec<usize>,
    /// `[inputs, outputs]` of the hidden layers of every block.
    mlp_units: Vec<[usize; 2]>,
    /// 0: NBEATSx has dropout, NBEATS has none.
    dropout_prob_theta: f32,
    /// `"ReLU"`, `"Softplus"`, `"Tanh"`, `"SELU"`, `"LeakyReLU"`, `"PReLU"` or `"Sigmoid"`.
    activation: String,
    /// Whether the blocks of a stack have one set of weights.
    shared_weights: bool,
}

impl Default for Nbeats {
    fn default() -> Self {
        Self {
            n_harmonics: 2,
            n_polynomials: None,
            n_basis: 2,
            basis: Trend::Polynomial,
            stack_types: vec![Stack::Identity, Stack::Trend, Stack::Seasonality],
            n_blocks: vec![1; 3],
            mlp_units: vec![[512, 512]; 3],
            dropout_prob_theta: 0.0,
            activation: "ReLU".to_owned(),
            shared_weights: false,
        }
    }
}

impl Architecture for Nbeats {
    const NAME: &'static str = "NBEATS";
    const PAPER: &'static str = "Oreshkin et al. 2020, arXiv 1905.10437";
    const EXOGENOUS: Exogenous = Exogenous::NONE;

    fn common_defaults() -> Value {
        json!({ "num_lr_decays": 3, "inference_windows_batch_size": -1 })
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, ConfigError> {
        if self.dropout_prob_theta != 0.0 {
            return Err(ConfigError {
                model: Self::NAME,
                name: "dropout_prob_theta".to_owned(),
                expected:
                    "0, as in neuralforecast; NBEATSx without exogenous columns is the same model with \
                           dropout"
                        .to_owned(),
                found: self.dropout_prob_theta.to_string(),
            });
        }
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
            trend: self.basis,
            degree: ("n_basis", self.n_basis),
        };
        stacks.build(dims, scope)
    }
}
