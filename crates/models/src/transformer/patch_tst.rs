//! PatchTST: a transformer whose tokens are patches of a window.
//!
//! Nie, Nguyen, Sinthong, Kalagnanam 2023, "A Time Series is Worth 64 Words: Long-term Forecasting with Transformers"
//! (arXiv 2211.14730), section 3.1; with batch normalisation, and attention that adds the scores of the layer before it
//! (He et al. 2020, "RealFormer", arXiv 2012.11747).

use foretell_nn::{
    Activation, AttentionSizes, BatchNorm, BatchNormConfig, Coupling, Dims, Forward, HyperParameterError,
    Init, Inputs, Linear, Model, MultiHeadAttention, Needs, Padding, ParamId, RevIn, RevInConfig, Scope,
    TransformerSizes, Var,
};
use serde_json::{Value, json};

use crate::architecture::{Architecture, Exogenous};
use crate::hyper::{hyper_parameters, require};
use crate::normalised::forecast_normalised;
use crate::rules::{self, MAX_LAYERS};
use crate::transformer::shared::hyper_parameters::{BIAS_OF_KEYS, activation, heads};

hyper_parameters! {
    PatchTst {
        /// Layers of the encoder.
        encoder_layers: usize = 3 => |count| rules::within(count, 0..=MAX_LAYERS),
        /// Heads of each attention; they divide `hidden_size`.
        n_heads: usize = 16,
        /// Numbers of a patch.
        hidden_size: usize = 128 => rules::units,
        /// Units of the perceptron in each layer.
        linear_hidden_size: usize = 256 => rules::units,
        /// Dropout of embeddings and behind each part of a layer.
        dropout: f64 = 0.2 => rules::dropout,
        /// No effect; as in neuralforecast, whose model has no pretrained head.
        fc_dropout: f64 = 0.2,
        /// Dropout of the forecast.
        head_dropout: f64 = 0.0 => rules::dropout,
        /// Dropout of attention.
        attn_dropout: f64 = 0.0 => rules::dropout,
        /// Steps of a patch; at most `input_size + stride`.
        patch_len: usize = 16 => rules::units,
        /// Steps from one patch to the next.
        stride: usize = 8 => rules::units,
        /// Whether each window is brought to variance 1, and the forecast back.
        revin: bool = true,
        /// Whether that has a learned factor and offset.
        revin_affine: bool = false,
        /// Whether a window is shifted by its last value, not by its mean.
        revin_subtract_last: bool = true,
        /// Activation of the perceptron: "relu" or "gelu".
        activation: String = "gelu".to_owned(),
        /// Whether attention adds the scores of the layer before it to its own.
        res_attention: bool = true,
        /// Whether the batch normalisation of a layer comes before its attention and its perceptron; else it comes behind them.
        batch_normalization: bool = false,
        /// Whether the encoding of places is learned.
        learn_pos_embed: bool = true,
    }
}

/// Activations are `[windows, patches, hidden]` throughout.
struct Network {
    dims: Dims,
    norm: Option<RevIn>,
    /// `[hidden, patch_len]`.
    embedding: [ParamId; 2],
    /// `[patches, hidden]`.
    places: ParamId,
    layers: Vec<Layer>,
    head: Linear,
    patches: usize,
    patch_len: usize,
    stride: usize,
    sizes: TransformerSizes,
    head_dropout: f32,
    residual_scores: bool,
}

struct Layer {
    attention: MultiHeadAttention,
    perceptron: [Linear; 2],
    norms: [BatchNorm; 2],
    /// Whether the norms come first.
    norm_first: bool,
    activation: Activation,
    dropout: f32,
}

impl PatchTst {
    fn check(&self) -> Result<TransformerSizes, HyperParameterError> {
        let sizes = TransformerSizes {
            hidden: self.hidden_size,
            heads: self.n_heads,
            units: self.linear_hidden_size,
            activation: activation(&self.activation.to_lowercase())?,
            dropout: self.dropout as f32,
        };
        heads("n_heads", &sizes)?;
        let divide = self.hidden_size.is_multiple_of(self.n_heads);
        require("n_heads", divide, "a divisor of hidden_size", json!(self.n_heads))?;
        Ok(sizes)
    }
}

