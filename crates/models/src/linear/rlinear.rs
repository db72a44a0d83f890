//! RLinear: reversible instance normalisation, and one linear layer on the normalised history.
//!
//! Li, Qi, Li, Xu 2023, "Revisiting Long-term Time Series Forecasting: An Investigation on Linear Mapping" (arXiv 2305.10721),
//! section 4; the normalisation is that of Kim et al. 2022.

use foretell_nn::{
    Activation, Dims, Forward, HyperParameterError, Inputs, Linear, Model, Needs, RevIn, RevInConfig, Scope,
    Var,
};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous, MIN_SHARD_LIGHT_MODEL};
use crate::hyper::hyper_parameters;
use crate::normalised::forecast_normalised;
use crate::rules;

hyper_parameters! {
    RLinear {
        /// Whether the normalisation has a learned factor and offset.
        revin_affine: bool = true,
        /// Whether a window is shifted by its last value, not by its mean.
        revin_subtract_last: bool = false,
        /// Dropout of the normalised history.
        dropout: f64 = 0.0 => rules::dropout,
    }
}

struct Network {
    dims: Dims,
    norm: RevIn,
    linear: Linear,
    dropout: f32,
}

impl Architecture for RLinear {
    const NAME: &'static str = "RLinear";
    const PAPER: &'static str = "Li et al. 2023, arXiv 2305.10721";
    const EXOGENOUS: Exogenous = Exogenous::NONE;
    const DIFFERENCES: &'static [&'static str] = &["neuralforecast has no such model."];

    fn common_defaults() -> Value {
        json!({ "learning_rate": 1e-4, "max_steps": 5000 })
    }

    fn small() -> Vec<Value> {
        vec![json!({}), json!({ "revin_affine": false, "revin_subtract_last": true, "dropout": 0.1 })]
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { shard_windows: MIN_SHARD_LIGHT_MODEL, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let config = RevInConfig {
            affine: self.revin_affine,
            subtract_last: self.revin_subtract_last,
            ..RevInConfig::default()
        };
        let norm = RevIn::new(&mut scope.at("norm"), 1, config);
        let linear = Linear::new(&mut scope.at("linear"), dims.input_size, dims.horizon * dims.outputs);
        Ok(Box::new(Network { dims: *dims, norm, linear, dropout: self.dropout as f32 }))
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let Dims { horizon, outputs, .. } = self.dims;
        forecast_normalised(Some(&self.norm), cx, &windows.insample_y, |y| {
            let forecast = self.linear.forward(cx, &cx.dropout(y, self.dropout), Activation::Identity);
            forecast.reshape([windows.batch(), horizon, outputs])
        })
    }
}
