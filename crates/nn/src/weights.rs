//! How weights are held, and the products with them: the one place that decides it.
//!
//! A layer registers its weights and asks a run for the product with them (`Forward::linear` and the functions
//! after it). It does not see how they are held:
//!
//! * as they are trained, in `f32` in the arena;
//! * two layers without an activation between them: multiplied with each other;
//! * for forecasts in bf16 or int8: copied from the arena when they are first asked for ([`Params::hold`](crate::Params::hold));
//! * for forecasts in `f32` whose products have some dozens to some hundreds of rows: packed once instead of in each product;
//! * for forecasts of recurrent layers, in any precision: laid out as the product of one row reads them;
//! * for the products of a training step in bfloat16: rounded and packed once for all its shards ([`RoundedWeights`](crate::RoundedWeights)).

mod held;

use std::ops::Range;
use std::sync::Arc;

use foretell_autograd::{
    Activation, Cell, CellState, CellVars, Conv1d, HeldWeights, RecurrentWeights, RoundedWeight, Rounding,
    Var, WeightMatrix, trace,
};
use foretell_tensor::Tensor;

use crate::held_copies::{HeldCopy, HeldPair};
use crate::layer_params::{LinearParams, Multiplied, MultipliedId, PairSizes, RecurrentParams};
use crate::model::Forward;
use crate::param_entry::ParamId;
use crate::table::Scope;

/// How a run holds the weights of a linear layer, or of a pair.
enum Held {
    /// As they are trained: `weight [outputs, inputs]` and `bias [outputs]`; in a step in bfloat16 with a place where the
    /// weight is packed once for all its products.
    AsTrained { weight: Var, in_step: Option<Arc<RoundedWeight>>, bias: Option<Var> },
    /// The weights of a pair, multiplied: `[inputs + 1, outputs]`, the last row being the pair's result for zeros.
    Multiplied(Var),
    /// Packed once, in `f32` or in fewer bits.
    Copied { weight: Arc<HeldCopy<WeightMatrix>>, bias: Option<Var> },
    /// The weights of a pair, multiplied, in fewer bits.
    CopiedPair(Arc<HeldCopy<HeldPair>>),
}

/// The most inputs with which the layers of a pair are multiplied. It costs as much as `inputs` windows through the
/// second layer; a step of training has more windows as a rule.
const FEW_INPUTS: usize = 128;

impl Multiplied {
    /// The product, and the graph that passes its gradient on to the layers if the run records one. The weights' product is
    /// rounded as the run rounds products; that with the bias, of a single row, is not.
    pub fn compute(&self, cx: &Forward<'_>) -> Var {
        let [first, second] = &self.layers;
        let bias = |layer: &LinearParams| cx.param(layer.bias.expect("layers of a pair have one"));
        let (inner, outer) = (cx.param(first.weight), cx.param(second.weight));
        // The product reads the weights without a copy, so nothing is kept for the backward pass.
        let of_units = outer.matmul(&inner).permute(&[1, 0]);
        let hidden = outer.shape()[1];
        let exact = outer.with_rounding(Rounding::None);
        let of_zeros =
            bias(first).reshape([1, hidden]).linear(&exact, Some(&bias(second)), Activation::Identity);
        let product = Var::concat(&[&of_units, &of_zeros], 0);
        debug_assert_eq!(product.shape(), self.shape);
        product
    }
}

impl Scope<'_> {
    /// Multiplies the weights of two layers of these sizes with each other, where that is worth it.
    pub(crate) fn multiply(
        &mut self,
        layers: [LinearParams; 2],
        PairSizes { inputs, hidden, outputs }: PairSizes,
    ) -> Option<MultipliedId> {
        let worth_it = inputs <= FEW_INPUTS.min(hidden / 2);
        worth_it.then(|| self.register_multiplied([inputs + 1, outputs].into(), layers))
    }
}

