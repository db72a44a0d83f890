//! mLSTM: an LSTM whose memory is a matrix for each head; parameters are named as in the `xlstm` package's `mLSTMLayer`.

use foretell_autograd::{Activation, Conv1d, Var};

use crate::init::Curve;
use crate::layers::layer_norm::{LayerNorm, one_more};
use crate::{Forward, HeadwiseLinear, Init, Linear, ParamId, Scope};

/// Heads of the memory, of an mLSTM and an sLSTM alike.
pub(super) const HEADS: usize = 4;
/// Taps of the convolution, of both alike.
pub(super) const TAPS: usize = 4;
/// Units that each group of the projections to queries, keys and values has.
const PROJECTED: usize = 4;
/// Inner widths are whole numbers of these units.
const MULTIPLE: usize = 64;

/// The sizes of a [`MatrixLstm`].
#[derive(Clone, Copy, Debug)]
pub struct MatrixLstmSizes {
    /// Units of the input and of the output.
    pub units: usize,
    /// Whether the projections have biases.
    pub bias: bool,
    /// The rate of dropout behind the layer.
    pub dropout: f32,
    /// Blocks of the network, of which the first weights depend.
    pub blocks: usize,
}

/// The layer of Beck et al. 2024, "xLSTM" (arXiv 2405.04517), figure 11: the inputs are projected to twice as many units twice,
/// of which one half, behind a causal convolution, is written to and read from the memory, and the other is a gate.
#[derive(Clone, Debug)]
pub struct MatrixLstm {
    inner: usize,
    up: Linear,
    convolution: [ParamId; 2],
    projections: [HeadwiseLinear; 3],
    input_gate: Linear,
    forget_gate: Linear,
    norm: LayerNorm,
    norm_weight: ParamId,
    skip: ParamId,
    down: Linear,
    dropout: f32,
}

/// `factor` times as many units, rounded up to a whole number of [`MULTIPLE`].
pub(super) fn inner_units(units: usize, factor: f64) -> usize {
    ((factor * units as f64 / MULTIPLE as f64).ceil() as usize).saturating_mul(MULTIPLE)
}

/// The rule of Nguyen and Salazar 2019, "Transformers without tears", for the weights of layers that widen.
pub(super) fn small_init(units: usize) -> Init {
    Init::NormalOf { deviation: (2.0 / (5.0 * units as f32)).sqrt() }
}

/// The rule of GPT-NeoX for the weights of layers that are added to what they read, in a network of some blocks.
pub(super) fn residual_init(units: usize, blocks: usize) -> Init {
    Init::NormalOf { deviation: 2.0 / blocks as f32 / (units as f32).sqrt() }
}

/// A kernel for each unit, and its bias, named as in `CausalConv1d`.
pub(super) fn unit_convolution(scope: &mut Scope<'_>, units: usize) -> [ParamId; 2] {
    let (mut scope, init) = (scope.at("conv1d.conv"), Init::fan_in(TAPS));
    [scope.param("weight", [units, 1, TAPS], init), scope.param("bias", [units], init)]
}

/// `x [batch, steps, units]` behind the convolution, which sees nothing later, and SiLU.
pub(super) fn convolve(cx: &Forward<'_>, [weight, bias]: [ParamId; 2], x: &Var) -> Var {
    let (weight, bias) = (cx.param(weight), cx.param(bias));
    let moves = Conv1d { padding: [TAPS - 1, 0], groups: weight.shape()[0], ..Conv1d::default() };
    x.conv1d(&weight, Some(&bias), Activation::Silu, moves)
}

