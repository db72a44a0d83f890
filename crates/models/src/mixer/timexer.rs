//! TimeXer: patches of a series attend to each other, and a token of the whole series to other series and columns.
//!
//! Wang, Wu, Dong, Qin, Zhang, Liu, Qiu, Wang, Long 2024, "TimeXer: Empowering Transformers for Time Series Forecasting with
//! Exogenous Variables" (arXiv 2402.19072), figure 3.

use foretell_nn::{
    Activation, AttentionSizes, Dims, Forward, HyperParameterError, Init, Inputs, InvertedEmbedding,
    LayerNorm, Linear, MAX_POSITIONS, Model, MultiHeadAttention, Needs, ParamId, PointwisePerceptron, RevIn,
    Scope, TransformerSizes, Var, positional_encoding,
};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous};
use crate::hyper::{hyper_parameters, require};
use crate::mixer::shared::multivariate::{QUANTILES_OF_SERIES, multivariate_defaults};
use crate::mixer::shared::series_transformer::SeriesTransformer;
use crate::normalised::forecast_normalised;
use crate::transformer::shared::hyper_parameters::BIAS_OF_KEYS;

hyper_parameters! {
    TimeXer {
        /// Steps of a patch, at most `input_size`; the last steps, which fill no patch, only the other series see.
        patch_len: usize = 16,
        ..shared: SeriesTransformer = SeriesTransformer::default(),
    }
}

/// The tokens of a series are its patches, followed by one token of the whole series.
struct Network {
    dims: Dims,
    norm: Option<RevIn>,
    patch_len: usize,
    patches: usize,
    /// Embeds patches, without a bias.
    patch_embedding: Linear,
    /// `[1, series, 1, hidden]`.
    series_token: ParamId,
    places: ParamId,
    /// Embeds whole series and columns, to which the series' tokens attend.
    embedding: InvertedEmbedding,
    layers: Vec<Layer>,
    last_norm: LayerNorm,
    head: Linear,
    sizes: TransformerSizes,
}

#[derive(Clone)]
struct Layer {
    own: MultiHeadAttention,
    cross: MultiHeadAttention,
    perceptron: PointwisePerceptron,
    norms: [LayerNorm; 3],
    dropout: f32,
}

impl Architecture for TimeXer {
    const NAME: &'static str = "TimeXer";
    const PAPER: &'static str = "Wang et al. 2024, arXiv 2402.19072";
    const KIND: &'static str = "multivariate, direct";
    const EXOGENOUS: Exogenous = Exogenous { futr: false, ..Exogenous::ALL };
    const HIDDEN_UNITS: &'static [&'static str] = &["d_ff"];
    const DIFFERENCES: &'static [&'static str] = &[QUANTILES_OF_SERIES, BIAS_OF_KEYS];

    fn common_defaults() -> Value {
        multivariate_defaults()
    }

    fn small() -> Vec<Value> {
        vec![
            json!({ "patch_len": 4, "hidden_size": 8, "n_heads": 2, "d_ff": 6 }),
            json!({
                "patch_len": 7, "hidden_size": 6, "n_heads": 4, "e_layers": 1, "d_ff": 0, "dropout": 0.0,
                "use_norm": false,
            }),
        ]
    }

    fn needs(&self, _: &Dims) -> Needs {
        SeriesTransformer::needs()
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let sizes = self.shared.sizes(Activation::Relu)?;
        let &Dims { input_size, horizon, n_series, outputs, .. } = dims;
        let (hidden, even) = (sizes.hidden, sizes.hidden.is_multiple_of(2));
        require("hidden_size", even, "even, a cosine beside each sine", json!(hidden))?;
        let (fits, expected) = ((1..=input_size).contains(&self.patch_len), "between 1 and input_size");
        require("patch_len", fits, expected, json!(self.patch_len))?;
        let patches = input_size / self.patch_len;
        let (few, expected) = (patches <= MAX_POSITIONS, "such that a window has at most 5000 patches");
        require("patch_len", few, expected, json!(self.patch_len))?;

        let norm = self.shared.norm(scope, n_series);
        let mut patched = scope.at("en_embedding");
        let series_token = patched.param("glb_token", [1, n_series, 1, hidden], Init::Normal);
        let patch_embedding =
            Linear::without_bias(&mut patched.at("value_embedding"), self.patch_len, hidden);
        let places = positional_encoding(&mut patched, "position_embedding.pe", hidden);
        let embedding =
            InvertedEmbedding::new(&mut scope.at("ex_embedding"), input_size, hidden, sizes.dropout);
        let mut encoder = scope.at("encoder");
        let layers =
            (0..self.shared.e_layers).map(|i| Layer::new(&mut encoder.at("layers").at(i), &sizes)).collect();
        let last_norm = LayerNorm::new(&mut encoder.at("norm"), [hidden]);
        let read = hidden.saturating_mul(patches + 1);
        let head = Linear::new(&mut scope.at("head.linear"), read, horizon.saturating_mul(outputs));
        Ok(Box::new(Network {
            dims: *dims,
            norm,
            patch_len: self.patch_len,
            patches,
            patch_embedding,
            series_token,
            places,
            embedding,
            layers,
            last_norm,
            head,
            sizes,
        }))
    }
}