impl Forward<'_> {
    /// The weights of a layer, or of some of its outputs, for the product with `x`.
    fn held(&self, layer: &LinearParams, outputs: Option<Range<usize>>, x: &Var) -> Held {
        let part = |whole: Var| match &outputs {
            Some(range) => whole.narrow(0, range.start, range.len()),
            None => whole,
        };
        let bias = layer.bias.map(|bias| part(self.param(bias)));
        // Copies pass no gradient on. A block that is computed again trains without recording (`Forward::recompute`).
        // Nor do they have names in a record of operations.
        let may_be_copied = !self.training && !trace::is_on() && outputs.is_none() && !x.edge().is_wanted();
        let weight = part(self.matrix(layer.weight));
        let weight = if layer.stays_f32.is_some() { weight.with_rounding(Rounding::None) } else { weight };
        let rows = x.shape().split_last().map_or(1, |(_, outer)| outer.iter().product());
        let rounding = weight.rounding();
        if may_be_copied && let Some(weight) = self.params.held_matrix(layer.weight, rows, rounding) {
            return Held::Copied { weight, bias };
        }
        let whole = outputs.is_none() && rounding == Rounding::Bf16;
        let in_step = self.step_weights.filter(|_| whole);
        Held::AsTrained { in_step: in_step.map(|weights| weights.weight(layer.weight).clone()), weight, bias }
    }

    /// Weight and bias of a layer, for products that support no other way of holding them.
    fn as_trained(&self, layer: &LinearParams) -> (Var, Option<Var>) {
        (self.matrix(layer.weight), layer.bias.map(|bias| self.param(bias)))
    }

    fn held_multiplied(&self, id: MultipliedId) -> Held {
        if !self.training
            && let Some(pair) = self.params.held_pair(id)
        {
            return Held::CopiedPair(pair);
        }
        let table = self.params.table();
        let entry = &table.multiplied()[id.0];
        let product = match (self.records, self.multiplied) {
            (false, Some(all)) => Var::constant(all[id.0].clone()),
            (false, None) => Var::constant(self.params.multiplied(id)),
            (true, None) => entry.compute(self),
            (true, Some(all)) => Var::parameter(all[id.0].clone(), table.multiplied_range(entry).start),
        };
        Held::Multiplied(self.marked(product))
    }

    /// The product with a layer's weights, its bias and activation: `x [..., inputs]` to `[..., outputs]`, or to
    /// `[..., range.len()]` where a range of the outputs is asked for.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub(crate) fn linear(
        &self,
        layer: &LinearParams,
        x: &Var,
        activation: Activation,
        outputs: Option<Range<usize>>,
    ) -> Var {
        self.held(layer, outputs, x).product(x, activation)
    }

    /// The product with a layer's weights along the first dimension, and its bias: `x [inputs, ...]` to
    /// `[outputs, ...]`.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub(crate) fn linear_along_first(&self, layer: &LinearParams, x: &Var) -> Var {
        let (weight, bias) = self.as_trained(layer);
        let mut shape = x.shape();
        let columns = shape[1..].iter().product::<usize>();
        let y = weight.matmul(&x.reshape([shape[0], columns]));
        shape[0] = weight.shape()[0];
        let y = match bias {
            Some(bias) => y.add(&bias.reshape([shape[0], 1])),
            None => y,
        };
        y.reshape(shape)
    }

    /// The product with a layer's weights of the columns of matrices, its bias and activation: `x [batch, inputs, n]` to
    /// `[batch, outputs, n]`.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub(crate) fn linear_of_columns(&self, layer: &LinearParams, x: &Var, activation: Activation) -> Var {
        let (weight, bias) = self.as_trained(layer);
        x.linear_of_columns(&weight, bias.as_ref(), activation)
    }

    /// The product with a layer's weights, its bias and activation, of the rows of matrices, which become columns:
    /// `x [batch, n, inputs]` to `[batch, outputs, n]`.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub(crate) fn linear_to_columns(&self, layer: &LinearParams, x: &Var, activation: Activation) -> Var {
        let (weight, bias) = self.as_trained(layer);
        x.linear_to_columns(&weight, bias.as_ref(), activation)
    }

    /// The causal convolution of `x [steps, batch, inputs]` with `weight [outputs, inputs, kernel]`, its `bias [outputs]`
    /// and activation: `[steps, batch, outputs]`.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn causal_convolution(
        &self,
        [weight, bias]: [ParamId; 2],
        x: &Var,
        activation: Activation,
        dilation: usize,
    ) -> Var {
        x.causal_convolution(&self.param(weight), &self.param(bias), activation, dilation)
    }

    /// The convolution of `x [batch, steps, inputs]` with `weight [outputs, inputs, kernel]`, its `bias [outputs]` and
    /// activation: `[batch, steps, outputs]`, as many steps as the `moves` leave.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn convolution(
        &self,
        [weight, bias]: [ParamId; 2],
        x: &Var,
        activation: Activation,
        moves: Conv1d,
    ) -> Var {
        x.conv1d(&self.param(weight), Some(&self.param(bias)), activation, moves)
    }

    /// The product of `parts [batch, _]`, side by side, with a pair of layers that are multiplied with each other:
    /// `[batch, outputs]`.
    ///
    /// # Panics
    /// If there are no parts, or the shapes do not fit.
    #[track_caller]
    pub(crate) fn linear_multiplied(
        &self,
        id: MultipliedId,
        mut parts: Vec<Var>,
        activation: Activation,
    ) -> Var {
        let held = self.held_multiplied(id);
        if let Held::Multiplied(_) = held {
            parts.push(Var::constant(Tensor::full([parts[0].shape()[0], 1], 1.0)));
        }
        held.product(&side_by_side(&parts), activation)
    }

    /// The product `x [.., rows] · matrix [rows, columns]` with a parameter or constant that belongs to no layer,
    /// such as the bases of NBEATS.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn product(&self, x: &Var, matrix: ParamId) -> Var {
        x.matmul(&self.param(matrix))
    }

    /// A weight from which a layer builds a matrix of its own, joined with others or cut into parts: in `f32`,
    /// however it is held.
    pub(crate) fn joined_weight(&self, id: ParamId) -> Var {
        self.param(id)
    }

    /// A recurrent layer over `x [steps, batch, inputs]`: its last `last` states, starting from `carried`.
    #[track_caller]
    pub(crate) fn recurrent(
        &self,
        cell: Cell,
        layer: &RecurrentParams,
        x: &Var,
        last: usize,
        carried: Option<&mut CellState>,
    ) -> Var {
        x.recurrent(cell, &self.recurrent_weights(layer).as_operands(), last, carried)
    }

    /// A recurrent layer over `x [steps, batch, inputs]`, starting from `start`: its states, and its last state.
    #[track_caller]
    pub(crate) fn recurrent_from(
        &self,
        cell: Cell,
        layer: &RecurrentParams,
        x: &Var,
        start: &CellVars,
    ) -> (Var, CellVars) {
        x.recurrent_from(cell, &self.recurrent_weights(layer).as_operands(), start)
    }

    /// Recurrent layers on top of each other over `x [steps, batch, inputs]`, without dropout between them: the top layer's last
    /// `last` states, started from `carried`; nothing where they are to run one after the other.
    #[track_caller]
    pub(crate) fn recurrent_stack(
        &self,
        cell: Cell,
        layers: &[RecurrentParams],
        x: &Var,
        last: usize,
        carried: Option<&mut [CellState]>,
    ) -> Option<Var> {
        if self.training || layers.len() < 2 {
            return None;
        }
        let weights: Vec<_> = layers.iter().map(|layer| self.recurrent_weights(layer)).collect();
        let operands: Vec<_> = weights.iter().map(HeldRecurrent::as_operands).collect();
        x.recurrent_stack(cell, &operands, last, carried)
    }

    fn recurrent_weights(&self, layer: &RecurrentParams) -> HeldRecurrent {
        HeldRecurrent {
            input: self.param(layer.input),
            state: self.param(layer.state),
            biases: layer.biases.map(|biases| biases.map(|bias| self.param(bias))),
            projection: layer.projection.map(|projection| self.param(projection)),
            held: (!self.training).then(|| self.params.held_recurrent(layer)).flatten(),
        }
    }
}

