//! neuralforecast's MLP module: linear layers with one activation for all, dropout behind each activation.

use foretell_autograd::{Activation, Var};

use crate::{Forward, Linear, Nonlinearity, Scope};

/// The sizes of an [`Mlp`].
#[derive(Clone, Copy, Debug)]
pub struct MlpSizes {
    /// Width of the input.
    pub inputs: usize,
    /// Width of the output.
    pub outputs: usize,
    /// Units of each hidden layer.
    pub hidden: usize,
    /// Linear layers, at least one; with one alone there is no hidden layer and no activation.
    pub layers: usize,
    /// The rate of dropout behind each activation.
    pub dropout: f32,
}

/// Linear layers over the last dimension. Parameters are named as in neuralforecast: `layers.0.weight`, then
/// `layers.3.weight` and so on, since activation and dropout count, too.
#[derive(Clone, Debug)]
pub struct Mlp {
    hidden: Vec<Linear>,
    out: Linear,
    activation: Nonlinearity,
    dropout: f32,
}

impl Mlp {
    /// Registers the parameters in `scope`; `None` if no activation that is known here has this name.
    pub fn new(scope: &mut Scope<'_>, sizes: &MlpSizes, activation: &str) -> Option<Self> {
        let depth = sizes.layers.saturating_sub(1);
        let activation = match activation {
            // Without a hidden layer there is no slope to learn.
            "PReLU" if depth == 0 => Nonlinearity::Fixed(Activation::Identity),
            // One module, registered before the layers, is used behind each of them.
            name => Nonlinearity::named(name, &mut scope.at("activation"))?,
        };
        let mut scope = scope.at("layers");
        let mut inputs = sizes.inputs;
        let mut hidden = Vec::new();
        for k in 0..depth {
            hidden.push(Linear::new(&mut scope.at(3 * k), inputs, sizes.hidden));
            if let Nonlinearity::PRelu(slope) = activation {
                scope.at(3 * k + 1).alias("weight", slope);
            }
            inputs = sizes.hidden;
        }
        let out = Linear::new(&mut scope.at(3 * depth), inputs, sizes.outputs);
        Some(Self { hidden, out, activation, dropout: sizes.dropout })
    }

    /// `x [..., inputs]` to `[..., outputs]`.
    pub fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let mut x = x.clone();
        for layer in &self.hidden {
            x = layer.forward(cx, &x, self.activation.fused());
            x = cx.dropout(self.activation.finish(cx, x), self.dropout);
        }
        self.out.forward(cx, &x, Activation::Identity)
    }
}
