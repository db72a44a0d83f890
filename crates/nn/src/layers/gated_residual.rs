//! Gated residual networks (Lim, Arik, Loeff and Pfister 2021, "Temporal Fusion Transformers for interpretable multi-horizon
//! time series forecasting", arXiv 1912.09363, section 4.1), parameters named as in neuralforecast's `GRN`.

use foretell_autograd::{Activation, Var};

use crate::{EmbeddedNumbers, Forward, GatedLinear, LayerNorm, Linear, Scope};

/// The sizes of a [`GatedResidual`].
#[derive(Clone, Copy, Debug)]
pub struct GatedResidualSizes {
    /// Width of the input.
    pub inputs: usize,
    /// Units inside.
    pub hidden: usize,
    /// The size of the output, onto which the input is projected. With `None` it is `hidden`, and the input is added
    /// as it is.
    pub outputs: Option<usize>,
    /// Whether it has a context.
    pub context: ResidualContext,
    /// The rate of dropout before the gate.
    pub dropout: f32,
    /// The activation of the units.
    pub activation: Activation,
}

/// The context of `hidden` numbers that a [`GatedResidual`] may see beside its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResidualContext {
    /// No context.
    None,
    /// No context, but weights for one, which PyTorch's state dictionary lists: in neuralforecast it is zeros or
    /// never there.
    Unused,
    /// A context.
    Read,
}

/// ```text
/// y = norm(skip + GLU(dropout(W_i f(W_a x + b_a + W_c c) + b_i)))
/// ```
///
/// with f the activation, GLU a [`GatedLinear`], and a layer norm that adds 0.001 to the variance; `skip` is x, or
/// `W_o x + b_o` where the number of outputs is set. Parameters: `lin_a`, `lin_c` (a weight alone), `lin_i`, `glu`,
/// `out_proj`, `layer_norm.ln`; with one output there is no norm.
#[derive(Clone, Debug)]
pub struct GatedResidual {
    first: Linear,
    context: Option<Linear>,
    second: Linear,
    gate: GatedLinear,
    projection: Option<Linear>,
    norm: Option<LayerNorm>,
    activation: Activation,
    dropout: f32,
}

impl GatedResidual {
    /// The number that neuralforecast adds to the variance in the norms of its Temporal Fusion Transformer.
    pub const NORM_EPS: f32 = 1e-3;

    /// Registers the parameters in `scope`.
    pub fn new(scope: &mut Scope<'_>, sizes: &GatedResidualSizes) -> Self {
        let &GatedResidualSizes { inputs, hidden, outputs, context, dropout, activation } = sizes;
        let width = outputs.unwrap_or(hidden);
        let norm = (outputs != Some(1))
            .then(|| LayerNorm::new(&mut scope.at("layer_norm.ln"), [width]).with_eps(Self::NORM_EPS));
        let first = Linear::new(&mut scope.at("lin_a"), inputs, hidden);
        let context = match context {
            ResidualContext::None => None,
            ResidualContext::Unused => {
                Linear::unread(&mut scope.at("lin_c"), [hidden, hidden], false);
                None
            }
            ResidualContext::Read => Some(Linear::without_bias(&mut scope.at("lin_c"), hidden, hidden)),
        };
        let second = Linear::new(&mut scope.at("lin_i"), hidden, hidden);
        let gate = GatedLinear::new(&mut scope.at("glu"), hidden, width);
        let projection = outputs.map(|outputs| Linear::new(&mut scope.at("out_proj"), inputs, outputs));
        Self { first, context, second, gate, projection, norm, activation, dropout }
    }

    /// Registers the parameters of a network of one output, with weights for a context, on which nothing depends.
    pub(crate) fn unread(scope: &mut Scope<'_>, inputs: usize, hidden: usize) {
        let layers = [
            ("lin_a", inputs, hidden),
            ("lin_i", hidden, hidden),
            ("glu.lin", hidden, 2),
            ("out_proj", inputs, 1),
        ];
        Linear::unread(&mut scope.at("lin_c"), [hidden, hidden], false);
        for (name, inputs, outputs) in layers {
            Linear::unread(&mut scope.at(name), [inputs, outputs], true);
        }
    }

    /// `x [..., batch, inputs]` and, of a network that reads one, a context `[batch, hidden]`, to `[..., batch, outputs]`.
    ///
    /// # Panics
    /// If the shapes do not fit, or there is a context for a network that reads none, or none for one that reads one.
    #[track_caller]
    pub fn forward(&self, cx: &Forward<'_>, x: &Var, context: Option<&Var>) -> Var {
        self.run(cx, &|layer, activation| layer.forward(cx, x, activation), || x.clone(), context)
    }

    /// [`GatedResidual::forward`] of the vectors of embedded numbers side by side.
    #[track_caller]
    pub(crate) fn forward_embedded(
        &self,
        cx: &Forward<'_>,
        x: &EmbeddedNumbers,
        context: Option<&Var>,
    ) -> Var {
        self.run(cx, &|layer, activation| x.linear(cx, layer, activation), || x.vector(), context)
    }

    /// The network: `product` is the input's product with a layer, `input` the input itself, for where it is added
    /// without a projection.
    #[track_caller]
    fn run(
        &self,
        cx: &Forward<'_>,
        product: &dyn Fn(&Linear, Activation) -> Var,
        input: impl FnOnce() -> Var,
        context: Option<&Var>,
    ) -> Var {
        let hidden = match (&self.context, context) {
            (None, None) => product(&self.first, self.activation),
            (Some(layer), Some(context)) => {
                let added = layer.forward(cx, context, Activation::Identity);
                product(&self.first, Activation::Identity).add(&added).activation(self.activation)
            }
            (layer, _) => {
                panic!("a context is {}", if layer.is_some() { "missing" } else { "read by nothing" })
            }
        };
        let hidden = cx.dropout(self.second.forward(cx, &hidden, Activation::Identity), self.dropout);
        let skip = match &self.projection {
            Some(layer) => product(layer, Activation::Identity),
            None => input(),
        };
        let sum = self.gate.forward(cx, &hidden, Some(&skip));
        match &self.norm {
            Some(norm) => norm.forward(cx, &sum),
            None => sum,
        }
    }
}
