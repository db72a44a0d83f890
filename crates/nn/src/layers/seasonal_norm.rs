//! Layer normalisation of the seasonal part of a sequence.

use foretell_autograd::{Activation, Var};

use crate::{Forward, Init, LayerNorm, Linear, Scope};

/// Layer normalisation, and then the mean over time subtracted: neuralforecast's `LayerNorm` of Autoformer and FEDformer.
/// Subtracting the mean cancels `layernorm.bias`, so nothing reads it.
#[derive(Clone, Debug)]
pub struct SeasonalNorm {
    norm: LayerNorm,
}

impl SeasonalNorm {
    /// Registers `layernorm.weight` and `layernorm.bias` in `scope`.
    pub fn new(scope: &mut Scope<'_>, hidden: usize) -> Self {
        let mut scope = scope.at("layernorm");
        let norm = LayerNorm::without_bias(&mut scope, [hidden]);
        scope.unread("bias", [hidden], Init::Constant(0.0));
        Self { norm }
    }

    /// `x [batch, time, hidden]` to the same shape.
    pub fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        centred(&self.norm.forward(cx, x))
    }

    /// `layer` on the norm of `x`, `[batch, time, outputs]`: the mean over time is subtracted after the layer, where
    /// there are fewer numbers.
    pub fn project(&self, cx: &Forward<'_>, x: &Var, layer: &Linear) -> Var {
        let y = self.norm.forward(cx, x).linear(&cx.param(layer.weight()), None, Activation::Identity);
        let y = centred(&y);
        layer.bias().map_or_else(|| y.clone(), |bias| &y + cx.param(bias))
    }
}

/// `x [batch, time, width]` minus its mean over time.
fn centred(x: &Var) -> Var {
    let &[batch, _, width] = &*x.shape() else { panic!("[batch, time, width], not {:?}", x.shape()) };
    x - x.mean(1).reshape([batch, 1, width])
}

#[cfg(test)]
mod tests {
    use foretell_autograd::Tensor;

    use super::*;
    use crate::Table;

    #[test]
    fn a_seasonal_norm_is_a_norm_without_its_mean() {
        let mut table = Table::default();
        let norm = SeasonalNorm::new(&mut table.root().at("norm"), 3);
        let plain = LayerNorm::new(&mut table.root().at("plain"), [3]);
        let layer = Linear::new(&mut table.root().at("out"), 3, 2);
        let names: Vec<&str> = table.trained().map(|entry| entry.name.as_str()).collect();
        assert!(!names.contains(&"norm.layernorm.bias"), "{names:?}");
        let mut params = table.initialise(1);
        let weight = Tensor::from_slice(&[0.5, -2.0, 3.0], [3]);
        params.assign("norm.layernorm.weight", &weight).unwrap();
        params.assign("plain.weight", &weight).unwrap();
        params.assign("plain.bias", &Tensor::full([3], 7.0)).unwrap();
        params.assign("norm.layernorm.bias", &Tensor::full([3], 7.0)).unwrap();
        let cx = Forward::inference(&params);
        let x: Vec<f32> = (0..24).map(|i| (i * i % 17) as f32).collect();
        let x = Var::constant(Tensor::from_slice(&x, [2, 4, 3]));
        let expected = centred(&plain.forward(&cx, &x));
        let close = |output: &Var, expected: &Var| {
            let both = output.value().to_vec().into_iter().zip(expected.value().to_vec());
            both.into_iter().all(|(a, b)| (a - b).abs() < 1e-5)
        };
        assert!(close(&norm.forward(&cx, &x), &expected));
        let expected = layer.forward(&cx, &expected, Activation::Identity);
        assert!(close(&norm.project(&cx, &x, &layer), &expected));
    }
}
