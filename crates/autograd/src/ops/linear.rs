//! The linear layer with its bias and activation in one operation.

use std::sync::Arc;

use foretell_gemm::{Bias, MatMut, MatRef, Options, Rhs, Rounding, WeightFormat, matmul};
use foretell_kernels::column_sums::add_column_sums;
use foretell_simd::Activation;
use foretell_tensor::trace::{self, Record};
use foretell_tensor::{KeptTensor, Shape, Tensor};

use super::activation::{KeptSlope, activated, noted};
use crate::step_weight::Direction;
use crate::{BackwardPass, Edge, RoundedWeight, Var};

impl Var {
    /// `activation(x wᵀ + b)`: `self [..., k]`, `weight [n, k]`, `bias [n]`, result `[..., n]`.
    ///
    /// With g the gradient before the activation: dx = g w, dw = gᵀ x, db = the column sums of g. The
    /// gradients of parameters are added to their arena by the product itself. All three products are rounded as the
    /// weight is ([`Var::with_rounding`]).
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn linear(&self, weight: &Self, bias: Option<&Self>, activation: Activation) -> Self {
        self.layer(weight, None, bias, activation, Layout::RowPerOutput)
    }

    /// [`Var::linear`] in a training step in bfloat16: `in_step` is the same weight, packed once for all that multiply with it.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn linear_in_step(
        &self,
        weight: &Self,
        in_step: &Arc<RoundedWeight>,
        bias: Option<&Self>,
        activation: Activation,
    ) -> Self {
        self.layer(weight, Some(in_step), bias, activation, Layout::RowPerOutput)
    }

    /// `activation(x w + b)`: [`Var::linear`] with a `weight [k, n]`, which is the faster way to lay it out
    /// where k is small and no power of two.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn linear_by_inputs(&self, weight: &Self, bias: Option<&Self>, activation: Activation) -> Self {
        self.layer(weight, None, bias, activation, Layout::RowPerInput)
    }

    #[track_caller]
    fn layer(
        &self,
        weight: &Self,
        in_step: Option<&Arc<RoundedWeight>>,
        bias: Option<&Self>,
        activation: Activation,
        layout: Layout,
    ) -> Self {
        let (&[outer, inner], Some(&features)) = (&*weight.shape(), self.shape().last()) else {
            panic!("linear of shape {:?} by weight {:?}", self.shape(), weight.shape());
        };
        let [n, k] = layout.shape([outer, inner]);
        assert_eq!(features, k, "linear of shape {:?} by weight {:?}", self.shape(), weight.shape());
        if let Some(bias) = bias {
            assert_eq!(&*bias.shape(), [n], "bias of a linear layer with weight {:?}", weight.shape());
        }
        let (x, w) = (self.value().contiguous(), weight.value().contiguous());
        let rows = x.shape()[..x.rank() - 1].iter().product();
        let mut shape = x.shape();
        shape[x.rank() - 1] = n;

        let rounding = weight.rounding();
        // A packed weight must give the same bits as one that is not packed: a step without it, the first one or the first
        // after a resumption, computes the same.
        let format = |shape| WeightFormat::best_for(shape, rounding);
        let packed = |shape| in_step.filter(|_| format(shape) == Some(WeightFormat::Bf16)).cloned();
        let [forward, backward] = [packed([rows, k, n]), packed([rows, n, k])];
        let product = |activation| {
            let options = Options::default()
                .rounding(rounding)
                .bias(bias.map(|bias| Bias::PerColumn(bias.value().values())))
                .activation(activation);
            Tensor::build(shape, |out| {
                let (out, x) = (MatMut::row_major(out, rows, n), MatRef::row_major(x.values(), rows, k));
                let packed = forward.as_ref().and_then(|weight| weight.for_product(Direction::Forward));
                let w = layout.outputs_by_inputs(w.values(), [outer, inner]).t();
                matmul(out, x, packed.map_or(Rhs::F32(w), Rhs::Packed), options);
            })
        };
        let (value, saved) = activated(activation, product);

        trace::record(|| {
            let record =
                Record::new("linear").input(&x).input(&w).optional(bias.map(Self::value)).output(&value);
            noted(record.word("rows", layout.word()), activation)
        });
        let inputs: Vec<&Self> = [self, weight].into_iter().chain(bias).collect();
        // Keeping a slice of the parameters would round all of them, and they are in memory anyway.
        let w_rounding = if w.is_whole() { rounding } else { Rounding::None };
        let kept = KeptLinear {
            layout,
            sizes: [rows, k, n],
            x_shape: x.shape(),
            x: self.save_for_backward(&x, rounding),
            w: weight.save_for_backward(&w, w_rounding),
            packed: backward,
            slope: KeptSlope::new(activation, saved, Self::saved_rounding(&inputs, rounding)),
            rounding,
            edges: [self.edge(), weight.edge()],
            bias_edge: bias.map(Self::edge),
        };
        Self::operation(value, &inputs, |grad, gradients| kept.backward(grad, gradients))
    }
}

