//! neuralforecast's `CausalConv1d`: a causal convolution with an activation of its own.

use foretell_autograd::Var;

use crate::{Forward, Init, Nonlinearity, ParamId, Scope};

/// The sizes of a [`CausalConv1d`].
#[derive(Clone, Copy, Debug)]
pub struct CausalConv1dSizes {
    /// Channels of the input.
    pub inputs: usize,
    /// Channels of the output.
    pub outputs: usize,
    /// Taps of the kernel.
    pub kernel: usize,
    /// Steps from one tap to the next.
    pub dilation: usize,
}

/// `activation(x * w + b)` over time, where no step sees later ones: `conv.weight [outputs, inputs, kernel]` and
/// `conv.bias [outputs]`, both uniform within `1 / sqrt(inputs * kernel)` at first. The state dictionary of
/// neuralforecast's module lists both a second time, as a part of `causalconv`.
#[derive(Clone, Debug)]
pub struct CausalConv1d {
    weight: ParamId,
    bias: ParamId,
    dilation: usize,
    activation: Nonlinearity,
}

impl CausalConv1d {
    /// Registers the layer's parameters in `scope`; `None` if no activation that is known here has this name.
    pub fn new(scope: &mut Scope<'_>, sizes: &CausalConv1dSizes, activation: &str) -> Option<Self> {
        let &CausalConv1dSizes { inputs, outputs, kernel, dilation } = sizes;
        let init = Init::fan_in(inputs.saturating_mul(kernel));
        let weight = scope.param("conv.weight", [outputs, inputs, kernel], init);
        let bias = scope.param("conv.bias", [outputs], init);
        let activation = Nonlinearity::named(activation, &mut scope.at("activation"))?;
        scope.alias_all("causalconv.0", "conv");
        scope.alias_all("causalconv.2", "activation");
        Some(Self { weight, bias, dilation, activation })
    }

    /// `x [steps, batch, inputs]` to `[steps, batch, outputs]`.
    pub fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let y = cx.causal_convolution([self.weight, self.bias], x, self.activation.fused(), self.dilation);
        self.activation.finish(cx, y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Table;

    #[test]
    fn names_and_shapes_are_those_of_neuralforecast() {
        let mut table = Table::default();
        let sizes = CausalConv1dSizes { inputs: 3, outputs: 4, kernel: 2, dilation: 1 };
        assert!(CausalConv1d::new(&mut table.root().at("tcn.0"), &sizes, "PReLU").is_some());
        let entries: Vec<_> = table.entries().iter().map(|e| (e.name.as_str(), e.shape.to_vec())).collect();
        let expected = [
            ("tcn.0.conv.weight", vec![4, 3, 2]),
            ("tcn.0.conv.bias", vec![4]),
            ("tcn.0.activation.weight", vec![1]),
        ];
        assert_eq!(entries, expected);
        let aliases: Vec<_> = table.aliases().iter().map(|alias| alias.name.as_str()).collect();
        let expected = ["tcn.0.causalconv.0.weight", "tcn.0.causalconv.0.bias", "tcn.0.causalconv.2.weight"];
        assert_eq!(aliases, expected);
        assert!(CausalConv1d::new(&mut table.root(), &sizes, "GLU").is_none());
    }
}
