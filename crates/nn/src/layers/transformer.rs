//! Encoder and decoder of a transformer with the norm behind each residual (Vaswani et al. 2017, "Attention is all you
//! need", arXiv 1706.03762, section 3.1): neuralforecast's `TransEncoder` and `TransDecoder`, parameters named as in it.

use foretell_autograd::{Activation, Var};

use crate::{AttentionSizes, Forward, LayerNorm, Linear, MultiHeadAttention, Scope};

/// The sizes of the layers of an encoder or a decoder.
#[derive(Clone, Copy, Debug)]
pub struct TransformerSizes {
    /// Numbers of a step.
    pub hidden: usize,
    /// Heads of each attention.
    pub heads: usize,
    /// Units of the perceptron behind it.
    pub units: usize,
    /// Their activation.
    pub activation: Activation,
    /// The rate of dropout: of the attention's probabilities and behind each part.
    pub dropout: f32,
}

impl TransformerSizes {
    /// Numbers that a training step keeps of a step that goes through a layer of an encoder.
    pub fn kept_by_encoder_layer(&self) -> usize {
        self.kept(1)
    }

    /// Numbers that a training step keeps of a step that goes through a layer of a decoder, the keys and values of what it
    /// reads apart: two for each of its steps, of `hidden` numbers.
    pub fn kept_by_decoder_layer(&self) -> usize {
        self.kept(2)
    }

    fn kept(&self, attentions: usize) -> usize {
        let dropped = usize::from(self.dropout > 0.0);
        // Of an attention queries, keys, values, what the heads bring, the result, the sum and its norm; of the
        // perceptron what is before and behind its activation, the result, the sum and its norm.
        let of_attention = (7 + dropped).saturating_mul(self.hidden);
        let of_perceptron = (3 + dropped)
            .saturating_mul(self.hidden)
            .saturating_add((2 + dropped).saturating_mul(self.units));
        of_attention.saturating_mul(attentions).saturating_add(of_perceptron)
    }

    fn attention(&self, scope: &mut Scope<'_>) -> MultiHeadAttention {
        let &Self { hidden, heads, dropout, .. } = self;
        MultiHeadAttention::new(scope, AttentionSizes { hidden, heads, dropout })
    }

    fn norm(&self, scope: &mut Scope<'_>, name: &str) -> LayerNorm {
        LayerNorm::new(&mut scope.at(name), [self.hidden])
    }
}

/// A perceptron on each step: the pointwise convolutions `conv1`, to the units, and `conv2`, back, with dropout behind each.
#[derive(Clone, Debug)]
pub struct PointwisePerceptron {
    layers: [Linear; 2],
    activation: Activation,
    dropout: f32,
}

impl PointwisePerceptron {
    /// Registers the two layers of a layer of these sizes in `scope`, each with a bias.
    pub fn new(scope: &mut Scope<'_>, sizes: &TransformerSizes) -> Self {
        let &TransformerSizes { hidden, units, activation, dropout, .. } = sizes;
        Self::with(scope, [hidden, units], true, activation, dropout)
    }

    /// Registers the two layers in `scope`, with biases or without.
    pub fn with(
        scope: &mut Scope<'_>,
        [hidden, units]: [usize; 2],
        bias: bool,
        activation: Activation,
        dropout: f32,
    ) -> Self {
        let first = Linear::pointwise(&mut scope.at("conv1"), [hidden, units], bias);
        let second = Linear::pointwise(&mut scope.at("conv2"), [units, hidden], bias);
        Self { layers: [first, second], activation, dropout }
    }

    /// `x [..., hidden]` to the same shape.
    pub fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let [first, second] = &self.layers;
        let inner = cx.dropout(first.forward(cx, x, self.activation), self.dropout);
        cx.dropout(second.forward(cx, &inner, Activation::Identity), self.dropout)
    }
}

/// Layers of self-attention and a perceptron, each with a residual and a norm behind it: `attn_layers.0` and so on, each of
/// `attention`, `conv1`, `conv2`, `norm1` and `norm2`; and a last `norm`.
#[derive(Clone, Debug)]
pub struct TransformerEncoder {
    layers: Vec<EncoderLayer>,
    norm: LayerNorm,
}

#[derive(Clone, Debug)]
struct EncoderLayer {
    attention: MultiHeadAttention,
    perceptron: PointwisePerceptron,
    norms: [LayerNorm; 2],
    dropout: f32,
}

