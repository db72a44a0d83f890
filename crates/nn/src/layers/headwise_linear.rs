//! A linear layer in groups of units that do not see each other, named as in the `xlstm` package's `LinearHeadwiseExpand`.

use foretell_autograd::{Tensor, Var};

use crate::{Forward, Init, ParamId, Scope};

/// Numbers in a line of the cache.
const LINE: usize = 16;

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
        let (rows, weight) = (shape.numel() / units, self.blocks(cx));
        let &[blocks, width, _] = &*weight.shape() else { unreachable!("square blocks") };
        let by_block = x.reshape([rows, blocks, width]).permute(&[1, 0, 2]);
        let y = by_block.matmul(&weight.permute(&[0, 2, 1])).permute(&[1, 0, 2]).reshape(shape);
        match self.bias {
            Some(bias) => y + cx.param(bias),
            None => y,
        }
    }

    /// The weights of as many heads as fill a line of the cache, beside zeros in one matrix: products of four units read and write
    /// every line four times, which takes longer than to multiply zeros.
    fn blocks(&self, cx: &Forward<'_>) -> Var {
        let &Self { heads, width, .. } = self;
        let weight = cx.param(self.weight);
        let together = (2..=LINE / width).rev().find(|count| heads.is_multiple_of(*count));
        let Some(together) = together else { return weight };
        let unit = Tensor::build([together, 1, together, 1], |unit| {
            unit.fill(0.0);
            unit.iter_mut().step_by(together + 1).for_each(|diagonal| *diagonal = 1.0);
        });
        let (count, side) = (heads / together, together * width);
        let by_row = weight.reshape([count, together, width, 1, width]);
        (by_row * Var::constant(unit)).reshape([count, side, side])
    }
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn heads_beside_each_other_are_those_alone() {
        for (heads, width) in [(8, 4), (6, 4), (5, 3), (3, 20)] {
            let mut table = Table::default();
            let layer = HeadwiseLinear::new(&mut table.root(), [heads, width], Init::Normal, false);
            let params = table.initialise(1);
            let units = heads * width;
            let x: Vec<f32> = (0..2 * units).map(|i| (i as f32 * 0.7).sin()).collect();
            let input = Var::constant(Tensor::from_slice(&x, [2, units]));
            let y = layer.forward(&Forward::inference(&params), &input).value().to_vec();
            let weight = params.tensor(layer.weight).to_vec();
            for (place, y) in y.iter().enumerate() {
                let (row, head, unit) = (place / units, place % units / width, place % width);
                let weights = &weight[(head * width + unit) * width..][..width];
                let numbers = &x[row * units + head * width..][..width];
                let expected: f32 = weights.iter().zip(numbers).map(|(w, x)| w * x).sum();
                assert!((y - expected).abs() < 1e-5, "{heads} heads of {width}: {y}, expected {expected}");
            }
        }
    }
}
