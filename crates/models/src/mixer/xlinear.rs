//! XLinear: linear layers on each series, gated over its own features and, by a learned token of each series, over the series.
//!
//! "XLinear" 2026 (arXiv 2601.09237), with the columns that neuralforecast gives it.

use foretell_nn::{
    Activation, Dims, Forward, HyperParameterError, Init, Inputs, Linear, Model, Needs, ParamId, RevIn,
    RevInConfig, Scope, SeriesPerWindow, Var,
};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous};
use crate::hyper::hyper_parameters;
use crate::mixer::shared::multivariate::{QUANTILES_OF_SERIES, multivariate_defaults};
use crate::normalised::forecast_normalised;
use crate::rules;

hyper_parameters! {
    XLinear {
        /// Numbers that a series' history is embedded to, and numbers of its token.
        hidden_size: usize = 128 => rules::units,
        /// Units of the gate over the features of a series.
        temporal_ff: usize = 256 => rules::units,
        /// Units of the gate over the series; a multiple of their number serves best.
        channel_ff: usize = 8 => rules::units,
        /// Dropout in the gate over features.
        temporal_dropout: f64 = 0.0 => rules::dropout,
        /// Dropout in the gate over series.
        channel_dropout: f64 = 0.0 => rules::dropout,
        /// Dropout of the embedding.
        embed_dropout: f64 = 0.0 => rules::dropout,
        /// Dropout of the features that the forecast is computed from.
        head_dropout: f64 = 0.0 => rules::dropout,
        /// Whether each window's series are brought to mean 0 and variance 1, and the forecasts back.
        use_norm: bool = true,
    }
}

struct Network {
    dims: Dims,
    hidden: usize,
    norm: Option<RevIn>,
    embedding: Linear,
    /// `[1, series, hidden]`.
    token: ParamId,
    temporal: Gate,
    channel: Gate,
    /// Embed the columns of a series, each kind as one row.
    hist: Option<Linear>,
    futr: Option<Linear>,
    stat: Option<Linear>,
    head: Linear,
    embed_dropout: f32,
    head_dropout: f32,
}

/// A perceptron whose outputs, between 0 and 1, its inputs are multiplied with.
struct Gate {
    first: Linear,
    second: Linear,
    dropout: f32,
}

impl Architecture for XLinear {
    const NAME: &'static str = "XLinear";
    const PAPER: &'static str = "2026, arXiv 2601.09237";
    const KIND: &'static str = "multivariate, direct";
    const EXOGENOUS: Exogenous = Exogenous::ALL;
    const DIFFERENCES: &'static [&'static str] = &[QUANTILES_OF_SERIES];

    fn common_defaults() -> Value {
        multivariate_defaults()
    }

    fn small() -> Vec<Value> {
        vec![
            json!({ "hidden_size": 6, "temporal_ff": 7, "channel_ff": 6 }),
            json!({
                "hidden_size": 5, "temporal_ff": 4, "channel_ff": 4, "temporal_dropout": 0.1, "channel_dropout": 0.1,
                "embed_dropout": 0.1, "head_dropout": 0.1, "use_norm": false,
            }),
        ]
    }

    fn needs(&self, _: &Dims) -> Needs {
        // Its layers are so small that two threads which share each of them mostly wait for each other.
        Needs { series: SeriesPerWindow::All, shard_windows: 16, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let hidden = self.hidden_size;
        let &Dims { input_size, horizon, n_series, outputs, hist_exog, futr_exog, stat_exog, .. } = dims;
        let norm = self.use_norm.then(|| RevIn::new(scope, n_series, RevInConfig::default()));
        let token = scope.param("glob_token", [1, n_series, hidden], Init::Normal);
        let embedding = Linear::new(&mut scope.at("projection.0"), input_size, hidden);
        let mut gate = |name, features, units, dropout: f64| {
            let mut scope = scope.at(name);
            let mut scope = scope.at("weight");
            let first = Linear::new(&mut scope.at(0), features, units);
            let second = Linear::new(&mut scope.at(3), units, features);
            Gate { first, second, dropout: dropout as f32 }
        };
        let features = hidden.saturating_mul(2);
        let temporal = gate("temporal_gating", features, self.temporal_ff, self.temporal_dropout);
        let channel =
            gate("channel_gating", n_series.saturating_mul(2), self.channel_ff, self.channel_dropout);
        let mut read = features;
        let mut columns = |name, count: usize, steps| {
            (count > 0).then(|| {
                read = read.saturating_add(hidden);
                Linear::new(&mut scope.at(name), count.saturating_mul(steps), hidden)
            })
        };
        let hist = columns("hist_exog_projection", hist_exog, input_size);
        let futr = columns("futr_exog_projection", futr_exog, input_size + horizon);
        let stat = columns("stat_exog_projection", stat_exog, 1);
        let head = Linear::new(&mut scope.at("head.1"), read, horizon.saturating_mul(outputs));
        Ok(Box::new(Network {
            dims: *dims,
            hidden,
            norm,
            embedding,
            token,
            temporal,
            channel,
            hist,
            futr,
            stat,
            head,
            embed_dropout: self.embed_dropout as f32,
            head_dropout: self.head_dropout as f32,
        }))
    }
}

