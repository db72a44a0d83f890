//! TSMixerx: TSMixer with exogenous columns: the history is projected to the horizon, joined there by future and static
//! columns, and mixed over steps and features in turn.
//!
//! Chen, Li, Yoder, Arik, Pfister 2023, "TSMixer: An All-MLP Architecture for Time Series Forecasting" (arXiv
//! 2303.06053), figure 4; layer normalisation over steps and features after each residual sum.

use foretell_nn::{
    Activation, Dims, Forward, HyperParameterError, Inputs, LayerNorm, Linear, Model, Needs, RevIn, Scope,
    SeriesPerWindow, Var,
};
use serde_json::Value;

use crate::architecture::{Architecture, Exogenous};
use crate::hyper::hyper_parameters;
use crate::mixer::shared::mixing::Mixing;
use crate::mixer::shared::multivariate::{QUANTILES_OF_SERIES, multivariate_defaults};
use crate::normalised::forecast_normalised;

hyper_parameters! {
    TsMixerx {
        ..mixing: Mixing = Mixing::default(),
    }
}

/// Activations are `[batch, horizon, features]` after the temporal projection.
struct Network {
    dims: Dims,
    norm: Option<RevIn>,
    temporal_projection: Linear,
    hist: FeatureMixing,
    futr: Option<FeatureMixing>,
    stat: Option<FeatureMixing>,
    first: MixingLayer,
    layers: Vec<MixingLayer>,
    out: Linear,
}

/// Mixes the features of each step.
struct FeatureMixing {
    layers: [Linear; 2],
    /// Makes the residual as wide as the result, where it is not.
    residual: Option<Linear>,
    norm: LayerNorm,
    dropout: f32,
}

/// Mixes the steps of each feature, then the features of each step; before that, static columns may join the features.
struct MixingLayer {
    stat: Option<FeatureMixing>,
    temporal: Linear,
    temporal_norm: LayerNorm,
    feature: FeatureMixing,
}

impl Architecture for TsMixerx {
    const NAME: &'static str = "TSMixerx";
    const PAPER: &'static str = "Chen et al. 2023, arXiv 2303.06053";
    const KIND: &'static str = "multivariate, direct";
    const EXOGENOUS: Exogenous = Exogenous::ALL;
    const DIFFERENCES: &'static [&'static str] = &[QUANTILES_OF_SERIES];

    fn common_defaults() -> Value {
        multivariate_defaults()
    }

    fn small() -> Vec<Value> {
        Mixing::small()
    }

    fn needs(&self, _: &Dims) -> Needs {
        // Each step of the horizon is a row of the products, so few windows are enough for a shard.
        Needs { series: SeriesPerWindow::All, shard_windows: 8, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let Self { mixing } = self;
        let &Dims { input_size, horizon, hist_exog, futr_exog, stat_exog, outputs, n_series, .. } = dims;
        let of_all = |columns: usize| columns.saturating_mul(n_series);
        let norm = mixing.norm(scope, n_series);
        let temporal_projection = Linear::new(&mut scope.at("temporal_projection"), input_size, horizon);
        let mut features = |name, columns| {
            FeatureMixing::new(&mut scope.at(name), [of_all(columns), mixing.ff_dim], horizon, &mixing)
        };
        let hist = features("feature_mixer_hist", 1 + hist_exog + futr_exog);
        let futr = (futr_exog > 0).then(|| features("feature_mixer_futr", futr_exog));
        let stat = (stat_exog > 0).then(|| features("feature_mixer_stat", stat_exog));
        let joined = 1 + usize::from(futr.is_some()) + usize::from(stat.is_some());
        let wide = joined.saturating_mul(mixing.ff_dim);
        let first = MixingLayer::new(&mut scope.at("first_mixing"), wide, 0, horizon, &mixing);
        let mut block = scope.at("mixing_block");
        let layers = (0..mixing.n_block)
            .map(|i| MixingLayer::new(&mut block.at(i), mixing.ff_dim, of_all(stat_exog), horizon, &mixing))
            .collect();
        let out = Linear::new(&mut scope.at("out"), mixing.ff_dim, of_all(outputs));
        Ok(Box::new(Network { dims: *dims, norm, temporal_projection, hist, futr, stat, first, layers, out }))
    }
}

