//! Encoder and decoder of a transformer with the norm behind each residual (Vaswani et al. 2017, "Attention is all you
//! need", arXiv 1706.03762, section 3.1): neuralforecast's `TransEncoder` and `TransDecoder`, parameters named as in it.

use foretell_autograd::{Activation, Var};

use crate::{AttentionSizes, Distilling, Forward, LayerNorm, Linear, MultiHeadAttention, ProbSparse, Scope};

/// The sizes of the layers of an encoder or a decoder.
#[derive(Clone, Copy, Debug)]
pub struct TransformerSizes {
    /// Width of a step's vector.
    pub hidden: usize,
    /// Heads of each attention.
    pub heads: usize,
    /// Units of the perceptron behind it.
    pub units: usize,
    /// The activation of the units.
    pub activation: Activation,
    /// The rate of dropout: of the attention's probabilities and behind each part.
    pub dropout: f32,
}

impl TransformerSizes {
    fn attention(&self, scope: &mut Scope<'_>, sparse: Option<ProbSparse>) -> MultiHeadAttention {
        let &Self { hidden, heads, dropout, .. } = self;
        match sparse {
            Some(sparse) => MultiHeadAttention::prob_sparse(scope, [hidden, heads], sparse),
            None => MultiHeadAttention::new(scope, AttentionSizes { hidden, heads, dropout }),
        }
    }

    fn norm(&self, scope: &mut Scope<'_>, name: &str) -> LayerNorm {
        LayerNorm::new(&mut scope.at(name), [self.hidden])
    }
}

/// A perceptron on each step: the pointwise convolutions `conv1`, to the units, and `conv2`, back, with dropout after
/// each.
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
    /// One after each layer but the last, or none at all.
    distilling: Vec<Distilling>,
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
    /// Registers this number of layers in `scope`.
    pub fn new(scope: &mut Scope<'_>, layers: usize, sizes: TransformerSizes) -> Self {
        Self::of(scope, layers, &sizes, None)
    }

    /// Registers this number of layers of ProbSparse attention in `scope`, and, to `distil`, between any two of them
    /// a [`Distilling`], `conv_layers.0` and so on.
    pub fn prob_sparse(
        scope: &mut Scope<'_>,
        layers: usize,
        sizes: TransformerSizes,
        factor: usize,
        distil: bool,
    ) -> Self {
        let encoder = Self::of(scope, layers, &sizes, Some(ProbSparse { factor, causal: false }));
        let mut all = scope.at("conv_layers");
        let between = if distil { layers.saturating_sub(1) } else { 0 };
        let distilling = (0..between).map(|i| Distilling::new(&mut all.at(i), sizes.hidden)).collect();
        Self { distilling, ..encoder }
    }

    fn of(
        scope: &mut Scope<'_>,
        layers: usize,
        sizes: &TransformerSizes,
        sparse: Option<ProbSparse>,
    ) -> Self {
        let mut all = scope.at("attn_layers");
        let layers = (0..layers).map(|i| EncoderLayer::new(&mut all.at(i), sizes, sparse)).collect();
        Self { layers, distilling: Vec::new(), norm: sizes.norm(scope, "norm") }
    }

    /// `x [batch, time, hidden]` to the same shape, or, distilled, to fewer steps.
    pub fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let mut x = x.clone();
        for (i, layer) in self.layers.iter().enumerate() {
            x = cx.block(layer, &[&x], |layer, cx, v| layer.forward(cx, &v[0]));
            if let Some(distilling) = self.distilling.get(i) {
                x = distilling.forward(cx, &x);
            }
        }
        self.norm.forward(cx, &x)
    }
}