impl Gate {
    /// `x [..., features]` to the same shape.
    fn rows(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let hidden = cx.dropout(self.first.forward(cx, x, Activation::Relu), self.dropout);
        x * self.second.forward(cx, &hidden, Activation::Sigmoid)
    }

    /// `x [windows, features, n]` to the same shape.
    fn columns(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let hidden = cx.dropout(self.first.forward_columns(cx, x, Activation::Relu), self.dropout);
        x * self.second.forward_columns(cx, &hidden, Activation::Sigmoid)
    }
}

impl Network {
    /// The features of each series, side by side: `y [rows, time]` to `[rows, features]`.
    fn features(&self, cx: &Forward<'_>, inputs: &Inputs, y: &Var) -> Var {
        let (rows, series, hidden) = (inputs.batch(), self.dims.n_series, self.hidden);
        let shape = [rows / series, series, hidden];
        let own = cx
            .dropout(self.embedding.forward(cx, y, Activation::Identity), self.embed_dropout)
            .reshape(shape);
        let token = cx.param(self.token).expand(shape);
        let gated = self.temporal.rows(cx, &Var::concat(&[&own, &token], 2));
        let token = gated.narrow(2, hidden, hidden);
        // Only the tokens behind the gate are read.
        let series_and_tokens = self.channel.columns(cx, &Var::concat(&[own, token], 1));
        let tokens = series_and_tokens.narrow(1, series, series);
        let mut parts = [gated.narrow(2, 0, hidden), tokens]
            .iter()
            .map(|x| x.reshape([rows, hidden]))
            .collect::<Vec<_>>();
        let columns = [(&self.hist, &inputs.hist_exog), (&self.futr, &inputs.futr_exog)];
        for (layer, columns) in
            columns.into_iter().filter_map(|(layer, columns)| layer.as_ref().zip(columns.as_ref()))
        {
            let &[_, steps, count] = &*columns.shape() else { unreachable!("[rows, steps, columns]") };
            let row = columns.permute(&[0, 2, 1]).reshape([rows, count * steps]);
            parts.push(layer.forward(cx, &row, Activation::Identity));
        }
        let stat = self.stat.as_ref().zip(inputs.stat_exog.as_ref());
        parts.extend(stat.map(|(layer, columns)| layer.forward(cx, columns, Activation::Identity)));
        Var::concat(&parts, 1)
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, inputs: &Inputs) -> Var {
        let Dims { horizon, outputs, .. } = self.dims;
        forecast_normalised(self.norm.as_ref(), cx, &inputs.insample_y, |y| {
            let features = cx.dropout(self.features(cx, inputs, &y), self.head_dropout);
            let forecast = self.head.forward(cx, &features, Activation::Identity);
            forecast.reshape([inputs.batch(), horizon, outputs])
        })
    }
}
