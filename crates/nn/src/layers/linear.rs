//! `y = activation(x Wᵀ + b)`, parameters named as in `torch.nn.Linear`.

use std::ops::Range;

use foretell_autograd::{Activation, Var};

use crate::{Forward, Init, ParamId, Scope};

/// A linear layer: `weight [outputs, inputs]`, `bias [outputs]`, both uniform within `1 / sqrt(inputs)`.
#[derive(Clone, Debug)]
pub struct Linear {
    pub(crate) weight: ParamId,
    pub(crate) bias: ParamId,
}

impl Linear {
    /// Registers the layer's parameters in `scope`.
    pub fn new(scope: &mut Scope<'_>, inputs: usize, outputs: usize) -> Self {
        let init = Init::fan_in(inputs);
        Self {
            weight: scope.param("weight", [outputs, inputs], init),
            bias: scope.param("bias", [outputs], init),
        }
    }

    /// `x [..., inputs]` to `[..., outputs]`.
    pub fn forward(&self, cx: &Forward<'_>, x: &Var, activation: Activation) -> Var {
        x.linear(&cx.param(self.weight), Some(&cx.param(self.bias)), activation)
    }

    /// Some of the outputs only: `x [..., inputs]` to `[..., rows.len()]`.
    pub fn rows(&self, cx: &Forward<'_>, x: &Var, rows: Range<usize>) -> Var {
        let part = |id| cx.param(id).narrow(0, rows.start, rows.len());
        x.linear(&part(self.weight), Some(&part(self.bias)), Activation::Identity)
    }
}
