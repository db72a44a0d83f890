//! What Autoformer and FEDformer have in common: an encoder and a decoder that take the trend off as they go.
//!
//! Wu, Xu, Wang, Long 2021, "Autoformer: Decomposition Transformers with Auto-Correlation for Long-Term Series
//! Forecasting" (arXiv 2106.13008, section 3.1): behind each attention and each perceptron the moving average is taken
//! off. The encoder forgets it; the decoder, which begins with the last steps of the window and its mean, projects it and
//! adds it up.
//!
//! A moving average and a projection change places, the one being over time, the other over channels: so what the decoder
//! takes off is projected to its three taps first, and averaged then.

use foretell_nn::{
    Activation, DataEmbedding, DataEmbeddingSizes, Dims, Forward, HyperParameterError, Init, Inputs, Linear,
    Model, ParamId, Scope, SeasonalNorm, Table, Var,
};

use crate::hyper::hyper_parameters;
use crate::rules::{self, MAX_LAYERS, MAX_UNITS};

/// A difference from neuralforecast.
pub(crate) const BIASES: &str = "Biases that no forecast depends on (of norms whose mean is taken off, of layers before a moving average is, and where softmax takes what is added to all) are not trained; in neuralforecast rounding errors move them.";

hyper_parameters! {
    #[allow(non_snake_case)]
    DecomposedSizes {
        /// The share of the history that the decoder begins with, above 0 and below 1.
        decoder_input_size_multiplier: f64 = 0.5,
        /// Numbers of the vector of a step.
        hidden_size: usize = 128 => rules::units,
        /// Dropout behind the embeddings, attentions and both layers of a perceptron.
        dropout: f64 = 0.05 => rules::dropout,
        /// Heads of an attention.
        n_head: usize = 4,
        /// Units of the perceptron behind the attentions; 0 for four times `hidden_size`.
        conv_hidden_size: usize = 32 => |size| rules::within(size, 0..=MAX_UNITS),
        /// "relu" or "gelu", of the perceptrons.
        activation: String = "gelu".to_owned() => |name| rules::require(activation(name).is_some(), "\"relu\" or \"gelu\""),
        /// Layers of the encoder.
        encoder_layers: usize = 2 => |count| rules::within(count, 0..=MAX_LAYERS),
        /// Layers of the decoder.
        decoder_layers: usize = 1 => |count| rules::within(count, 0..=MAX_LAYERS),
        /// Steps of the moving average, odd.
        MovingAvg_window: usize = 25 => rules::odd,
    }
}