impl TransformerEncoder {
    /// Registers so many layers in `scope`.
    pub fn new(scope: &mut Scope<'_>, layers: usize, sizes: TransformerSizes) -> Self {
        let mut all = scope.at("attn_layers");
        let layers = (0..layers).map(|i| EncoderLayer::new(&mut all.at(i), &sizes)).collect();
        Self { layers, norm: sizes.norm(scope, "norm") }
    }

    /// `x [batch, time, hidden]` to the same shape.
    pub fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let mut x = x.clone();
        for layer in &self.layers {
            x = layer.forward(cx, &x);
        }
        self.norm.forward(cx, &x)
    }
}

impl EncoderLayer {
    fn new(scope: &mut Scope<'_>, sizes: &TransformerSizes) -> Self {
        Self {
            attention: sizes.attention(&mut scope.at("attention")),
            perceptron: PointwisePerceptron::new(scope, sizes),
            norms: ["norm1", "norm2"].map(|name| sizes.norm(scope, name)),
            dropout: sizes.dropout,
        }
    }

    fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let read = cx.dropout(self.attention.forward(cx, x, x), self.dropout);
        let x = self.norms[0].forward(cx, &(x + read));
        let y = self.perceptron.forward(cx, &x);
        self.norms[1].forward(cx, &(x + y))
    }
}

/// Layers of self-attention, attention to what the encoder made, and a perceptron, each with a residual and a norm behind it:
/// `layers.0` and so on, each of `self_attention`, `cross_attention`, `conv1`, `conv2`, `norm1`, `norm2` and `norm3`; a last
/// `norm`, and the linear layer `projection`.
///
/// No mask hides later steps, as in neuralforecast, whose `TransDecoder` is given none.
#[derive(Clone, Debug)]
pub struct TransformerDecoder {
    layers: Vec<DecoderLayer>,
    norm: LayerNorm,
    projection: Linear,
}

#[derive(Clone, Debug)]
struct DecoderLayer {
    own: MultiHeadAttention,
    cross: MultiHeadAttention,
    perceptron: PointwisePerceptron,
    norms: [LayerNorm; 3],
    dropout: f32,
}

impl TransformerDecoder {
    /// Registers so many layers in `scope`, and a projection to `outputs` numbers a step.
    pub fn new(scope: &mut Scope<'_>, layers: usize, outputs: usize, sizes: TransformerSizes) -> Self {
        let mut all = scope.at("layers");
        let layers = (0..layers).map(|i| DecoderLayer::new(&mut all.at(i), &sizes)).collect();
        let norm = sizes.norm(scope, "norm");
        Self { layers, norm, projection: Linear::new(&mut scope.at("projection"), sizes.hidden, outputs) }
    }

    /// The last `last` steps of `x [batch, time, hidden]` having read `encoded [batch, other time, hidden]`: `[batch, last,
    /// outputs]`. What the last layer would make of the other steps nobody reads, so it is not computed.
    ///
    /// # Panics
    /// If `x` has fewer steps, or the shapes do not fit.
    #[track_caller]
    pub fn forward(&self, cx: &Forward<'_>, x: &Var, encoded: &Var, last: usize) -> Var {
        let end = |x: &Var| x.narrow(1, x.shape()[1] - last, last);
        let y = match self.layers.split_last() {
            None => end(x),
            Some((layer, before)) => {
                let mut x = x.clone();
                for layer in before {
                    x = layer.forward(cx, &x, &x, encoded);
                }
                layer.forward(cx, &end(&x), &x, encoded)
            }
        };
        self.projection.forward(cx, &self.norm.forward(cx, &y), Activation::Identity)
    }
}

impl DecoderLayer {
    fn new(scope: &mut Scope<'_>, sizes: &TransformerSizes) -> Self {
        Self {
            own: sizes.attention(&mut scope.at("self_attention")),
            cross: sizes.attention(&mut scope.at("cross_attention")),
            perceptron: PointwisePerceptron::new(scope, sizes),
            norms: ["norm1", "norm2", "norm3"].map(|name| sizes.norm(scope, name)),
            dropout: sizes.dropout,
        }
    }

    /// Some of the steps, `x`, having read `all` steps and then what was `encoded`.
    fn forward(&self, cx: &Forward<'_>, x: &Var, all: &Var, encoded: &Var) -> Var {
        let [first, second, third] = &self.norms;
        let x = first.forward(cx, &(x + cx.dropout(self.own.forward(cx, x, all), self.dropout)));
        let read = cx.dropout(self.cross.forward(cx, &x, encoded), self.dropout);
        let x = second.forward(cx, &(x + read));
        let y = self.perceptron.forward(cx, &x);
        third.forward(cx, &(x + y))
    }
}
