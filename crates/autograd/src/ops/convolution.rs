//! Convolutions over sequences and planes, with their bias and activation in one operation. The channels are last;
//! [`foretell_kernels::convolution`] has the derivation of the backward pass.

use foretell_kernels::convolution::{Convolution, Side};
use foretell_simd::Activation;
use foretell_tensor::trace::{self, Record};
use foretell_tensor::{Shape, Tensor};

use super::activation::{KeptSlope, activated, noted};
use crate::{PaddingMode, Var};

/// How a kernel moves over sequences; by default step by step, without padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conv1d {
    /// Steps from one output to the next.
    pub stride: usize,
    /// Steps from one value under the kernel to the next.
    pub dilation: usize,
    /// Steps of padding before and behind.
    pub padding: [usize; 2],
    /// The values of the padding.
    pub beyond: PaddingMode,
    /// Groups of channels that do not see each other.
    pub groups: usize,
}

impl Default for Conv1d {
    fn default() -> Self {
        Self { stride: 1, dilation: 1, padding: [0; 2], beyond: PaddingMode::Zeros, groups: 1 }
    }
}

/// How a kernel moves over planes, height before width; by default step by step, without padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conv2d {
    /// Steps from one output to the next.
    pub stride: [usize; 2],
    /// Steps from one value under the kernel to the next.
    pub dilation: [usize; 2],
    /// Zeros on either side.
    pub padding: [usize; 2],
    /// Groups of channels that do not see each other.
    pub groups: usize,
}

impl Default for Conv2d {
    fn default() -> Self {
        Self { stride: [1; 2], dilation: [1; 2], padding: [0; 2], groups: 1 }
    }
}

impl Var {
    /// `activation(x * w + b)`: `self [batch, time, inputs]`, `weight [outputs, inputs / groups, kernel]` as PyTorch has
    /// it, `bias [outputs]`, result `[batch, time, outputs]`.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn conv1d(&self, weight: &Self, bias: Option<&Self>, activation: Activation, moves: Conv1d) -> Self {
        let (x, w) = (self.shape(), weight.shape());
        let (&[batch, steps, inputs], &[outputs, part, kernel]) = (&*x, &*w) else {
            panic!("conv1d of shape {x:?} by weight {w:?}");
        };
        let Conv1d { stride, dilation, padding, beyond, groups } = moves;
        let width = Side { size: steps, kernel, stride, dilation, padding };
        let (height, rounding) = (Side::ONE, weight.rounding());
        let convolution = Convolution { batch, inputs, outputs, groups, height, width, beyond, rounding };
        convolution.check();
        assert_eq!(inputs, part * groups, "conv1d of shape {x:?} by weight {w:?} in {groups} groups");
        self.convolution(weight, bias, activation, convolution, [batch, width.output(), outputs].into())
    }

    /// `activation(x * w + b)`: `self [batch, height, width, inputs]`, `weight [outputs, inputs / groups, height, width]`
    /// as PyTorch has it, `bias [outputs]`, result `[batch, height, width, outputs]`.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn conv2d(&self, weight: &Self, bias: Option<&Self>, activation: Activation, moves: Conv2d) -> Self {
        let (x, w) = (self.shape(), weight.shape());
        let (&[batch, rows, cols, inputs], &[outputs, part, tall, wide]) = (&*x, &*w) else {
            panic!("conv2d of shape {x:?} by weight {w:?}");
        };
        let Conv2d { stride, dilation, padding, groups } = moves;
        let side = |i: usize, size, kernel| Side {
            size,
            kernel,
            stride: stride[i],
            dilation: dilation[i],
            padding: [padding[i]; 2],
        };
        let (height, width) = (side(0, rows, tall), side(1, cols, wide));
        let (beyond, rounding) = (PaddingMode::Zeros, weight.rounding());
        let convolution = Convolution { batch, inputs, outputs, groups, height, width, beyond, rounding };
        convolution.check();
        assert_eq!(inputs, part * groups, "conv2d of shape {x:?} by weight {w:?} in {groups} groups");
        let shape = [batch, height.output(), width.output(), outputs];
        self.convolution(weight, bias, activation, convolution, shape.into())
    }

    #[track_caller]
    fn convolution(
        &self,
        weight: &Self,
        bias: Option<&Self>,
        activation: Activation,
        convolution: Convolution,
        shape: Shape,
    ) -> Self {
        let (x_shape, w_shape) = (self.shape(), weight.shape());
        let bias_value = bias.map(|bias| {
            let fits = *bias.shape() == [convolution.outputs];
            assert!(fits, "bias of shape {:?} of a convolution with weight {w_shape:?}", bias.shape());
            bias.value().contiguous()
        });
        let x = self.value().contiguous();
        let source = trace::is_on().then(|| x.clone());
        let padded = match convolution.padded_len() {
            0 => x,
            len => Tensor::build([len], |padded| convolution.pad(x.values(), padded)),
        };
        let w = weight.value().contiguous();
        let arranged = Tensor::build([w.numel()], |arranged| convolution.arrange(w.values(), arranged));
        let (value, saved) = activated(activation, |activation| {
            let bias = bias_value.as_ref().map(Tensor::values);
            Tensor::build(shape, |out| {
                convolution.forward(padded.values(), arranged.values(), bias, activation, out);
            })
        });

        trace::record(|| {
            let record = Record::new("convolution").optional(source.as_ref()).input(&w);
            let record = record.optional(bias_value.as_ref()).output(&value);
            noted(with_moves(record, &convolution, w.rank()), activation)
        });
        let inputs: Vec<&Self> = [self, weight].into_iter().chain(bias).collect();
        let (x_edge, w_edge, b_edge) = (self.edge(), weight.edge(), bias.map(Self::edge));
        let rounding = convolution.rounding;
        let padded = self.save_for_backward(&padded, rounding);
        let slope = KeptSlope::new(activation, saved, Self::saved_rounding(&inputs, rounding));
        Self::operation(value, &inputs, move |mut grad, gradients| {
            slope.pull_back(&mut grad);
            let padded = padded.into_tensor();
            if let Some(edge) = b_edge {
                gradients.accumulate(&edge, [convolution.outputs], |db| {
                    convolution.bias_gradient(grad.values(), db);
                });
            }
            if w_edge.is_wanted() {
                let sums = Tensor::build(arranged.shape(), |sums| {
                    convolution.weight_gradient(padded.values(), grad.values(), sums);
                });
                gradients
                    .write(&w_edge, w_shape, |dw, accum| convolution.unarrange(sums.values(), dw, accum));
            }
            if x_edge.is_wanted() {
                let sums = Tensor::build(padded.shape(), |sums| {
                    convolution.input_gradient(arranged.values(), grad.values(), sums);
                });
                if convolution.padded_len() == 0 {
                    gradients.add_gradient(&x_edge, sums);
                } else {
                    gradients
                        .write(&x_edge, x_shape, |dx, accum| convolution.unpad(sums.values(), dx, accum));
                }
            }
        })
    }
}