impl Architecture for PatchTst {
    const NAME: &'static str = "PatchTST";
    const PAPER: &'static str = "Nie et al. 2023, arXiv 2211.14730";
    const EXOGENOUS: Exogenous = Exogenous::NONE;
    const HIDDEN_UNITS: &'static [&'static str] = &["linear_hidden_size"];
    const DIFFERENCES: &'static [&'static str] = &[
        BIAS_OF_KEYS,
        "Without `res_attention`, `attn_dropout` is of training alone; in neuralforecast it drops in forecasts, too, which \
         then differ from call to call.",
    ];

    fn common_defaults() -> Value {
        json!({ "max_steps": 5000, "learning_rate": 1e-4 })
    }

    fn small() -> Vec<Value> {
        vec![
            json!({ "hidden_size": 8, "n_heads": 2, "linear_hidden_size": 6, "patch_len": 4, "stride": 2 }),
            json!({
                "hidden_size": 6, "n_heads": 3, "linear_hidden_size": 5, "encoder_layers": 2, "dropout": 0.0,
                "head_dropout": 0.1, "attn_dropout": 0.1, "patch_len": 5, "stride": 3, "res_attention": false,
                "batch_normalization": true, "activation": "relu", "revin_affine": true, "learn_pos_embed": false,
            }),
            json!({
                "hidden_size": 4, "n_heads": 1, "linear_hidden_size": 4, "encoder_layers": 2, "patch_len": 8,
                "stride": 5, "revin": false,
            }),
        ]
    }

    fn needs(&self, _: &Dims) -> Needs {
        Needs { coupling: Coupling::Coupled, ..Needs::default() }
    }

    fn build(self, dims: &Dims, scope: &mut Scope<'_>) -> Result<Box<dyn Model>, HyperParameterError> {
        let sizes = self.check()?;
        let TransformerSizes { hidden, .. } = sizes;
        let &Dims { input_size, horizon, outputs, .. } = dims;
        let (stride, padded) = (self.stride, input_size.saturating_add(self.stride));
        let patch_len = self.patch_len.min(padded);
        let patches = (padded - patch_len) / stride + 1;
        let mut scope = scope.at("model");
        let norm = self.revin.then(|| {
            let config = RevInConfig {
                affine: self.revin_affine,
                subtract_last: self.revin_subtract_last,
                ..RevInConfig::default()
            };
            RevIn::new(&mut scope.at("revin_layer"), 1, config)
        });
        let mut backbone = scope.at("backbone");
        let (shape, init) = ([patches, hidden], Init::Uniform { bound: 0.02 });
        let places = match self.learn_pos_embed {
            true => backbone.param("W_pos", shape, init),
            false => backbone.frozen("W_pos", shape, init),
        };
        let init = Init::fan_in(patch_len);
        let embedding = [("W_P.weight", &[hidden, patch_len][..]), ("W_P.bias", &[hidden])]
            .map(|(name, shape)| backbone.param(name, shape, init));
        let mut layers = backbone.at("encoder.layers");
        let layers = (0..self.encoder_layers).map(|i| Layer::new(&mut layers.at(i), &self, &sizes)).collect();
        let read = hidden.saturating_mul(patches);
        let head = Linear::new(&mut scope.at("head.linear"), read, horizon.saturating_mul(outputs));
        Ok(Box::new(Network {
            dims: *dims,
            norm,
            embedding,
            places,
            layers,
            head,
            patches,
            patch_len,
            stride,
            sizes,
            head_dropout: self.head_dropout as f32,
            residual_scores: self.res_attention,
        }))
    }
}