impl EncoderLayer {
    fn new(scope: &mut Scope<'_>, sizes: &TransformerSizes, sparse: Option<ProbSparse>) -> Self {
        Self {
            attention: sizes.attention(&mut scope.at("attention"), sparse),
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

/// Layers of self-attention, attention to the encoder's output, and a perceptron, each with a residual and a norm behind it:
/// `layers.0` and so on, each of `self_attention`, `cross_attention`, `conv1`, `conv2`, `norm1`, `norm2` and `norm3`; a last
/// `norm`, and the linear layer `projection`.
///
/// No mask hides later steps, as in neuralforecast, whose `TransDecoder` gets none; ProbSparse attention hides them by
/// itself.
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
    /// Registers this number of layers in `scope`, and a projection to `outputs` numbers a step.
    pub fn new(scope: &mut Scope<'_>, layers: usize, outputs: usize, sizes: TransformerSizes) -> Self {
        Self::of(scope, [layers, outputs], &sizes, None)
    }

    /// [`TransformerDecoder::new`] of ProbSparse attention, whose self-attention is causal.
    pub fn prob_sparse(
        scope: &mut Scope<'_>,
        layers: usize,
        outputs: usize,
        sizes: TransformerSizes,
        factor: usize,
    ) -> Self {
        Self::of(scope, [layers, outputs], &sizes, Some(factor))
    }

    fn of(
        scope: &mut Scope<'_>,
        [layers, outputs]: [usize; 2],
        sizes: &TransformerSizes,
        factor: Option<usize>,
    ) -> Self {
        let mut all = scope.at("layers");
        let layers = (0..layers).map(|i| DecoderLayer::new(&mut all.at(i), sizes, factor)).collect();
        let norm = sizes.norm(scope, "norm");
        Self { layers, norm, projection: Linear::new(&mut scope.at("projection"), sizes.hidden, outputs) }
    }

    /// The decoder's last `last` steps for `x [batch, time, hidden]` and the encoder's result
    /// `encoded [batch, other time, hidden]`: `[batch, last, outputs]`. The last layer computes only these steps, as
    /// nothing reads the others.
    ///
    /// # Panics
    /// If `x` has fewer steps, or the shapes do not fit.
    #[track_caller]
    pub fn forward(&self, cx: &Forward<'_>, x: &Var, encoded: &Var, last: usize) -> Var {
        let y = match self.layers.split_last() {
            None => x.narrow(1, x.shape()[1] - last, last),
            Some((layer, before)) => {
                let run = |layer: &DecoderLayer, x: &Var, last| {
                    cx.block(layer, &[x, encoded], move |layer, cx, v| layer.forward(cx, &v[0], &v[1], last))
                };
                let x = before.iter().fold(x.clone(), |x, layer| run(layer, &x, x.shape()[1]));
                run(layer, &x, last)
            }
        };
        self.projection.forward(cx, &self.norm.forward(cx, &y), Activation::Identity)
    }
}

impl DecoderLayer {
    fn new(scope: &mut Scope<'_>, sizes: &TransformerSizes, factor: Option<usize>) -> Self {
        let mut attention = |name: &str, causal| {
            let sparse = factor.map(|factor| ProbSparse { factor, causal });
            sizes.attention(&mut scope.at(name), sparse)
        };
        Self {
            own: attention("self_attention", true),
            cross: attention("cross_attention", false),
            perceptron: PointwisePerceptron::new(scope, sizes),
            norms: ["norm1", "norm2", "norm3"].map(|name| sizes.norm(scope, name)),
            dropout: sizes.dropout,
        }
    }

    /// The last `last` steps of the layer's result; its steps attend to all steps of `x`, then to `encoded`.
    fn forward(&self, cx: &Forward<'_>, x: &Var, encoded: &Var, last: usize) -> Var {
        let end = |x: &Var, last: usize| x.narrow(1, x.shape()[1] - last, last);
        let [first, second, third] = &self.norms;
        // With sparse attention the last queries depend on the others.
        let asking = if self.cross.is_sparse() { x.shape()[1] } else { last };
        let read = cx.dropout(self.own.forward_last(cx, x, x, asking), self.dropout);
        let x = first.forward(cx, &(end(x, asking) + read));
        let read = cx.dropout(self.cross.forward_last(cx, &x, encoded, last), self.dropout);
        let x = second.forward(cx, &(end(&x, last) + read));
        let y = self.perceptron.forward(cx, &x);
        third.forward(cx, &(x + y))
    }
}