/// Looks up what queries `[batch, steps, hidden]` ask for in a source `[batch, rows, hidden]`: `[batch, steps, hidden]`.
pub(crate) trait Attention: Send + Sync {
    fn forward(&self, cx: &Forward<'_>, queries: &Var, source: &Var) -> Var;
}

/// Makes an attention in its scope.
pub(crate) type Make<'a> = &'a mut dyn FnMut(&mut Scope<'_>) -> Box<dyn Attention>;

fn activation(name: &str) -> Option<Activation> {
    match name {
        "relu" => Some(Activation::Relu),
        "gelu" => Some(Activation::Gelu),
        _ => None,
    }
}

impl DecomposedSizes {
    /// Steps of the history that the decoder begins with.
    pub(crate) fn label_len(&self, dims: &Dims) -> usize {
        (dims.input_size as f64 * self.decoder_input_size_multiplier).ceil() as usize
    }

    /// Numbers of all heads.
    pub(crate) fn width(&self) -> usize {
        self.hidden_size / self.n_head * self.n_head
    }

    /// Checks that they fit each other and the windows.
    ///
    /// # Errors
    /// If a head has no numbers, or the decoder begins with nothing or all of the history.
    pub(crate) fn check(&self, dims: &Dims) -> Result<(), HyperParameterError> {
        rules::within(&self.n_head, 1..=self.hidden_size)
            .map_err(|expected| HyperParameterError::new("n_head", expected, self.n_head))?;
        let steps = dims.input_size;
        if (1..steps).contains(&self.label_len(dims)) {
            return Ok(());
        }
        let expected =
            format!("a share of the {steps} steps of history that is above 0 and below all of them");
        let found = self.decoder_input_size_multiplier;
        Err(HyperParameterError::new("decoder_input_size_multiplier", expected, found))
    }

    /// Registers the parameters of a model whose sizes were checked; `attentions` are those of the encoder, of the decoder on
    /// itself, and of the decoder on the encoder.
    pub(crate) fn network(&self, dims: &Dims, scope: &mut Scope<'_>, attentions: [Make<'_>; 3]) -> Network {
        let [of_encoder, of_decoder, across] = attentions;
        let (hidden, dropout) = (self.hidden_size, self.dropout as f32);
        let sizes = DataEmbeddingSizes { inputs: 1, columns: dims.futr_exog, hidden };
        let mut embedding =
            |name: &str| DataEmbedding::without_positions(&mut scope.at(name), sizes, dropout);
        let embeddings = [embedding("enc_embedding"), embedding("dec_embedding")];

        let mut encoder = scope.at("encoder");
        let mut layers = encoder.at("attn_layers");
        let encoder_layers = (0..self.encoder_layers).map(|i| {
            let scope = &mut layers.at(i);
            let attention = of_encoder(&mut scope.at("attention"));
            EncoderLayer { attention, perceptron: Perceptron::new(scope, self) }
        });
        let encoder_layers = encoder_layers.collect();
        let encoder_norm = SeasonalNorm::new(&mut encoder.at("norm"), hidden);

        let mut decoder = scope.at("decoder");
        let mut layers = decoder.at("layers");
        let decoder_layers = (0..self.decoder_layers).map(|i| {
            let scope = &mut layers.at(i);
            let own = of_decoder(&mut scope.at("self_attention"));
            let cross = across(&mut scope.at("cross_attention"));
            let perceptron = Perceptron::new(scope, self);
            let trend = Trend::new(&mut scope.at("projection"), hidden, dims.outputs);
            DecoderLayer { own, cross, perceptron, trend }
        });
        let decoder_layers = decoder_layers.collect();
        Network {
            dims: *dims,
            label_len: self.label_len(dims),
            kernel: self.MovingAvg_window,
            embeddings,
            encoder_layers,
            encoder_norm,
            decoder_layers,
            decoder_norm: SeasonalNorm::new(&mut decoder.at("norm"), hidden),
            projection: Linear::new(&mut decoder.at("projection"), hidden, dims.outputs),
            kept: self.kept_numbers(dims),
        }
    }

    /// About the numbers that a training step keeps of a window, in vectors of a step: of an attention queries, keys, values,
    /// what comes of them, its projection, the sum and its season; of a perceptron its units twice, what comes of them, the
    /// sum and its season; dropout of what it makes.
    fn kept_numbers(&self, dims: &Dims) -> usize {
        let dropped = usize::from(self.dropout > 0.0);
        let (attention, perceptron) = (7 + dropped, 3 + dropped);
        let units = (2 + dropped)
            * if self.conv_hidden_size == 0 { 4 * self.hidden_size } else { self.conv_hidden_size };
        let of = |layers: usize, attentions: usize, steps: usize| {
            let vectors = (attentions * attention + perceptron) * self.hidden_size + units;
            vectors.saturating_mul(layers).saturating_add(4 * self.hidden_size).saturating_mul(steps)
        };
        let ahead = self.label_len(dims) + dims.horizon;
        of(self.encoder_layers, 1, dims.input_size).saturating_add(of(self.decoder_layers, 2, ahead))
    }
}

/// The encoder and the decoder, `[batch, time, hidden]` all along.
pub(crate) struct Network {
    dims: Dims,
    label_len: usize,
    kernel: usize,
    /// Of the encoder and of the decoder.
    embeddings: [DataEmbedding; 2],
    encoder_layers: Vec<EncoderLayer>,
    encoder_norm: SeasonalNorm,
    decoder_layers: Vec<DecoderLayer>,
    decoder_norm: SeasonalNorm,
    projection: Linear,
    kept: usize,
}

struct EncoderLayer {
    attention: Box<dyn Attention>,
    perceptron: Perceptron,
}

struct DecoderLayer {
    /// On the decoder's own steps.
    own: Box<dyn Attention>,
    /// On what the encoder made.
    cross: Box<dyn Attention>,
    perceptron: Perceptron,
    trend: Trend,
}

/// `conv1` and `conv2`, each of one tap and without a bias.
struct Perceptron {
    layers: [Linear; 2],
    activation: Activation,
    dropout: f32,
}

impl Perceptron {
    fn new(scope: &mut Scope<'_>, sizes: &DecomposedSizes) -> Self {
        let hidden = sizes.hidden_size;
        let units = if sizes.conv_hidden_size == 0 { 4 * hidden } else { sizes.conv_hidden_size };
        let layers = [("conv1", [hidden, units]), ("conv2", [units, hidden])];
        Self {
            layers: layers.map(|(name, sizes)| Linear::pointwise(&mut scope.at(name), sizes, false)),
            activation: activation(&sizes.activation).expect("it was checked"),
            dropout: sizes.dropout as f32,
        }
    }

    fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let [first, second] = &self.layers;
        let units = cx.dropout(first.forward(cx, x, self.activation), self.dropout);
        cx.dropout(second.forward(cx, &units, Activation::Identity), self.dropout)
    }
}

/// The convolution that projects what a decoder layer takes off: `weight [outputs, hidden, 3]`, the steps being closed to a
/// circle.
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
        // What each tap makes of a step is for the step after it, for it, and for the one before.
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
        let found = cx.dropout(self.attention.forward(cx, x, x), self.perceptron.dropout);
        let x = (x + found).season(kernel);
        let y = self.perceptron.forward(cx, &x);
        (x + y).season(kernel)
    }
}

impl DecoderLayer {
    /// `x [batch, time, hidden]` and the `source` to the same shape, and the trend that was taken off,
    /// `[batch, time, outputs]`.
    fn forward(&self, cx: &Forward<'_>, x: &Var, source: &Var, kernel: usize) -> [Var; 2] {
        let drop = |x: Var| cx.dropout(x, self.perceptron.dropout);
        let first = x + drop(self.own.forward(cx, x, x));
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
            x = layer.forward(cx, &x, self.kernel);
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
        let y = Var::constant(inputs.insample_y.reshape([batch, input_size, 1]));
        let source = self.encode(cx, &y, columns);

        // The decoder begins with the last steps, their season going on as zeros, their trend as the mean.
        let season = y.season(self.kernel);
        let last = |x: &Var| x.narrow(1, input_size - label_len, label_len);
        let mean = y.mean(1).reshape([batch, 1, 1]).expand([batch, horizon, 1]);
        let mut trend = Var::concat(&[&last(&(&y - &season)), &mean], 1);
        let season = last(&season).pad(1, 0, horizon, foretell_nn::Padding::Zeros);
        let columns = columns.map(|columns| columns.narrow(1, input_size - label_len, steps));
        let mut x = self.embeddings[1].forward(cx, &season, columns.as_ref());
        for layer in &self.decoder_layers {
            let [season, taken] = layer.forward(cx, &x, &source, self.kernel);
            (x, trend) = (season, trend + taken);
        }
        let y = self.decoder_norm.project(cx, &x, &self.projection) + trend;
        y.narrow(1, label_len, horizon)
    }

    fn kept_numbers(&self, _: &Table) -> usize {
        self.kept
    }
}
