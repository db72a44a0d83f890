//! MLP: fully connected layers on the window as one long row.
//!
//! Rosenblatt 1958, "The perceptron"; rectified units after Nair and Hinton 2010.

use foretell_nn::{Activation, Dims, Forward, Inputs, Linear, Model, Needs, Scope, Var};
use serde_json::{Value, json};

use crate::hyper::hyper_parameters;
use crate::registry::{Architecture, ConfigError, Exogenous, LARGE_WEIGHTS, MAX_LAYERS};

hyper_parameters! {
    Mlp {
        /// Hidden layers.
        num_layers: usize = 2,
        /// Units of each hidden layer.
        hidden_size: usize = 1024,
    }
}

struct Network {
    dims: Dims,
    hidden: Vec<Linear>,
    out: Linear,
}

impl Architecture for Mlp {
    const NAME: &'static str = "MLP";
    const PAPER: &'static str = "Rosenblatt 1958; Nair and Hinton 2010";
    const EXOGENOUS: Exogenous = Exogenous::ALL;

    fn common_defaults() -> Value {
        json!({ "inference_windows_batch_size": -1 })
    }

    fn small() -> Vec<Value> {
        vec![json!({ "hidden_size": 48 })]
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { shard_windows: LARGE_WEIGHTS, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, ConfigError> {
        for (name, value) in [("num_layers", self.num_layers), ("hidden_size", self.hidden_size)] {
            if !(1..=1_000_000).contains(&value) || (name == "num_layers" && value > MAX_LAYERS) {
                let limit = if name == "num_layers" { MAX_LAYERS } else { 1_000_000 };
                let (name, expected) = (name.to_owned(), format!("between 1 and {limit}"));
                return Err(ConfigError { model: Self::NAME, name, expected, found: value.to_string() });
            }
        }
        let window = dims.input_size * (1 + dims.hist_exog)
            + (dims.input_size + dims.horizon) * dims.futr_exog
            + dims.stat_exog;
        let mut scope_of_hidden = scope.at("mlp");
        let hidden = (0..self.num_layers)
            .map(|i| {
                let inputs = if i == 0 { window } else { self.hidden_size };
                Linear::new(&mut scope_of_hidden.at(i), inputs, self.hidden_size)
            })
            .collect();
        let out = Linear::new(&mut scope.at("out"), self.hidden_size, dims.horizon * dims.outputs);
        Ok(Box::new(Network { dims: *dims, hidden, out }))
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let mut x = windows.flattened();
        for layer in &self.hidden {
            x = layer.forward(cx, &x, Activation::Relu);
        }
        let y = self.out.forward(cx, &x, Activation::Identity);
        y.reshape([windows.batch(), self.dims.horizon, self.dims.outputs])
    }
}