/// The record of a convolution by a weight of this rank, with how its kernel moves.
fn with_moves(record: Record, convolution: &Convolution, rank: usize) -> Record {
    let Convolution { groups, height, width, beyond, .. } = *convolution;
    let sides = if rank == 3 { vec![width] } else { vec![height, width] };
    let each = |of: fn(&Side) -> usize| sides.iter().map(of).collect::<Vec<_>>();
    let beyond = match beyond {
        PaddingMode::Zeros => "zeros",
        PaddingMode::Circular => "circular",
    };
    record
        .size("groups", groups)
        .sizes("stride", &each(|side| side.stride))
        .sizes("dilation", &each(|side| side.dilation))
        .sizes("before", &each(|side| side.padding[0]))
        .sizes("after", &each(|side| side.padding[1]))
        .word("beyond", beyond)
}

#[cfg(test)]
mod tests {
    use super::{Conv1d, Conv2d};
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;
    use crate::{Activation, PaddingMode, Var};

    #[test]
    fn gradients_over_sequences() {
        let inputs = [random([2, 6, 2], 1), random([4, 2, 3], 2), random([4], 3)];
        for moves in [
            Conv1d::default(),
            Conv1d { dilation: 2, padding: [4, 0], ..Conv1d::default() },
            Conv1d { stride: 2, padding: [1, 2], ..Conv1d::default() },
            Conv1d { padding: [1, 1], beyond: PaddingMode::Circular, ..Conv1d::default() },
        ] {
            gradients(&inputs, |v| v[0].conv1d(&v[1], Some(&v[2]), Activation::Tanh, moves));
            gradients(&inputs[..2], |v| v[0].conv1d(&v[1], None, Activation::Identity, moves));
        }
        let inputs = [random([2, 6, 4], 1), random([6, 2, 3], 2)];
        let moves = Conv1d { groups: 2, padding: [2, 0], ..Conv1d::default() };
        gradients(&inputs, |v| v[0].conv1d(&v[1], None, Activation::Gelu, moves));
    }

    #[test]
    fn gradients_over_planes() {
        let inputs = [random([2, 4, 5, 2], 1), random([3, 2, 3, 2], 2), random([3], 3)];
        for moves in [Conv2d::default(), Conv2d { padding: [1, 1], stride: [2, 1], ..Conv2d::default() }] {
            gradients(&inputs, |v| v[0].conv2d(&v[1], Some(&v[2]), Activation::Identity, moves));
        }
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("conv1d", |x, a| {
            let padding = a.list("padding");
            let moves = Conv1d {
                stride: a.number("stride"),
                dilation: a.number("dilation"),
                padding: [padding[0], padding[1]],
                beyond: if a.text("mode") == "zeros" { PaddingMode::Zeros } else { PaddingMode::Circular },
                groups: a.number("groups"),
            };
            x[0].conv1d(&x[1], x.get(2), Activation::Identity, moves)
        });
        torch::assert_matches_pytorch("conv2d", |x, a| {
            let pair = |key: &str| [a.list(key)[0], a.list(key)[1]];
            let (stride, dilation, padding) = (pair("stride"), pair("dilation"), pair("padding"));
            let moves = Conv2d { stride, dilation, padding, groups: a.number("groups") };
            x[0].conv2d(&x[1], x.get(2), Activation::Identity, moves)
        });
    }

    #[test]
    #[should_panic(expected = "conv1d of shape [2, 6, 2] by weight [4, 3, 3] in 1 groups")]
    fn wrong_shapes_panic() {
        let [x, w] = [random([2, 6, 2], 1), random([4, 3, 3], 2)].map(Var::constant);
        x.conv1d(&w, None, Activation::Identity, Conv1d::default());
    }
}
