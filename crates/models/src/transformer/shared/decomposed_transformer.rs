//! Common parts of Autoformer and FEDformer: an encoder and a decoder that subtract the trend layer by layer.
//!
//! Wu, Xu, Wang, Long 2021, "Autoformer: Decomposition Transformers with Auto-Correlation for Long-Term Series
//! Forecasting" (arXiv 2106.13008, section 3.1): after each attention and each perceptron the moving average is
//! subtracted. The encoder drops it. The decoder projects it and adds it up, starting from the trend of the window's
//! last steps and the window's mean.
//!
//! A moving average (over time) and a projection (over channels) commute: so the subtracted trend of the decoder is first
//! projected to its three taps, which have fewer channels, and then averaged.

use std::sync::Arc;

use foretell_nn::{
    Activation, DataEmbedding, DataEmbeddingSizes, Dims, Forward, Init, Inputs, Linear, Model, Padding,
    ParamId, PointwisePerceptron, Scope, SeasonalNorm, TransformerSizes, Var,
};

use crate::hyper::hyper_parameters;
use crate::rules;
use crate::transformer::shared::hyper_parameters::EncoderDecoder;

/// A difference from neuralforecast.
pub(crate) const BIASES: &str = "Biases that no forecast depends on (a mean over time, a moving average or softmax cancels them) are not trained; in neuralforecast rounding errors move them.";

hyper_parameters! {
    #[allow(non_snake_case)]
    DecomposedSizes {
        /// Steps of the moving average, odd.
        MovingAvg_window: usize = 25 => rules::odd,
        ..shared: EncoderDecoder = EncoderDecoder::default(),
    }
}

