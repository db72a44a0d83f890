//! DLinear: the history split into a moving average and the rest, one linear layer on each.
//!
//! Zeng, Chen, Zhang, Xu 2022, "Are Transformers Effective for Time Series Forecasting?"
//! (arXiv 2205.13504), section 4.

use foretell_nn::{Activation, Dims, Forward, HyperParameterError, Inputs, Linear, Model, Needs, Scope, Var};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous, MIN_SHARD_LIGHT_MODEL};
use crate::hyper::hyper_parameters;
use crate::rules;

hyper_parameters! {
    DLinear {
        /// Steps of the moving average, odd.
        moving_avg_window: usize = 25 => rules::odd,
    }
}

struct Network {
    dims: Dims,
    moving_avg_window: usize,
    linear_trend: Linear,
    linear_season: Linear,
}

impl Architecture for DLinear {
    const NAME: &'static str = "DLinear";
    const PAPER: &'static str = "Zeng et al. 2022, arXiv 2205.13504";
    const EXOGENOUS: Exogenous = Exogenous::NONE;

    fn common_defaults() -> Value {
        json!({ "learning_rate": 1e-4, "max_steps": 5000 })
    }

    fn small() -> Vec<Value> {
        vec![json!({ "moving_avg_window": 5 })]
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { shard_windows: MIN_SHARD_LIGHT_MODEL, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let moving_avg_window = self.moving_avg_window;
        let (inputs, outputs) = (dims.input_size, dims.horizon * dims.outputs);
        Ok(Box::new(Network {
            dims: *dims,
            moving_avg_window,
            linear_trend: Linear::new(&mut scope.at("linear_trend"), inputs, outputs),
            linear_season: Linear::new(&mut scope.at("linear_season"), inputs, outputs),
        }))
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let y = &windows.insample_y;
        let trend = y.moving_average(self.moving_avg_window);
        let season = y.sub(&trend);
        let trend = self.linear_trend.forward(cx, &trend, Activation::Identity);
        let season = self.linear_season.forward(cx, &season, Activation::Identity);
        let shape = [windows.batch(), self.dims.horizon, self.dims.outputs];
        let [trend, season] = [trend, season].map(|part| part.reshape(shape));
        cx.record_part(|| "trend".to_owned(), &trend);
        cx.record_part(|| "seasonality".to_owned(), &season);
        trend.add(&season)
    }
}