impl FeatureMixing {
    fn new(scope: &mut Scope<'_>, [inputs, outputs]: [usize; 2], horizon: usize, mixing: &Mixing) -> Self {
        let first = Linear::new(&mut scope.at("feature_lin_1"), inputs, mixing.ff_dim);
        let second = Linear::new(&mut scope.at("feature_lin_2"), mixing.ff_dim, outputs);
        Self {
            layers: [first, second],
            residual: (inputs != outputs)
                .then(|| Linear::new(&mut scope.at("project_residual"), inputs, outputs)),
            norm: LayerNorm::new(&mut scope.at("feature_norm"), [horizon, outputs]),
            dropout: mixing.dropout as f32,
        }
    }

    /// `x [batch, horizon, inputs]` to `[batch, horizon, outputs]`.
    fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let [first, second] = &self.layers;
        let hidden = cx.dropout(first.forward(cx, x, Activation::Relu), self.dropout);
        let mixed = cx.dropout(second.forward(cx, &hidden, Activation::Identity), self.dropout);
        self.norm.forward(cx, &(mixed + self.residual(cx, x)))
    }

    /// `x [inputs]`, which is the same at all steps of all windows, to `[batch, horizon, outputs]`. It is broadcast
    /// where dropout makes steps differ, else as late as possible.
    fn forward_static(&self, cx: &Forward<'_>, x: &Var, [batch, horizon]: [usize; 2]) -> Var {
        let [first, second] = &self.layers;
        let x = x.reshape([1, 1, x.shape()[0]]);
        let spread = |x: &Var, batch: usize| {
            let width = x.shape()[2];
            x.expand([batch, horizon, width])
        };
        let hidden = first.forward(cx, &x, Activation::Relu);
        let residual = self.residual(cx, &x);
        if cx.drops() && self.dropout > 0.0 {
            let hidden = cx.dropout(spread(&hidden, batch), self.dropout);
            let mixed = cx.dropout(second.forward(cx, &hidden, Activation::Identity), self.dropout);
            return self.norm.forward(cx, &(mixed + residual));
        }
        let mixed = second.forward(cx, &hidden, Activation::Identity) + residual;
        spread(&self.norm.forward(cx, &spread(&mixed, 1)), batch)
    }

    fn residual(&self, cx: &Forward<'_>, x: &Var) -> Var {
        self.residual.as_ref().map_or_else(|| x.clone(), |layer| layer.forward(cx, x, Activation::Identity))
    }
}

impl MixingLayer {
    /// From `features` to `ff_dim` features; `stat` static columns join them as `ff_dim` more.
    fn new(scope: &mut Scope<'_>, features: usize, stat: usize, horizon: usize, mixing: &Mixing) -> Self {
        let ff_dim = mixing.ff_dim;
        let stat = (stat > 0).then(|| {
            FeatureMixing::new(&mut scope.at("feature_mixer_stat"), [stat, ff_dim], horizon, mixing)
        });
        let features = if stat.is_some() { features.saturating_add(ff_dim) } else { features };
        let mut temporal = scope.at("temporal_mixer");
        let temporal_norm = LayerNorm::new(&mut temporal.at("temporal_norm"), [horizon, features]);
        let temporal = Linear::new(&mut temporal.at("temporal_lin"), horizon, horizon);
        let feature = FeatureMixing::new(&mut scope.at("feature_mixer"), [features, ff_dim], horizon, mixing);
        Self { stat, temporal, temporal_norm, feature }
    }

