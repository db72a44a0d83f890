//! Layer normalisation (Ba et al. 2016), parameters named as in `torch.nn.LayerNorm`.

use foretell_autograd::{Shape, Tensor, Var};

use crate::{Forward, Init, ParamId, Scope};

/// Normalisation over the last dimensions, those of `shape`, to mean 0 and variance 1, then
/// `weight [shape] · x + bias [shape]`; the weight is 1 and the bias 0 at first.
#[derive(Clone, Debug)]
pub struct LayerNorm {
    shape: Shape,
    eps: f32,
    weight: Option<ParamId>,
    /// Whether the weight is stored as its distance from 1.
    around_one: bool,
    bias: Option<ParamId>,
}

impl LayerNorm {
    /// The number that PyTorch adds to the variance.
    const EPS: f32 = 1e-5;

    /// Registers weight and bias in `scope`.
    ///
    /// ```
    /// use foretell_nn::{Forward, LayerNorm, Table, Tensor, Var};
    ///
    /// let mut table = Table::default();
    /// let norm = LayerNorm::new(&mut table.root(), [2]);
    /// let params = table.initialise(1);
    /// let x = Var::constant(Tensor::from_slice(&[3.0, 7.0], [1, 2]));
    /// let y = norm.forward(&Forward::inference(&params), &x).value().to_vec();
    /// assert!((y[0] + 1.0).abs() < 1e-5 && (y[1] - 1.0).abs() < 1e-5);
    /// ```
    pub fn new(scope: &mut Scope<'_>, shape: impl Into<Shape>) -> Self {
        let norm = Self::without_bias(scope, shape);
        Self { bias: Some(scope.param("bias", norm.shape, Init::Constant(0.0))), ..norm }
    }

    /// Registers a weight only.
    pub fn without_bias(scope: &mut Scope<'_>, shape: impl Into<Shape>) -> Self {
        let norm = Self::without_affine(shape);
        Self { weight: Some(scope.param("weight", norm.shape, Init::Constant(1.0))), ..norm }
    }

    /// Registers a weight only, which is stored as its distance from 1, as in the `xlstm` package's `LayerNorm`.
    pub fn around_one(scope: &mut Scope<'_>, features: usize) -> Self {
        let weight = Some(scope.param("weight", [features], Init::Constant(0.0)));
        Self { weight, around_one: true, ..Self::without_affine([features]) }
    }

    /// Normalises only.
    pub fn without_affine(shape: impl Into<Shape>) -> Self {
        Self { shape: shape.into(), eps: Self::EPS, weight: None, around_one: false, bias: None }
    }

    /// The layer with another number added to the variance.
    #[must_use]
    pub fn with_eps(self, eps: f32) -> Self {
        Self { eps, ..self }
    }

    /// `x [..., shape]` to the same shape.
    ///
    /// # Panics
    /// If the last dimensions of `x` are not those of the layer.
    #[track_caller]
    pub fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let (whole, len) = (x.shape(), self.shape.numel());
        assert!(whole.ends_with(&self.shape), "layer norm over {:?} of shape {whole:?}", self.shape);
        // The operation normalises rows: dimensions beyond the last are written as one.
        let rows = |x: Var, shape: Shape| if x.shape() == shape { x } else { x.reshape(shape) };
        let outer = whole.len() - self.shape.len();
        let row = Shape::new(&[len]);
        let param = |id: Option<ParamId>| id.map(|id| rows(cx.param(id), row));
        let (weight, bias) = (param(self.weight), param(self.bias));
        let weight = weight.map(|weight| if self.around_one { one_more(&weight) } else { weight });
        let affine = weight.as_ref().map(|weight| (weight, bias.as_ref()));
        let x = rows(x.clone(), Shape::new(&whole[..outer]).with(outer, len));
        rows(x.layer_norm(affine, self.eps), whole)
    }
}

/// A weight that is stored as its distance from 1.
pub(super) fn one_more(stored: &Var) -> Var {
    stored + Var::constant(Tensor::full(stored.shape(), 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Table;

    #[test]
    #[should_panic(expected = "layer norm over [3] of shape [2, 4]")]
    fn other_last_dimensions_panic() {
        let params = Table::default().initialise(1);
        let x = Var::constant(Tensor::zeros([2, 4]));
        LayerNorm::without_affine([3]).forward(&Forward::inference(&params), &x);
    }
}