/// Attention of queries `[batch, steps, hidden]` to a source `[batch, rows, hidden]`: `[batch, steps, hidden]`.
pub(crate) trait Attention: Send + Sync {
    fn forward(&self, cx: &Forward<'_>, queries: &Var, source: &Var) -> Var;
}

/// Builds an attention in a scope.
pub(crate) type BuildAttention<'a> = &'a mut dyn FnMut(&mut Scope<'_>) -> Arc<dyn Attention>;

impl DecomposedSizes {
    /// Registers the parameters of a model whose layers have these sizes; `attentions` are those of the encoder, of the
    /// decoder on itself, and of the decoder on the encoder.
    pub(crate) fn network(
        &self,
        layer: TransformerSizes,
        dims: &Dims,
        scope: &mut Scope<'_>,
        attentions: [BuildAttention<'_>; 3],
    ) -> Network {
        let [of_encoder, of_decoder, across] = attentions;
        let TransformerSizes { hidden, units, activation, dropout, .. } = layer;
        let perceptron = |scope: &mut Scope<'_>| {
            PointwisePerceptron::with(scope, [hidden, units], false, activation, dropout)
        };
        let sizes = DataEmbeddingSizes { inputs: 1, columns: dims.futr_exog, hidden };
        let mut embedding =
            |name: &str| DataEmbedding::without_positions(&mut scope.at(name), sizes, dropout);
        let embeddings = [embedding("enc_embedding"), embedding("dec_embedding")];

        let mut encoder = scope.at("encoder");
        let mut layers = encoder.at("attn_layers");
        let encoder_layers = (0..self.shared.encoder_layers).map(|i| {
            let scope = &mut layers.at(i);
            let attention = of_encoder(&mut scope.at("attention"));
            EncoderLayer { attention, perceptron: perceptron(scope), dropout }
        });
        let encoder_layers = encoder_layers.collect();
        let encoder_norm = SeasonalNorm::new(&mut encoder.at("norm"), hidden);

        let mut decoder = scope.at("decoder");
        let mut layers = decoder.at("layers");
        let decoder_layers = (0..self.shared.decoder_layers).map(|i| {
            let scope = &mut layers.at(i);
            let self_attention = of_decoder(&mut scope.at("self_attention"));
            let cross = across(&mut scope.at("cross_attention"));
            let perceptron = perceptron(scope);
            let trend = Trend::new(&mut scope.at("projection"), hidden, dims.outputs);
            DecoderLayer { self_attention, cross, perceptron, trend, dropout }
        });
        let decoder_layers = decoder_layers.collect();
        Network {
            dims: *dims,
            label_len: self.shared.label_len(dims),
            kernel: self.MovingAvg_window,
            embeddings,
            encoder_layers,
            encoder_norm,
            decoder_layers,
            decoder_norm: SeasonalNorm::new(&mut decoder.at("norm"), hidden),
            projection: Linear::new(&mut decoder.at("projection"), hidden, dims.outputs),
        }
    }
}

/// The encoder and the decoder; activations are `[batch, time, hidden]` throughout.
pub(crate) struct Network {
    dims: Dims,
    label_len: usize,
    kernel: usize,
    /// One of the encoder, one of the decoder.
    embeddings: [DataEmbedding; 2],
    encoder_layers: Vec<EncoderLayer>,
    encoder_norm: SeasonalNorm,
    decoder_layers: Vec<DecoderLayer>,
    decoder_norm: SeasonalNorm,
    projection: Linear,
}

#[derive(Clone)]
struct EncoderLayer {
    attention: Arc<dyn Attention>,
    perceptron: PointwisePerceptron,
    dropout: f32,
}

struct DecoderLayer {
    /// Attention to the decoder's own steps.
    self_attention: Arc<dyn Attention>,
    /// Attention to the encoder's result.
    cross: Arc<dyn Attention>,
    perceptron: PointwisePerceptron,
    trend: Trend,
    dropout: f32,
}

/// The convolution that projects the trend that a decoder layer subtracts: `weight [outputs, hidden, 3]`, circular over the
/// steps.
struct Trend {
    weight: ParamId,
}

impl Trend {
    const TAPS: usize = 3;

    fn new(scope: &mut Scope<'_>, hidden: usize, outputs: usize) -> Self {
        let init = Init::fan_in(hidden.saturating_mul(Self::TAPS));
        Self { weight: scope.param("weight", [outputs, hidden, Self::TAPS], init) }
    }

    /// The moving averages of `parts [batch, time, hidden]`, added up and projected: `[batch, time, outputs]`.
    fn forward(&self, cx: &Forward<'_>, parts: [&Var; 3], kernel: usize) -> Var {
        let weight = cx.param(self.weight);
        let &[outputs, hidden, taps] = &*weight.shape() else { unreachable!("[outputs, hidden, taps]") };
        let weight = weight.permute(&[2, 0, 1]).reshape([taps * outputs, hidden]);
        let [a, b, c] = parts.map(|part| part.linear(&weight, None, Activation::Identity));
        let seen = a + b + c;
        let averages = &seen - seen.season(kernel);
        // The first tap contributes to the step after, the second to the step itself, the third to the step before.
        let time = averages.shape()[1];
        let tap = |i: usize, first: usize| {
            let part = averages.narrow(2, i * outputs, outputs);
            Var::concat(&[part.narrow(1, first, time - first), part.narrow(1, 0, first)], 1)
        };
        tap(0, time - 1) + averages.narrow(2, outputs, outputs) + tap(2, 1 % time)
    }
}

impl EncoderLayer {
    fn forward(&self, cx: &Forward<'_>, x: &Var, kernel: usize) -> Var {
        let attended = cx.dropout(self.attention.forward(cx, x, x), self.dropout);
        let x = (x + attended).season(kernel);
        let y = self.perceptron.forward(cx, &x);
        (x + y).season(kernel)
    }
}

impl DecoderLayer {
    /// Maps `x [batch, time, hidden]` and the `source` to the same shape; beside it the projected trend that was
    /// subtracted, `[batch, time, outputs]`.
    fn forward(&self, cx: &Forward<'_>, x: &Var, source: &Var, kernel: usize) -> [Var; 2] {
        let drop = |x: Var| cx.dropout(x, self.dropout);
        let first = x + drop(self.self_attention.forward(cx, x, x));
        let x = first.season(kernel);
        let second = &x + drop(self.cross.forward(cx, &x, source));
        let x = second.season(kernel);
        let third = &x + self.perceptron.forward(cx, &x);
        [third.season(kernel), self.trend.forward(cx, [&first, &second, &third], kernel)]
    }
}

impl Network {
    fn encode(&self, cx: &Forward<'_>, y: &Var, columns: Option<&Var>) -> Var {
        let columns = columns.map(|columns| columns.narrow(1, 0, self.dims.input_size));
        let mut x = self.embeddings[0].forward(cx, y, columns.as_ref());
        for layer in &self.encoder_layers {
            let kernel = self.kernel;
            x = cx.block(layer, &[&x], move |layer, cx, v| layer.forward(cx, &v[0], kernel));
        }
        self.encoder_norm.forward(cx, &x)
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, inputs: &Inputs) -> Var {
        let Dims { input_size, horizon, .. } = self.dims;
        let batch = inputs.batch();
        let (steps, label_len) = (self.label_len + horizon, self.label_len);
        let columns = inputs.futr_exog.as_ref();
        let y = inputs.insample_y.reshape([batch, input_size, 1]);
        let source = self.encode(cx, &y, columns);

        // The decoder begins with the last steps: their season continued by zeros, their trend by the window's mean.
        let season = y.season(self.kernel);
        let last = |x: &Var| x.narrow(1, input_size - label_len, label_len);
        let mean = y.mean(1).reshape([batch, 1, 1]).expand([batch, horizon, 1]);
        let mut trend = Var::concat(&[&last(&(&y - &season)), &mean], 1);
        let season = last(&season).pad(1, 0, horizon, Padding::Zeros);
        let columns = columns.map(|columns| columns.narrow(1, input_size - label_len, steps));
        let mut x = self.embeddings[1].forward(cx, &season, columns.as_ref());
        for layer in &self.decoder_layers {
            let [season, taken] = layer.forward(cx, &x, &source, self.kernel);
            (x, trend) = (season, trend + taken);
        }
        let season = self.decoder_norm.project(cx, &x, &self.projection);
        let [trend, season] = [trend, season].map(|part| part.narrow(1, label_len, horizon));
        cx.record_part(|| "trend".to_owned(), &trend);
        cx.record_part(|| "seasonality".to_owned(), &season);
        season + trend
    }
}