impl Layer {
    fn new(scope: &mut Scope<'_>, sizes: &TransformerSizes) -> Self {
        let &TransformerSizes { hidden, heads, dropout, .. } = sizes;
        let attention = AttentionSizes { hidden, heads, dropout };
        Self {
            own: MultiHeadAttention::new(&mut scope.at("self_attention"), attention),
            cross: MultiHeadAttention::new(&mut scope.at("cross_attention"), attention),
            perceptron: PointwisePerceptron::new(scope, sizes),
            norms: ["norm1", "norm2", "norm3"].map(|name| LayerNorm::new(&mut scope.at(name), [hidden])),
            dropout,
        }
    }

    /// The layer's result for `x [rows, tokens, hidden]`, `series` rows a window, and
    /// `context [windows, others, hidden]`.
    fn forward(&self, cx: &Forward<'_>, x: &Var, context: &Var, series: usize) -> Var {
        let &[rows, tokens, hidden] = &*x.shape() else { unreachable!("[rows, tokens, hidden]") };
        let [first, second, third] = &self.norms;
        let drop = |x: Var| cx.dropout(x, self.dropout);
        let x = first.forward(cx, &(x + drop(self.own.forward(cx, x, x))));
        // The tokens of whole series attend to the other series and the columns.
        let own = x.narrow(1, tokens - 1, 1).reshape([rows / series, series, hidden]);
        let own = second.forward(cx, &(&own + drop(self.cross.forward(cx, &own, context))));
        let x = Var::concat(&[x.narrow(1, 0, tokens - 1), own.reshape([rows, 1, hidden])], 1);
        let y = self.perceptron.forward(cx, &x);
        third.forward(cx, &(x + y))
    }
}

impl Network {
    /// The tokens of series `y [rows, time]`: `[rows, patches + 1, hidden]`.
    fn tokens(&self, cx: &Forward<'_>, y: &Var) -> Var {
        let (rows, series, hidden) = (y.shape()[0], self.dims.n_series, self.sizes.hidden);
        let patches = y.unfold(self.patch_len, self.patch_len);
        let patches = self.patch_embedding.forward(cx, &patches, Activation::Identity)
            + cx.param(self.places).narrow(1, 0, self.patches);
        let own = cx.param(self.series_token).reshape([1, series, hidden]);
        let own = own.expand([rows / series, series, hidden]).reshape([rows, 1, hidden]);
        cx.dropout(Var::concat(&[patches, own], 1), self.sizes.dropout)
    }

    /// The tokens that the series' tokens attend to: the series, and each historic and static column of each series.
    fn context(&self, cx: &Forward<'_>, inputs: &Inputs, y: &Var) -> Var {
        let Dims { input_size, n_series, .. } = self.dims;
        let windows = inputs.batch() / n_series;
        let mut columns = Vec::new();
        if let Some(hist) = &inputs.hist_exog {
            let count = hist.shape()[2];
            columns.push(hist.permute(&[0, 2, 1]).reshape([windows, n_series * count, input_size]));
        }
        if let Some(stat) = &inputs.stat_exog {
            let count = n_series * stat.shape()[1];
            columns.push(stat.reshape([windows, count, 1]).expand([windows, count, input_size]));
        }
        let columns = (!columns.is_empty()).then(|| Var::concat(&columns, 1));
        self.embedding.forward(cx, &y.reshape([windows, n_series, input_size]), columns.as_ref())
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, inputs: &Inputs) -> Var {
        let Dims { horizon, outputs, n_series, .. } = self.dims;
        let rows = inputs.batch();
        forecast_normalised(self.norm.as_ref(), cx, &inputs.insample_y, |y| {
            let mut x = self.tokens(cx, &y);
            let context = self.context(cx, inputs, &y);
            for layer in &self.layers {
                x = cx.block(layer, &[&x, &context], move |layer, cx, v| {
                    layer.forward(cx, &v[0], &v[1], n_series)
                });
            }
            let x = self.last_norm.forward(cx, &x);
            // The head reads a series as `[hidden, tokens]`, not as `[tokens, hidden]`.
            let row = x.permute(&[0, 2, 1]).reshape([rows, self.sizes.hidden * (self.patches + 1)]);
            let y = cx.dropout(self.head.forward(cx, &row, Activation::Identity), self.sizes.dropout);
            y.reshape([rows, horizon, outputs])
        })
    }
}
