//! MLP: fully connected layers on the window as one long row.
//!
//! Rosenblatt 1958, "The perceptron"; rectified units after Nair and Hinton 2010.

use foretell_nn::{Dims, Forward, HyperParameterError, Inputs, Model, Needs, Scope, Var};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous, MIN_SHARD_LARGE_WEIGHTS};
use crate::hyper::hyper_parameters;
use crate::linear::shared::dense_layers::{DenseLayers, DenseSizes, row_of_window};

hyper_parameters! {
    Mlp {
        ..sizes: DenseSizes = DenseSizes::default(),
    }
}

struct Network {
    dims: Dims,
    layers: DenseLayers,
}

impl Architecture for Mlp {
    const NAME: &'static str = "MLP";
    const PAPER: &'static str = "Rosenblatt 1958; Nair and Hinton 2010";
    const EXOGENOUS: Exogenous = Exogenous::ALL;
    const HIDDEN_UNITS: &'static [&'static str] = &["hidden_size"];

    fn common_defaults() -> Value {
        json!({ "inference_windows_batch_size": -1 })
    }

    fn small() -> Vec<Value> {
        vec![json!({ "hidden_size": 48 })]
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { shard_windows: MIN_SHARD_LARGE_WEIGHTS, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let outputs = dims.horizon * dims.outputs;
        let layers = self.sizes.layers(scope, row_of_window(dims), outputs);
        Ok(Box::new(Network { dims: *dims, layers }))
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let y = self.layers.forward(cx, windows.flattened());
        y.reshape([windows.batch(), self.dims.horizon, self.dims.outputs])
    }
}
