//! The gate of a gated linear unit, after the product, and the residual that is added to it.

use foretell_simd as simd;
use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};
use foretell_threads as threads;

use super::activation::ELEMENTARY_COST;
use crate::Var;

impl Var {
    /// `a σ(b) + skip` of `self = [a, b]` (Dauphin et al. 2017, arXiv 1612.08083): `self [..., 2 n]`, `skip [..., n]` if there is
    /// one, result `[..., n]`. It takes the variable, whose memory becomes the gates' if no one else reads it.
    ///
    /// With g the gradient of the result, those of a and b are `g σ(b)` and `g a σ(b) (1 - σ(b))`; that of the skip is g.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn gated(mut self, skip: Option<&Self>) -> Self {
        let mut shape = self.shape();
        let twice = *shape.last().expect("gated numbers have a dimension");
        assert!(twice.is_multiple_of(2), "gated numbers of shape {shape:?} come in pairs");
        let (last, n) = (shape.len() - 1, twice / 2);
        shape[last] = n;
        if let Some(skip) = skip {
            assert_eq!(*skip.shape(), *shape, "what is added to gated numbers");
        }
        let rows = shape[..last].iter().product();
        let added = skip.map(|skip| skip.value().contiguous());
        let source = trace::is_on().then(|| self.value().clone());
        let mut gated = self.take_value();
        let value = Tensor::build(shape, |out| {
            threads::rows(rows, ELEMENTARY_COST * n, [gated.values_mut(), out], |range, [gated, out]| {
                match &added {
                    Some(skip) => out.copy_from_slice(&skip.values()[range.start * n..range.end * n]),
                    None => out.fill(0.0),
                }
                simd::add_gated_rows(n, gated, out);
            });
        });
        trace::record(|| {
            Record::new("gated").optional(source.as_ref()).optional(added.as_ref()).output(&value)
        });
        drop(added);

        let inputs: Vec<&Self> = [&self].into_iter().chain(skip).collect();
        let (edge, skip_edge) = (self.edge(), skip.map(Self::edge));
        let gated = gated.keep(Self::saved_rounding(&inputs, self.rounding()));
        Self::operation(value, &inputs, move |grad, gradients| {
            let mut gated = gated.into_tensor();
            threads::rows(rows, 2 * n, [gated.values_mut()], |range, [gated]| {
                simd::gated_rows_backward(n, gated, &grad.values()[range.start * n..range.end * n]);
            });
            if let Some(edge) = skip_edge {
                gradients.add_gradient(&edge, grad);
            }
            gradients.add_gradient(&edge, gated);
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;
    use crate::{Activation, Var};

    #[test]
    fn gradients_with_and_without_a_skip() {
        let inputs = [random([2, 3, 10], 1), random([2, 3, 5], 2)];
        for count in [1, 2] {
            gradients(&inputs[..count], |v| v[0].clone().gated(v.get(1)));
        }
        // What is gated and added is the same.
        gradients(&[random([3, 8], 1)], |v| v[0].clone().gated(Some(&v[0].narrow(1, 2, 4))));
    }

    #[test]
    fn what_others_read_is_left_as_it_is() {
        let x = Var::constant(random([3, 8], 1));
        let before = x.value().to_vec();
        x.clone().gated(None);
        assert_eq!(x.value().to_vec(), before);
    }

    #[test]
    fn agrees_with_pytorch_after_a_linear_layer() {
        torch::assert_matches_pytorch("gated_linear", |x, _| {
            x[0].linear(&x[1], Some(&x[2]), Activation::Identity).gated(x.get(3))
        });
    }

    #[test]
    #[should_panic(expected = "gated numbers of shape [2, 5] come in pairs")]
    fn gates_come_in_pairs() {
        Var::constant(random([2, 5], 1)).gated(None);
    }
}