impl Layer {
    fn new(scope: &mut Scope<'_>, config: &PatchTst, sizes: &TransformerSizes) -> Self {
        let &TransformerSizes { hidden, heads, units, activation, dropout } = sizes;
        let mut attention = scope.at("self_attn");
        let scale = ((hidden / heads) as f64).powf(-0.5) as f32;
        attention.constant("sdp_attn.scale", [], move |value| value.fill(scale));
        let attention_sizes = AttentionSizes { hidden, heads, dropout: config.attn_dropout as f32 };
        let attention =
            MultiHeadAttention::named(&mut attention, attention_sizes, ["W_Q", "W_K", "W_V", "to_out.0"]);
        let mut norm = |name| BatchNorm::new(&mut scope.at(name), hidden, BatchNormConfig::default());
        let norms = [norm("norm_attn.1"), norm("norm_ffn.1")];
        let perceptron = [
            Linear::new(&mut scope.at("ff.0"), hidden, units),
            Linear::new(&mut scope.at("ff.3"), units, hidden),
        ];
        Self { attention, perceptron, norms, norm_first: config.batch_normalization, activation, dropout }
    }

    /// The layer's result, and the scores of its attention where the next layer adds them to its own.
    fn forward(&self, cx: &Forward<'_>, x: &Var, scores: Option<&Var>, residual: bool) -> (Var, Option<Var>) {
        let [attention_norm, perceptron_norm] = &self.norms;
        let before = |norm: &BatchNorm, x: Var| if self.norm_first { norm.forward(cx, &x) } else { x };
        let behind = |norm: &BatchNorm, x: Var| if self.norm_first { x } else { norm.forward(cx, &x) };

        let x = before(attention_norm, x.clone());
        let (read, scores) = match residual {
            true => {
                let [read, scores] = self.attention.forward_residual(cx, &x, scores);
                (read, Some(scores))
            }
            false => (self.attention.forward(cx, &x, &x), None),
        };
        // Two dropouts in a row, that of the attention's result and the layer's, are one whose keep rates are
        // multiplied.
        let kept = 1.0 - self.dropout;
        let x = behind(attention_norm, x + cx.dropout(read, 1.0 - kept * kept));

        let x = before(perceptron_norm, x);
        let (activation, dropout) = (self.activation, self.dropout);
        let y = cx.block(&self.perceptron, &[&x], move |[first, second], cx, v| {
            let inner = cx.dropout(first.forward(cx, &v[0], activation), dropout);
            cx.dropout(second.forward(cx, &inner, Activation::Identity), dropout)
        });
        (behind(perceptron_norm, x + y), scores)
    }
}

impl Network {
    /// The patches of windows `[windows, time]` as vectors, `[windows, patches, hidden]`. The last patches reach into
    /// repetitions of the last value.
    fn embedded(&self, cx: &Forward<'_>, y: &Var) -> Var {
        let [weight, bias] = self.embedding.map(|id| cx.param(id));
        let padded = y.pad(1, 0, self.stride, Padding::Replicate);
        let patches = padded.unfold(self.patch_len, self.stride);
        let y = patches.linear(&weight, Some(&bias), Activation::Identity);
        cx.dropout(y + cx.param(self.places), self.sizes.dropout)
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let Dims { horizon, outputs, .. } = self.dims;
        let (batch, hidden) = (windows.batch(), self.sizes.hidden);
        forecast_normalised(self.norm.as_ref(), cx, &windows.insample_y, |y| {
            let (mut x, mut scores) = (self.embedded(cx, &y), None);
            for layer in &self.layers {
                (x, scores) = layer.forward(cx, &x, scores.as_ref(), self.residual_scores);
            }
            // The head reads a window as `[hidden, patches]`, not as `[patches, hidden]`.
            let row = x.permute(&[0, 2, 1]).reshape([batch, hidden * self.patches]);
            let y = cx.dropout(self.head.forward(cx, &row, Activation::Identity), self.head_dropout);
            y.reshape([batch, horizon, outputs])
        })
    }
}
