//! A linear layer, half of whose outputs gate the others; parameters are named as in neuralforecast's `GLU`.

use foretell_autograd::{Activation, Var};

use crate::{Forward, Linear, Scope};

/// `y = a σ(b) + skip` of `[a, b] = W x + bias` (Dauphin et al. 2017, "Language modeling with gated convolutional networks",
/// arXiv 1612.08083): `lin.weight [2 outputs, inputs]` and `lin.bias`.
#[derive(Clone, Debug)]
pub struct GatedLinear {
    both: Linear,
}

impl GatedLinear {
    /// Registers the layer's parameters in `scope`.
    pub fn new(scope: &mut Scope<'_>, inputs: usize, outputs: usize) -> Self {
        Self { both: Linear::new(&mut scope.at("lin"), inputs, outputs.saturating_mul(2)) }
    }

    /// `x [..., inputs]` to `[..., outputs]`, with `skip [..., outputs]` added if there is one.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn forward(&self, cx: &Forward<'_>, x: &Var, skip: Option<&Var>) -> Var {
        self.both.forward(cx, x, Activation::Identity).gated(skip)
    }
}