impl MatrixLstm {
    /// Registers the layer's parameters in `scope`.
    pub fn new(scope: &mut Scope<'_>, sizes: &MatrixLstmSizes) -> Self {
        let &MatrixLstmSizes { units, bias, dropout, blocks } = sizes;
        let inner = inner_units(units, 2.0);
        let zeros = Init::Constant(0.0);
        let bias_init = bias.then_some(zeros);
        let skip = scope.param("learnable_skip", [inner], Init::Constant(1.0));
        let small = small_init(units);
        let up = Linear::with(&mut scope.at("proj_up"), [units, 2 * inner], small, bias_init);
        let projections = ["q_proj", "k_proj", "v_proj"].map(|name| {
            HeadwiseLinear::new(&mut scope.at(name), [inner / PROJECTED, PROJECTED], small, bias)
        });
        let convolution = unit_convolution(scope, inner);
        let mut cell = scope.at("mlstm_cell");
        let mut gate = |name, bias| Linear::with(&mut cell.at(name), [3 * inner, HEADS], zeros, Some(bias));
        let input_gate = gate("igate", Init::NormalOf { deviation: 0.1 });
        let forget_gate = gate("fgate", Init::Curve(Curve::line(HEADS, [3.0, 6.0])));
        let norm_weight = cell.at("outnorm").param("weight", [inner], zeros);
        let norm = LayerNorm::without_affine([inner / HEADS]);
        let down =
            Linear::with(&mut scope.at("proj_down"), [inner, units], residual_init(units, blocks), bias_init);
        Self {
            inner,
            up,
            convolution,
            projections,
            input_gate,
            forget_gate,
            norm,
            norm_weight,
            skip,
            down,
            dropout,
        }
    }

    /// `x [batch, steps, units]` to the same shape; no step sees later ones.
    ///
    /// # Panics
    /// If the shape does not fit.
    #[track_caller]
    pub fn forward(&self, cx: &Forward<'_>, x: &Var) -> Var {
        let both = self.up.forward(cx, x, Activation::Identity);
        let [memory, gate] = [0, 1].map(|half| both.narrow(2, half * self.inner, self.inner));
        let seen = convolve(cx, self.convolution, &memory);
        let [q, k, v] = &self.projections;
        let [q, k, v] = [(q, &seen), (k, &seen), (v, &memory)].map(|(layer, x)| layer.forward(cx, x));
        let read = self.read(cx, &q, &k, &v) + seen * cx.param(self.skip);
        let y = self.down.forward(cx, &(read * gate.activation(Activation::Silu)), Activation::Identity);
        cx.dropout(y, self.dropout)
    }

    /// The values that queries read from the memory of keys and values, all `[batch, steps, inner]`, normalised by head.
    fn read(&self, cx: &Forward<'_>, q: &Var, k: &Var, v: &Var) -> Var {
        let shape = q.shape();
        let &[batch, steps, inner] = &*shape else { unreachable!("sequences of units") };
        let width = inner / HEADS;
        let gates = Var::concat(&[q, k, v], 2);
        let [input, forget] =
            [&self.input_gate, &self.forget_gate].map(|gate| gate.forward(cx, &gates, Activation::Identity));
        let by_head = |x: &Var| x.reshape([batch, steps, HEADS, width]).permute(&[0, 2, 1, 3]);
        let scores = by_head(q).matmul(&by_head(k).permute(&[0, 1, 3, 2]));
        let weights = scores.matrix_memory(&input, &forget, (width as f32).sqrt().recip());
        let read = weights.matmul(&by_head(v)).permute(&[0, 2, 1, 3]);
        self.norm.forward(cx, &read).reshape(shape) * one_more(&cx.param(self.norm_weight))
    }
}

#[cfg(test)]
mod tests {
    use foretell_autograd::{Key, Tensor};

    use super::*;
    use crate::Table;

    #[test]
    fn inner_units_are_whole_numbers_of_64() {
        assert_eq!([1, 32, 33, 128].map(|units| inner_units(units, 2.0)), [64, 64, 128, 256]);
        assert_eq!(inner_units(128, 1.3), 192);
    }

    #[test]
    fn no_step_sees_later_ones() {
        let mut table = Table::default();
        let sizes = MatrixLstmSizes { units: 6, bias: true, dropout: 0.0, blocks: 2 };
        let layer = MatrixLstm::new(&mut table.root(), &sizes);
        let params = table.initialise(1);
        let run = |last: f32| {
            let mut x = Tensor::build([1, 5, 6], |x| Init::Normal.fill(Key::new(2), x));
            x.values_mut()[24..].fill(last);
            layer.forward(&Forward::inference(&params), &Var::constant(x)).value().to_vec()
        };
        let (one, other) = (run(0.0), run(3.0));
        assert_eq!(one[..24], other[..24]);
        assert_ne!(one[24..], other[24..]);
    }
}