    /// `x [batch, horizon, features]` and the static columns of all series, `[columns]`, to
    /// `[batch, horizon, ff_dim]`.
    fn forward(&self, cx: &Forward<'_>, x: &Var, stat: Option<&Var>) -> Var {
        let &[batch, horizon, _] = &*x.shape() else { unreachable!("[batch, horizon, features]") };
        let joined = self.stat.as_ref().zip(stat).map(|(mixing, stat)| {
            let stat = mixing.forward_static(cx, stat, [batch, horizon]);
            Var::concat(&[x, &stat], 2)
        });
        let x = joined.as_ref().unwrap_or(x);
        let mixed = self.temporal.forward_columns(cx, x, Activation::Relu);
        let x = self.temporal_norm.forward(cx, &(x + cx.dropout(mixed, self.feature.dropout)));
        self.feature.forward(cx, &x)
    }
}

impl Network {
    /// The past, projected to the steps of the horizon: `[batch, horizon, columns * series]`.
    fn project(&self, cx: &Forward<'_>, y: &Var, inputs: &Inputs) -> Var {
        let Dims { input_size, n_series, .. } = self.dims;
        let rows = inputs.batch();
        let batch = rows / n_series;
        if inputs.hist_exog.is_none() && inputs.futr_exog.is_none() {
            let y = y.reshape([batch, n_series, input_size]);
            return self.temporal_projection.forward_to_columns(cx, &y, Activation::Identity);
        }
        let mut parts = vec![self.by_step(&y.reshape([rows, input_size, 1]))];
        parts.extend(inputs.hist_exog.iter().map(|columns| self.by_step(columns)));
        parts.extend(inputs.futr_exog.iter().map(|columns| self.by_step(columns).narrow(1, 0, input_size)));
        let x = Var::concat(&parts.iter().collect::<Vec<_>>(), 2);
        let x = x.reshape([batch, input_size, x.shape()[2] * n_series]);
        self.temporal_projection.forward_columns(cx, &x, Activation::Identity)
    }

    /// Columns of steps, `[rows, time, columns]`, as `[batch, time, columns, series]`.
    fn by_step(&self, columns: &Var) -> Var {
        let &[rows, time, count] = &*columns.shape() else { unreachable!("[rows, time, columns]") };
        let n_series = self.dims.n_series;
        columns.reshape([rows / n_series, n_series, time, count]).permute(&[0, 2, 3, 1])
    }

    /// The forecast of windows whose target is `y [rows, input_size]`.
    fn forecast(&self, cx: &Forward<'_>, y: &Var, inputs: &Inputs) -> Var {
        let Dims { input_size, horizon, futr_exog, stat_exog, outputs, n_series, .. } = self.dims;
        let batch = inputs.batch() / n_series;
        let mut parts = vec![self.hist.forward(cx, &self.project(cx, y, inputs))];
        if let Some((mixing, columns)) = self.futr.as_ref().zip(inputs.futr_exog.as_ref()) {
            let ahead = self.by_step(columns).narrow(1, input_size, horizon);
            parts.push(mixing.forward(cx, &ahead.reshape([batch, horizon, futr_exog * n_series])));
        }
        // Static columns belong to a series and are the same in all windows, so those of the first window are read.
        let stat = inputs.stat_exog.as_ref();
        let stat = stat.map(|columns| columns.narrow(0, 0, n_series).reshape([n_series * stat_exog]));
        if let Some((mixing, columns)) = self.stat.as_ref().zip(stat.as_ref()) {
            parts.push(mixing.forward_static(cx, columns, [batch, horizon]));
        }
        let x = Var::concat(&parts.iter().collect::<Vec<_>>(), 2);
        let mut x = self.first.forward(cx, &x, None);
        for layer in &self.layers {
            x = layer.forward(cx, &x, stat.as_ref());
        }
        // [batch, outputs * series, horizon], all series of an output next to each other.
        let y = self.out.forward_to_columns(cx, &x, Activation::Identity);
        let y = y.reshape([batch, outputs, n_series, horizon]).permute(&[0, 2, 3, 1]);
        y.reshape([batch * n_series, horizon, outputs])
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, inputs: &Inputs) -> Var {
        forecast_normalised(self.norm.as_ref(), cx, &inputs.insample_y, |y| self.forecast(cx, &y, inputs))
    }
}