/// What the gradients of a linear layer are made from.
struct KeptLinear {
    layout: Layout,
    /// Rows of x, and its columns and those of the result.
    sizes: [usize; 3],
    x_shape: Shape,
    x: KeptTensor,
    w: KeptTensor,
    /// The weight as it was packed for this product.
    packed: Option<Arc<RoundedWeight>>,
    slope: KeptSlope,
    rounding: Rounding,
    /// Of x and the weight.
    edges: [Edge; 2],
    bias_edge: Option<Edge>,
}

impl KeptLinear {
    fn backward(self, mut grad: Tensor, gradients: &mut BackwardPass<'_>) {
        let Self {
            layout, sizes: [rows, k, n], x, w, packed, slope, rounding, edges: [x_edge, w_edge], ..
        } = self;
        let in_bf16 = rounding.of_product([rows, k, n]) == Rounding::Bf16;
        let options = |accum| Options::default().accum(accum).rounding(rounding);
        slope.pull_back(&mut grad);
        let g = MatRef::row_major(grad.values(), rows, n);
        if let Some(edge) = self.bias_edge {
            gradients.accumulate(&edge, [n], |db| add_column_sums(grad.values(), db));
        }
        let weight_shape = layout.shape([n, k]);
        gradients.write(&w_edge, weight_shape, |dw, accum| {
            let dw = layout.outputs_by_inputs_mut(dw, weight_shape);
            match x.as_bf16().filter(|_| in_bf16) {
                Some(x) => matmul(dw, g.t(), MatRef::row_major(x, rows, k), options(accum)),
                None => {
                    let x = x.into_tensor();
                    matmul(dw, g.t(), MatRef::row_major(x.values(), rows, k), options(accum));
                }
            }
        });
        if x_edge.is_wanted() {
            gradients.write(&x_edge, self.x_shape, |dx, accum| {
                let dx = MatMut::row_major(dx, rows, k);
                let packed = packed.as_ref().and_then(|weight| weight.for_product(Direction::Backward));
                if let Some(packed) = packed {
                    matmul(dx, g, packed, options(accum));
                } else if let Some(w) = w.as_bf16().filter(|_| in_bf16) {
                    matmul(dx, g, layout.outputs_by_inputs(w, weight_shape), options(accum));
                } else {
                    let w = w.into_tensor();
                    matmul(dx, g, layout.outputs_by_inputs(w.values(), weight_shape), options(accum));
                }
            });
        }
    }
}

/// The meaning of a weight's rows.
#[derive(Clone, Copy)]
enum Layout {
    RowPerOutput,
    RowPerInput,
}

impl Layout {
    fn word(self) -> &'static str {
        match self {
            Self::RowPerOutput => "outputs",
            Self::RowPerInput => "inputs",
        }
    }

    /// The shape of a weight of this many outputs and inputs, and the other way round.
    fn shape(self, [outputs, inputs]: [usize; 2]) -> [usize; 2] {
        match self {
            Self::RowPerOutput => [outputs, inputs],
            Self::RowPerInput => [inputs, outputs],
        }
    }

    /// A weight of this shape as outputs by inputs.
    fn outputs_by_inputs<T>(self, w: &[T], [outer, inner]: [usize; 2]) -> MatRef<'_, T> {
        let whole = MatRef::row_major(w, outer, inner);
        match self {
            Self::RowPerOutput => whole,
            Self::RowPerInput => whole.t(),
        }
    }

    /// The same to be written.
    fn outputs_by_inputs_mut(self, w: &mut [f32], [outer, inner]: [usize; 2]) -> MatMut<'_, f32> {
        let whole = MatMut::row_major(w, outer, inner);
        match self {
            Self::RowPerOutput => whole,
            Self::RowPerInput => whole.t(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Activation;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradients_with_and_without_bias() {
        let inputs = [random([5, 3], 1), random([4, 3], 2), random([4], 3)];
        for activation in [Activation::Identity, Activation::Tanh, Activation::Gelu] {
            gradients(&inputs, |v| v[0].linear(&v[1], Some(&v[2]), activation));
            gradients(&inputs[..2], |v| v[0].linear(&v[1], None, activation));
            let inputs = [random([5, 3], 1), random([3, 4], 2), random([4], 3)];
            gradients(&inputs, |v| v[0].linear_by_inputs(&v[1], Some(&v[2]), activation));
        }
    }

    #[test]
    fn leading_dimensions_are_rows() {
        let inputs = [random([2, 3, 4], 1), random([5, 4], 2), random([5], 3)];
        gradients(&inputs, |v| v[0].linear(&v[1], Some(&v[2]), Activation::Softplus));
    }

    #[test]
    fn either_layout_of_the_weight_serves() {
        let (x, w) = (random([5, 3], 1), random([4, 3], 2));
        let [x, w] = [x, w].map(crate::Var::constant);
        let rows = x.linear(&w, None, Activation::Relu).value().to_vec();
        let columns = x.linear_by_inputs(&w.permute(&[1, 0]), None, Activation::Relu).value().to_vec();
        assert_eq!(rows, columns);
    }

    #[test]
    #[should_panic(expected = "linear of shape [2, 3] by weight [4, 5]")]
    fn wrong_shapes_panic() {
        let (x, w) = (random([2, 3], 1), random([4, 5], 2));
        crate::Var::constant(x).linear(&crate::Var::constant(w), None, Activation::Identity);
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("linear", |x, a| {
            x[0].linear(&x[1], x.get(2), a.activation("activation"))
        });
    }
}
