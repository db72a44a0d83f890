//! TSMixer: layers that mix the steps of each series, then the series of each step, in turn.
//!
//! Chen, Li, Yoder, Arik, Pfister 2023, "TSMixer: An All-MLP Architecture for Time Series Forecasting" (arXiv
//! 2303.06053), figure 1; batch normalisation before the linear layers, as in neuralforecast.

use foretell_nn::{
    Activation, BatchNorm, BatchNormConfig, Coupling, Dims, Forward, HyperParameterError, Inputs, Linear,
    Model, Needs, RevIn, Scope, SeriesPerWindow, Var,
};
use serde_json::Value;

use crate::architecture::{Architecture, Exogenous};
use crate::hyper::hyper_parameters;
use crate::mixer::shared::mixing::Mixing;
use crate::mixer::shared::multivariate::{QUANTILES_OF_SERIES, multivariate_defaults};
use crate::normalised::forecast_normalised;

hyper_parameters! {
    TsMixer {
        ..mixing: Mixing = Mixing { dropout: 0.9, ..Mixing::default() },
    }
}

/// Activations are `[batch, series, time]` throughout: mixing steps is a linear layer on the rows of a window, mixing
/// series one on its columns.
struct Network {
    dims: Dims,
    norm: Option<RevIn>,
    layers: Vec<MixingLayer>,
    out: Linear,
}

#[derive(Clone)]
struct MixingLayer {
    temporal_norm: BatchNorm,
    temporal: Linear,
    feature_norm: BatchNorm,
    feature: [Linear; 2],
    dropout: f32,
}

impl Architecture for TsMixer {
    const NAME: &'static str = "TSMixer";
    const PAPER: &'static str = "Chen et al. 2023, arXiv 2303.06053";
    const KIND: &'static str = "multivariate, direct";
    const EXOGENOUS: Exogenous = Exogenous::NONE;
    const HIDDEN_UNITS: &'static [&'static str] = &["ff_dim"];
    const DIFFERENCES: &'static [&'static str] = &[QUANTILES_OF_SERIES];

    fn common_defaults() -> Value {
        multivariate_defaults()
    }

    fn small() -> Vec<Value> {
        Mixing::small()
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { series: SeriesPerWindow::All, coupling: Coupling::Coupled, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let Self { mixing } = self;
        let norm = mixing.norm(scope, dims.n_series);
        let mut layers = scope.at("mixing_layers");
        let layers =
            (0..mixing.n_block).map(|i| MixingLayer::new(&mut layers.at(i), dims, &mixing)).collect();
        let out = Linear::new(&mut scope.at("out"), dims.input_size, dims.horizon * dims.outputs);
        Ok(Box::new(Network { dims: *dims, norm, layers, out }))
    }
}

impl MixingLayer {
    fn new(scope: &mut Scope<'_>, dims: &Dims, mixing: &Mixing) -> Self {
        let &Dims { input_size, n_series, .. } = dims;
        let config = BatchNormConfig { eps: 1e-3, momentum: 0.01, ..BatchNormConfig::default() };
        let norm = |scope: &mut Scope<'_>| BatchNorm::new(scope, n_series.saturating_mul(input_size), config);
        let mut temporal = scope.at("temporal_mixer");
        let temporal_norm = norm(&mut temporal.at("temporal_norm"));
        let temporal = Linear::new(&mut temporal.at("temporal_lin"), input_size, input_size);
        let mut feature = scope.at("feature_mixer");
        let feature_norm = norm(&mut feature.at("feature_norm"));
        let first = Linear::new(&mut feature.at("feature_lin_1"), n_series, mixing.ff_dim);
        let second = Linear::new(&mut feature.at("feature_lin_2"), mixing.ff_dim, n_series);
        Self {
            temporal_norm,
            temporal,
            feature_norm,
            feature: [first, second],
            dropout: mixing.dropout as f32,
        }
    }

    /// `x [batch, series, time]` to the same shape.
    fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let shape = x.shape();
        let &[batch, series, time] = &*shape else { unreachable!("[batch, series, time]") };
        let drop = |x: Var| cx.dropout(x, self.dropout);
        let steps = self.temporal_norm.forward(cx, &x.reshape([batch, series * time])).reshape(shape);
        let x = x + drop(self.temporal.forward(cx, &steps, Activation::Relu));
        // This norm lists its channels as [time, series].
        let features = self.feature_norm.forward_transposed(cx, &x);
        let [first, second] = &self.feature;
        let hidden = drop(first.forward_columns(cx, &features, Activation::Relu));
        x + drop(second.forward_columns(cx, &hidden, Activation::Identity))
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, inputs: &Inputs) -> Var {
        let Dims { input_size, horizon, outputs, n_series, .. } = self.dims;
        let rows = inputs.batch();
        forecast_normalised(self.norm.as_ref(), cx, &inputs.insample_y, |x| {
            let mut x = x.reshape([rows / n_series, n_series, input_size]);
            for layer in &self.layers {
                x = cx.block(layer, &[&x], |layer, cx, v| layer.forward(cx, &v[0]));
            }
            self.out.forward(cx, &x, Activation::Identity).reshape([rows, horizon, outputs])
        })
    }
}
