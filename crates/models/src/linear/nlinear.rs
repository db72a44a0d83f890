//! NLinear: one linear layer on the history minus its last value.
//!
//! Zeng, Chen, Zhang, Xu 2022, "Are Transformers Effective for Time Series Forecasting?"
//! (arXiv 2205.13504), section 4.

use foretell_nn::{Activation, Dims, Forward, HyperParameterError, Inputs, Linear, Model, Needs, Scope, Var};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous, MIN_SHARD_LIGHT_MODEL};
use crate::hyper::hyper_parameters;

hyper_parameters! {
    /// NLinear has no hyper-parameters of its own.
    NLinear {}
}

struct Network {
    dims: Dims,
    linear: Linear,
}

impl Architecture for NLinear {
    const NAME: &'static str = "NLinear";
    const PAPER: &'static str = "Zeng et al. 2022, arXiv 2205.13504";
    const EXOGENOUS: Exogenous = Exogenous::NONE;

    fn common_defaults() -> Value {
        json!({ "learning_rate": 1e-4, "max_steps": 5000 })
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { shard_windows: MIN_SHARD_LIGHT_MODEL, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let linear = Linear::new(&mut scope.at("linear"), dims.input_size, dims.horizon * dims.outputs);
        Ok(Box::new(Network { dims: *dims, linear }))
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let Dims { input_size, horizon, outputs, .. } = self.dims;
        let y = &windows.insample_y;
        let last = y.narrow(1, input_size - 1, 1);
        let centred = y.sub(&last);
        let forecast = self.linear.forward(cx, &centred, Activation::Identity).add(&last);
        forecast.reshape([windows.batch(), horizon, outputs])
    }
}
