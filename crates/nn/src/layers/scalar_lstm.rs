//! sLSTM: an LSTM with exponential gates; parameters are named as in the `xlstm` package's `sLSTMLayer`, whose kernels for GPUs lay
//! the recurrent weights out so.

use foretell_autograd::{Activation, Var};

use crate::init::Curve;
use crate::layers::layer_norm::{LayerNorm, one_more};
use crate::layers::matrix_lstm::{HEADS, convolve, inner_units, residual_init, small_init, unit_convolution};
use crate::{Forward, HeadwiseLinear, Init, Linear, ParamId, Scope};

/// The gates i, f, z and o.
const GATES: usize = 4;

/// The sizes of a [`ScalarLstm`].
#[derive(Clone, Copy, Debug)]
pub struct ScalarLstmSizes {
    /// Units of the input and of the output, a whole number of times 4.
    pub units: usize,
    /// The rate of dropout behind the recurrence.
    pub dropout: f32,
    /// Which block of the network it is in, from 0 on; the first biases of its forget gate depend on it.
    pub block: usize,
    /// Blocks of the network.
    pub blocks: usize,
}

/// The layer of Beck et al. 2024, "xLSTM" (arXiv 2405.04517), figure 10, before its feed-forward layers.
#[derive(Clone, Debug)]
pub struct ScalarLstm {
    units: usize,
    convolution: [ParamId; 2],
    /// In the order of the gates i, f, z and o; the package calls the first two `fgate` and `igate`.
    gates: [HeadwiseLinear; GATES],
    /// `[heads, width, 4 width]`.
    recurrent: ParamId,
    /// `[heads * 4 * width]`.
    bias: ParamId,
    norm: LayerNorm,
    norm_weight: ParamId,
    dropout: f32,
}

impl ScalarLstm {
    /// Groups of units that see each other.
    pub const HEADS: usize = HEADS;

    /// Registers the layer's parameters in `scope`.
    ///
    /// # Panics
    /// If the heads do not divide the units.
    #[track_caller]
    pub fn new(scope: &mut Scope<'_>, sizes: &ScalarLstmSizes) -> Self {
        let &ScalarLstmSizes { units, dropout, block, blocks } = sizes;
        assert!(units.is_multiple_of(HEADS), "{units} units in {HEADS} heads");
        let (width, zeros) = (units / HEADS, Init::Constant(0.0));
        let convolution = unit_convolution(scope, units);
        let gates = ["fgate", "igate", "zgate", "ogate"]
            .map(|name| HeadwiseLinear::new(&mut scope.at(name), [HEADS, width], small_init(units), false));
        let mut cell = scope.at("slstm_cell");
        let recurrent = cell.param("_recurrent_kernel_", [HEADS, width, GATES * width], zeros);
        let depth = if blocks > 1 { block as f32 / (blocks - 1) as f32 } else { 0.0 };
        let forget =
            Curve { among: GATES, place: 1, power: 0.3 + 1.3 * depth, ..Curve::line(width, [5.0, -7.0]) };
        let bias = cell.param("_bias_", [HEADS * GATES * width], Init::Curve(forget));
        let norm_weight = scope.at("group_norm").param("weight", [units], zeros);
        let norm = LayerNorm::without_affine([width]);
        Self { units, convolution, gates, recurrent, bias, norm, norm_weight, dropout }
    }

    /// `x [batch, steps, units]` to the same shape; no step sees later ones.
    ///
    /// # Panics
    /// If the shape does not fit.
    #[track_caller]
    pub fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let (shape, width) = (x.shape(), self.units / HEADS);
        let seen = convolve(cx, self.convolution, x);
        let [i, f, z, o] = &self.gates;
        let sums = [(i, &seen), (f, &seen), (z, x), (o, x)].map(|(layer, x)| layer.forward(cx, x));
        let bias = cx.param(self.bias).reshape([HEADS, GATES, width]).permute(&[1, 0, 2]);
        let sums = Var::concat(&sums, 2) + bias.reshape([GATES * self.units]);
        let states = sums.permute(&[1, 0, 2]).scalar_memory(&cx.param(self.recurrent)).permute(&[1, 0, 2]);
        let &[batch, steps, _] = &*shape else { unreachable!("sequences of units") };
        let by_head = cx.dropout(states, self.dropout).reshape([batch, steps, HEADS, width]);
        self.norm.forward(cx, &by_head).reshape(shape) * one_more(&cx.param(self.norm_weight))
    }
}

/// `W (gelu(a) b)` of `[a, b] = V x`, named as in the package's `GatedFeedForward`.
#[derive(Clone, Debug)]
pub struct GatedFeedForward {
    inner: usize,
    up: Linear,
    down: Linear,
}

impl GatedFeedForward {
    /// Registers the parameters in `scope`, for a network of some blocks.
    pub fn new(scope: &mut Scope<'_>, units: usize, blocks: usize) -> Self {
        let inner = inner_units(units, 1.3);
        let up = Linear::with(&mut scope.at("proj_up"), [units, 2 * inner], small_init(units), None);
        let down =
            Linear::with(&mut scope.at("proj_down"), [inner, units], residual_init(units, blocks), None);
        Self { inner, up, down }
    }

    /// `x [..., units]` to the same shape.
    pub fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let both = self.up.forward(cx, x, Activation::Identity);
        let last = both.shape().len() - 1;
        let [gate, value] = [0, 1].map(|half| both.narrow(last, half * self.inner, self.inner));
        self.down.forward(cx, &(gate.activation(Activation::Gelu) * value), Activation::Identity)
    }
}

#[cfg(test)]
mod tests {
    use foretell_autograd::{Key, Tensor};

    use super::*;
    use crate::Table;

    #[test]
    fn no_step_sees_later_ones() {
        let mut table = Table::default();
        let sizes = ScalarLstmSizes { units: 8, dropout: 0.0, block: 1, blocks: 2 };
        let layer = ScalarLstm::new(&mut table.root(), &sizes);
        let params = table.initialise(1);
        let run = |last: f32| {
            let mut x = Tensor::build([1, 5, 8], |x| Init::Normal.fill(Key::new(2), x));
            x.values_mut()[32..].fill(last);
            layer.forward(&Forward::inference(&params), &Var::constant(x)).value().to_vec()
        };
        let (one, other) = (run(0.0), run(3.0));
        assert_eq!(one[..32], other[..32]);
        assert_ne!(one[32..], other[32..]);
    }

    #[test]
    fn the_forget_gates_start_between_5_and_minus_7() {
        let mut table = Table::default();
        let sizes = ScalarLstmSizes { units: 12, dropout: 0.0, block: 0, blocks: 1 };
        let layer = ScalarLstm::new(&mut table.root(), &sizes);
        let bias = table.initialise(1).tensor(layer.bias).to_vec();
        let middle = 5.0 - 12.0 * 0.5_f32.powf(0.3);
        for head in bias.chunks(12) {
            let expected = [0.0, 0.0, 0.0, 5.0, middle, -7.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
            assert!(
                head.iter().zip(expected).all(|(bias, expected)| (bias - expected).abs() < 1e-6),
                "{head:?}"
            );
        }
    }
}
