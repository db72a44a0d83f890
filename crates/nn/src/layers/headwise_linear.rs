//! A linear layer in groups of units that do not see each other, named as in the `xlstm` package's `LinearHeadwiseExpand`.

use foretell_autograd::Var;

use crate::{Forward, Init, ParamId, Scope};

/// `y = W x + b` for each head of the units: `weight [heads, width, width]` and `bias [heads * width]`.
#[derive(Clone, Debug)]
pub struct HeadwiseLinear {
    weight: ParamId,
    bias: Option<ParamId>,
    heads: usize,
    width: usize,
}

impl HeadwiseLinear {
    /// Registers the layer's parameters in `scope`; a bias, if there is to be one, is 0 at first.
    pub fn new(scope: &mut Scope<'_>, [heads, width]: [usize; 2], weight: Init, bias: bool) -> Self {
        let weight = scope.param("weight", [heads, width, width], weight);
        let bias = bias.then(|| scope.param("bias", [heads * width], Init::Constant(0.0)));
        Self { weight, bias, heads, width }
    }

    /// `x [..., heads * width]` to the same shape.
    ///
    /// # Panics
    /// If the shape does not fit.
    #[track_caller]
    pub fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let (shape, units) = (x.shape(), self.heads * self.width);
        assert_eq!(shape.last(), Some(&units), "a layer of {} heads of {} units", self.heads, self.width);
        let rows = shape.numel() / units;
        let by_head = x.reshape([rows, self.heads, self.width]).permute(&[1, 0, 2]);
        let y = by_head.matmul(&cx.param(self.weight).permute(&[0, 2, 1])).permute(&[1, 0, 2]).reshape(shape);
        match self.bias {
            Some(bias) => y + cx.param(bias),
            None => y,
        }
    }
}

#[cfg(test)]
mod tests {
    use foretell_autograd::Tensor;

    use super::*;
    use crate::Table;

    #[test]
    fn heads_do_not_see_each_other() {
        let mut table = Table::default();
        let layer = HeadwiseLinear::new(&mut table.root(), [2, 2], Init::Normal, true);
        let mut params = table.initialise(1);
        params.assign("bias", &Tensor::from_slice(&[0.0, 0.0, 1.0, 2.0], [4])).expect("a bias of 4 values");
        let x = Var::constant(Tensor::from_slice(&[1.0, 0.0, 0.0, 0.0], [1, 1, 4]));
        let y = layer.forward(&Forward::inference(&params), &x);
        let weight = params.tensor(layer.weight).to_vec();
        assert_eq!(*y.shape(), [1, 1, 4]);
        assert_eq!(y.value().to_vec(), [weight[0], weight[2], 1.0, 2.0]);
    }
}
