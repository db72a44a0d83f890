//! DeepNPTS: a forecast is a weighted mean of the window's own values; a network computes the weights from the
//! window.
//!
//! Rangapuram, Gasthaus, Stella, Flunkert, Salinas, Wang, Januschowski 2023, "Deep Non-Parametric Time Series
//! Forecaster" (arXiv 2312.14657). As in neuralforecast the forecast is the expectation over the values, where the paper
//! samples one of them; so it is between the least and the largest value of the history.

use foretell_nn::{
    Activation, BatchNorm, BatchNormConfig, Coupling, Dims, Forward, HyperParameterError, Inputs, Linear,
    Model, Needs, Scope, Var,
};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous};
use crate::hyper::hyper_parameters;
use crate::rules;

hyper_parameters! {
    DeepNpts {
        /// Units of each hidden layer.
        hidden_size: usize = 32 => rules::units,
        /// Whether batch normalisation follows each hidden layer.
        batch_norm: bool = true,
        /// Dropout behind each hidden layer.
        dropout: f64 = 0.1 => rules::dropout,
        /// Hidden layers.
        n_layers: usize = 2 => rules::layers,
    }
}

struct Network {
    dims: Dims,
    hidden: Vec<Hidden>,
    out: Linear,
    dropout: f32,
}

struct Hidden {
    linear: Linear,
    norm: Option<BatchNorm>,
}

impl Architecture for DeepNpts {
    const NAME: &'static str = "DeepNPTS";
    const PAPER: &'static str = "Rangapuram et al. 2023, arXiv 2312.14657";
    const EXOGENOUS: Exogenous = Exogenous::ALL;
    const ONE_OUTPUT: bool = true;
    const NEEDS_TARGET: bool = true;

    fn common_defaults() -> Value {
        json!({ "num_lr_decays": 3, "scaler_type": "standard", "valid_loss": "MAE" })
    }

    fn small() -> Vec<Value> {
        vec![json!({}), json!({ "batch_norm": false })]
    }

    fn needs(&self, _: &Dims) -> Needs {
        let coupling = if self.batch_norm { Coupling::Coupled } else { Coupling::Independent };
        Needs { coupling, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let Self { hidden_size, batch_norm, dropout, n_layers } = self;
        let dropout = dropout as f32;
        let row = dims.input_size * (1 + dims.hist_exog + dims.futr_exog)
            + dims.stat_exog
            + dims.horizon * dims.futr_exog;
        // `torch.nn.Sequential` numbers activations and dropouts as well.
        let mut scope = scope.at("deepnptsnetwork");
        let per_layer = 2 + usize::from(batch_norm) + usize::from(dropout > 0.0);
        let hidden = (0..n_layers)
            .map(|i| {
                let inputs = if i == 0 { row } else { hidden_size };
                let mut norm = || {
                    BatchNorm::new(&mut scope.at(i * per_layer + 2), hidden_size, BatchNormConfig::default())
                };
                let norm = batch_norm.then(&mut norm);
                Hidden { linear: Linear::new(&mut scope.at(i * per_layer), inputs, hidden_size), norm }
            })
            .collect();
        let weights = dims.input_size.saturating_mul(dims.horizon);
        let out = Linear::new(&mut scope.at(n_layers * per_layer), hidden_size, weights);
        Ok(Box::new(Network { dims: *dims, hidden, out, dropout }))
    }
}

impl Network {
    /// The window as one row: the target and the columns of each step of the history, step by step, then the static
    /// columns, then the future columns of the horizon.
    fn row(&self, windows: &Inputs) -> Var {
        let Dims { input_size, horizon, .. } = self.dims;
        let batch = windows.batch();
        let flat = |steps: Var| steps.reshape([batch, steps.shape()[1] * steps.shape()[2]]);
        let mut history = vec![windows.insample_y.unsqueeze(2)];
        history.extend(windows.futr_exog.as_ref().map(|futr| futr.narrow(1, 0, input_size)));
        history.extend(windows.hist_exog.clone());
        let mut parts = vec![flat(Var::concat(&history, 2))];
        parts.extend(windows.stat_exog.clone());
        parts.extend(windows.futr_exog.as_ref().map(|futr| flat(futr.narrow(1, input_size, horizon))));
        Var::concat(&parts, 1)
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let Dims { input_size, horizon, .. } = self.dims;
        let batch = windows.batch();
        let mut x = self.row(windows);
        for Hidden { linear, norm } in &self.hidden {
            x = linear.forward(cx, &x, Activation::Relu);
            if let Some(norm) = norm {
                x = norm.forward(cx, &x);
            }
            x = cx.dropout(x, self.dropout);
        }
        // For each step of the horizon, the mean of the history by the softmax of its scores.
        let scores = self.out.forward(cx, &x, Activation::Identity).reshape([batch, input_size, horizon]);
        scores.softmax_mean(&windows.insample_y).reshape([batch, horizon, 1])
    }
}
