//! Common parts of SOFTS and SOFTSSharp: series that exchange information through a core.
//!
//! Han, Chen, Ye, Zhan 2024, "SOFTS: Efficient Multivariate Time Series Forecasting with Series-Core Fusion" (arXiv
//! 2404.14197): the STar Aggregate-Dispatch module (STAD, section 3.2) makes one vector of all series, the core, by
//! stochastic pooling, and concatenates it with each series: the cost grows with the number N of series, not with N².

use foretell_nn::{
    Activation, Dims, Forward, HyperParameterError, Init, Inputs, InvertedEmbedding, LayerNorm, Linear,
    MAX_POSITIONS, Model, ParamId, PointwisePerceptron, RevIn, RevInConfig, Scope, Shape, Var,
    positional_encoding,
};
use serde_json::{Value, json};

use crate::hyper::hyper_parameters;
use crate::normalised::forecast_normalised;
use crate::rules::{self, MAX_LAYERS, MAX_UNITS};
use crate::transformer::shared::hyper_parameters::units_or_fourfold;

hyper_parameters! {
    StarSizes {
        /// Numbers of the vector of a series.
        hidden_size: usize = 512 => rules::units,
        /// Numbers of the core of all series.
        d_core: usize = 512 => rules::units,
        /// Layers in which series meet in a core.
        e_layers: usize = 2 => |count| rules::within(count, 0..=MAX_LAYERS),
        /// Units of the perceptron that follows on each series; 0 for four times `hidden_size`.
        d_ff: usize = 2048 => |size| rules::within(size, 0..=MAX_UNITS),
        /// Dropout behind each part of a layer.
        dropout: f64 = 0.1 => rules::dropout,
        /// Whether each series of a window is brought to mean 0 and variance 1, and its forecast back.
        use_norm: bool = true,
    }
}

impl StarSizes {
    /// Small sizes, with dropout and without.
    pub(crate) fn small() -> [Value; 2] {
        [
            json!({ "hidden_size": 12, "d_core": 10, "d_ff": 16, "dropout": 0.2 }),
            json!({ "hidden_size": 8, "d_core": 6, "e_layers": 1, "d_ff": 0, "dropout": 0.0, "use_norm": false }),
        ]
    }

    /// Registers the parameters; with `keep`, the positions of the series are encoded with that probability.
    pub(crate) fn network(
        &self,
        dims: &Dims,
        scope: &mut Scope<'_>,
        keep: Option<f32>,
    ) -> Result<Network, HyperParameterError> {
        if keep.is_some() && !self.hidden_size.is_multiple_of(2) {
            let expected = "even, a cosine beside each sine";
            return Err(HyperParameterError::new("hidden_size", expected, self.hidden_size));
        }
        if keep.is_some() && dims.n_series > MAX_POSITIONS {
            let expected = format!("at most {MAX_POSITIONS}, the positions that are encoded");
            return Err(HyperParameterError::new("n_series", expected, dims.n_series));
        }
        let (hidden, dropout) = (self.hidden_size, self.dropout as f32);
        let embedding =
            InvertedEmbedding::new(&mut scope.at("enc_embedding"), dims.input_size, hidden, dropout);
        let mut layers = scope.at("encoder");
        let mut layers = layers.at("attn_layers");
        let layers = (0..self.e_layers).map(|i| Layer::new(&mut layers.at(i), self, keep)).collect();
        let outputs = dims.horizon.saturating_mul(dims.outputs);
        Ok(Network {
            dims: *dims,
            norm: self.use_norm.then(|| RevIn::new(scope, dims.n_series, RevInConfig::default())),
            embedding,
            layers,
            projection: Linear::new(&mut scope.at("projection"), hidden, outputs),
        })
    }

    /// Units of the perceptron.
    fn units(&self) -> usize {
        units_or_fourfold(self.d_ff, self.hidden_size)
    }
}

/// The encoder and its projection; activations are `[windows, series, hidden]` throughout.
pub(crate) struct Network {
    dims: Dims,
    norm: Option<RevIn>,
    embedding: InvertedEmbedding,
    layers: Vec<Layer>,
    projection: Linear,
}

/// STAD, then a perceptron on each series, each with a residual and a norm behind it.
#[derive(Clone)]
struct Layer {
    star: Star,
    perceptron: PointwisePerceptron,
    norms: [LayerNorm; 2],
    dropout: f32,
}

/// The STAD module. `fuse` reads a series and the core side by side; here its two halves are two products, so that the
/// core is multiplied once for all series.
#[derive(Clone)]
struct Star {
    positions: Option<Positions>,
    /// `gen1` and `gen2`.
    aggregate: [Linear; 2],
    /// `gen3`.
    fuse: Linear,
    /// `gen4`.
    out: Linear,
    hidden: usize,
    /// The rate of dropout within the module: 0 in SOFTS, which has none here.
    dropout: f32,
}