/// `parts [batch, _]` in one matrix.
pub(crate) fn side_by_side(parts: &[Var]) -> Var {
    match parts {
        [one] => one.clone(),
        _ => Var::concat(&parts.iter().collect::<Vec<_>>(), 1),
    }
}

/// The weights of a recurrent layer, and beside them the copies that forecasts hold.
struct HeldRecurrent {
    input: Var,
    state: Var,
    biases: Option<[Var; 2]>,
    projection: Option<Var>,
    held: Option<Arc<HeldWeights>>,
}

impl HeldRecurrent {
    fn as_operands(&self) -> RecurrentWeights<'_> {
        RecurrentWeights {
            input: &self.input,
            state: &self.state,
            biases: self.biases.as_ref().map(|[input, state]| [input, state]),
            projection: self.projection.as_ref(),
            held: self.held.as_deref(),
        }
    }
}

impl Held {
    #[track_caller]
    fn product(&self, x: &Var, activation: Activation) -> Var {
        match self {
            Self::AsTrained { weight, in_step: Some(in_step), bias } => {
                x.linear_in_step(weight, in_step, bias.as_ref(), activation)
            }
            Self::AsTrained { weight, in_step: None, bias } => x.linear(weight, bias.as_ref(), activation),
            // The last of the inputs is a one.
            Self::Multiplied(weight) => x.linear_by_inputs(weight, None, activation),
            Self::Copied { weight, bias } => x.linear_held(&weight.held, bias.as_ref(), activation),
            Self::CopiedPair(pair) => {
                let bias = Var::constant(pair.held.bias.clone());
                x.linear_held(&pair.held.weight, Some(&bias), activation)
            }
        }
    }
}
