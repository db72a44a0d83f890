//! Causal convolutions over time-major sequences, with their bias and activation in one operation;
//! [`foretell_kernels::causal_convolution`] has the derivation of the backward pass.

use foretell_kernels::Accum;
use foretell_kernels::causal_convolution::{CausalConvolution, CausalConvolutionGradients};
use foretell_simd::Activation;
use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};

use super::activation::{activated, noted};
use crate::Var;

impl Var {
    /// `activation(x * w + b)` with taps `dilation` steps apart, the last of them on the step itself and zeros before the
    /// first step: `self [steps, batch, inputs]`, `weight [outputs, inputs, kernel]` as PyTorch has it, `bias [outputs]`,
    /// result `[steps, batch, outputs]`.
    ///
    /// # Panics
    /// If the shapes do not fit, or `dilation` is 0.
    #[track_caller]
    pub fn causal_convolution(
        &self,
        weight: &Self,
        bias: &Self,
        activation: Activation,
        dilation: usize,
    ) -> Self {
        let (x_shape, w_shape) = (self.shape(), weight.shape());
        let (&[steps, batch, inputs], &[outputs, channels, kernel]) = (&*x_shape, &*w_shape) else {
            panic!("causal convolution of shape {x_shape:?} by weight {w_shape:?}");
        };
        assert_eq!(inputs, channels, "causal convolution of shape {x_shape:?} by weight {w_shape:?}");
        assert_eq!(*bias.shape(), [outputs], "bias of a causal convolution with weight {w_shape:?}");
        let rounding = weight.rounding();
        let convolution = CausalConvolution { steps, batch, inputs, outputs, kernel, dilation, rounding };
        let (x, w, b) = (self.value().contiguous(), weight.value().contiguous(), bias.value().contiguous());
        let arranged = Tensor::build([w.numel()], |arranged| convolution.arrange(w.values(), arranged));
        let (value, saved) = activated(activation, |activation| {
            Tensor::build([steps, batch, outputs], |out| {
                convolution.forward(x.values(), arranged.values(), b.values(), activation, out);
            })
        });

        trace::record(|| {
            let record = Record::new("causal_convolution").input(&x).input(&w).input(&b).output(&value);
            noted(record.size("dilation", dilation), activation)
        });
        let (x_edge, w_edge, b_edge) = (self.edge(), weight.edge(), bias.edge());
        let keeps = Self::saved_rounding(&[self, weight, bias], rounding);
        let (x, saved) = (self.save_for_backward(&x, rounding), saved.keep(keeps));
        Self::operation(value, &[self, weight, bias], move |mut grad, gradients| {
            let (x, saved) = (x.into_tensor(), saved.into_tensor());
            let mut db = Tensor::zeros([outputs]);
            let dw = Tensor::build(arranged.shape(), |dw| {
                let mut backward = |inputs: Option<(&mut [f32], Accum)>| {
                    let parts =
                        CausalConvolutionGradients { weights: &mut *dw, bias: db.values_mut(), inputs };
                    let (x, arranged, saved) = (x.values(), arranged.values(), saved.values());
                    convolution.backward(x, arranged, activation, saved, grad.values_mut(), parts);
                };
                if x_edge.is_wanted() {
                    gradients.write(&x_edge, x_shape, |dx, accum| backward(Some((dx, accum))));
                } else {
                    backward(None);
                }
            });
            gradients.write(&w_edge, w_shape, |sum, accum| convolution.unarrange(dw.values(), sum, accum));
            gradients.add_gradient(&b_edge, db);
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;
    use crate::{Activation, Var};

    #[test]
    fn gradients_of_every_dilation() {
        let inputs = [random([6, 2, 2], 1), random([4, 2, 3], 2), random([4], 3)];
        for dilation in [1, 2, 3, 9] {
            for activation in [Activation::Identity, Activation::Tanh, Activation::Gelu] {
                gradients(&inputs, |v| v[0].causal_convolution(&v[1], &v[2], activation, dilation));
            }
        }
        let view = |v: &Var| v.permute(&[1, 0, 2]);
        gradients(&inputs, |v| view(&v[0]).causal_convolution(&v[1], &v[2], Activation::Identity, 1));
    }

    #[test]
    fn it_sees_nothing_later() {
        let [w, b] = [random([1, 1, 3], 2), random([1], 3)].map(Var::constant);
        let run = |last: f32| {
            let mut x = random([9, 1, 1], 1);
            x.values_mut()[8] = last;
            Var::constant(x).causal_convolution(&w, &b, Activation::Identity, 2).value().to_vec()
        };
        let (one, other) = (run(0.0), run(100.0));
        assert_eq!(one[..8], other[..8]);
        assert_ne!(one[8], other[8]);
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("causal_convolution", |x, a| {
            x[0].causal_convolution(&x[1], &x[2], a.activation("activation"), a.number("dilation"))
        });
    }

    #[test]
    #[should_panic(expected = "causal convolution of shape [6, 2, 2] by weight [4, 3, 3]")]
    fn wrong_shapes_panic() {
        let [x, w, b] = [random([6, 2, 2], 1), random([4, 3, 3], 2), random([4], 3)].map(Var::constant);
        x.causal_convolution(&w, &b, Activation::Identity, 1);
    }
}