/// The encoding of the positions of series: sines and cosines, and how much of them is added.
#[derive(Clone)]
struct Positions {
    encoding: ParamId,
    scale: ParamId,
    /// The probability with which training adds the encoding; inference multiplies the encoding by it.
    keep: f32,
}

impl Layer {
    fn new(scope: &mut Scope<'_>, sizes: &StarSizes, keep: Option<f32>) -> Self {
        let (hidden, units, dropout) = (sizes.hidden_size, sizes.units(), sizes.dropout as f32);
        Self {
            star: Star::new(&mut scope.at("attention"), sizes, keep),
            perceptron: PointwisePerceptron::with(scope, [hidden, units], true, Activation::Gelu, dropout),
            norms: ["norm1", "norm2"].map(|name| LayerNorm::new(&mut scope.at(name), [hidden])),
            dropout,
        }
    }

    fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let x = self.norms[0].forward(cx, &(x + cx.dropout(self.star.forward(cx, x), self.dropout)));
        let y = self.perceptron.forward(cx, &x);
        self.norms[1].forward(cx, &(x + y))
    }
}

impl Star {
    fn new(scope: &mut Scope<'_>, sizes: &StarSizes, keep: Option<f32>) -> Self {
        let &StarSizes { hidden_size: hidden, d_core, dropout, .. } = sizes;
        let positions = keep.map(|keep| Positions {
            encoding: positional_encoding(scope, "positional_embedding.position_embedding", hidden),
            scale: scope.param("pe_scale", Shape::new(&[]), Init::Constant(1.0)),
            keep,
        });
        Self {
            dropout: if positions.is_some() { dropout as f32 } else { 0.0 },
            positions,
            aggregate: [
                Linear::new(&mut scope.at("gen1"), hidden, hidden),
                Linear::new(&mut scope.at("gen2"), hidden, d_core),
            ],
            fuse: Linear::new(&mut scope.at("gen3"), hidden.saturating_add(d_core), hidden),
            out: Linear::new(&mut scope.at("gen4"), hidden, hidden),
            hidden,
        }
    }

    /// `x [windows, series, hidden]` to the same shape.
    fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let placed = self.positions.as_ref().and_then(|positions| positions.add(cx, x));
        let x = placed.as_ref().unwrap_or(x);
        let &[windows, series, _] = &*x.shape() else { unreachable!("[windows, series, hidden]") };
        let [first, second] = &self.aggregate;
        let mixed = cx.dropout(first.forward(cx, x, Activation::Gelu), self.dropout);
        let mixed = second.forward(cx, &mixed, Activation::Identity);
        let core = match cx.is_training() {
            true => mixed.stochastic_pool(cx.next_key()),
            false => mixed.softmax_pool(),
        };
        // With dropout the core differs from series to series.
        let core = match cx.drops() && self.dropout > 0.0 {
            true => cx.dropout(core.expand([windows, series, core.shape()[2]]), self.dropout),
            false => core,
        };
        let fused = self.fuse_with(cx, x, &core).activation(Activation::Gelu);
        self.out.forward(cx, &cx.dropout(fused, self.dropout), Activation::Identity)
    }

    /// `fuse` of `[x | core]`; the core is one for all series, or one for each.
    fn fuse_with(&self, cx: &Forward<'_>, x: &Var, core: &Var) -> Var {
        let weight = cx.param(self.fuse.weight());
        let bias = self.fuse.bias().map(|bias| cx.param(bias));
        let (of_series, of_core) = (
            weight.narrow(1, 0, self.hidden),
            weight.narrow(1, self.hidden, weight.shape()[1] - self.hidden),
        );
        let from_core = core.linear(&of_core, bias.as_ref(), Activation::Identity);
        x.linear(&of_series, None, Activation::Identity) + from_core
    }
}

impl Positions {
    /// `x [windows, series, hidden]` with the encoding of its series; `None` where training draws to leave it out.
    fn add(&self, cx: &Forward<'_>, x: &Var) -> Option<Var> {
        let share = match cx.is_training() {
            true if cx.next_key().uniform(0) < self.keep => 1.0,
            true => return None,
            false => self.keep,
        };
        let encoding = cx.param(self.encoding).narrow(1, 0, x.shape()[1]);
        Some(x + encoding * cx.param(self.scale).scale(share))
    }
}

impl Model for Network {
    fn forward(&self, cx: &Forward<'_>, inputs: &Inputs) -> Var {
        let Dims { input_size, horizon, outputs, n_series, .. } = self.dims;
        let rows = inputs.batch();
        forecast_normalised(self.norm.as_ref(), cx, &inputs.insample_y, |y| {
            let mut x = self.embedding.forward(cx, &y.reshape([rows / n_series, n_series, input_size]), None);
            for layer in &self.layers {
                x = cx.block(layer, &[&x], |layer, cx, v| layer.forward(cx, &v[0]));
            }
            let y = self.projection.forward(cx, &x, Activation::Identity);
            y.reshape([rows, horizon, outputs])
        })
    }
}
