//! Complex modes of sequences times matrices of their own; [`foretell_kernels::mode_products`] has the equations and
//! their derivatives.

use foretell_kernels::Accum;
use foretell_kernels::mode_products::ModeProducts;
use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};

use crate::Var;

impl Var {
    /// The modes of a batch of sequences, `self [batch, 2, modes, heads * inputs]`, each times matrices of its own, one for
    /// each head, `weights [heads, inputs, outputs, modes, 2]`; result `[batch, 2, modes, heads * outputs]`. Of sequences
    /// and result the real parts come before all imaginary ones, of the weights the parts lie side by side.
    ///
    /// Products are rounded where either factor is ([`Var::with_rounding`]), to half precision only.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn mode_products(&self, weights: &Self) -> Self {
        let (x, w) = (self.value().contiguous(), weights.value().contiguous());
        let sizes = sizes(&x.shape(), &w.shape());
        let ModeProducts { batch, modes, heads, outputs, .. } = sizes;
        let rounding = self.rounding().or(weights.rounding());
        let value = Tensor::build([batch, 2, modes, heads * outputs], |y| {
            sizes.forward(x.values(), w.values(), y, (Accum::Replace, rounding));
        });
        trace::record(|| Record::new("mode_products").input(&x).input(&w).output(&value));
        let (x_edge, w_edge) = (self.edge(), weights.edge());
        let (x, w) = (self.save_for_backward(&x, rounding), weights.save_for_backward(&w, rounding));
        Self::operation(value, &[self, weights], move |grad, gradients| {
            let (x, w) = (x.into_tensor(), w.into_tensor());
            gradients.write(&x_edge, x.shape(), |dx, accum| {
                sizes.input_gradient(grad.values(), w.values(), dx, (accum, rounding));
            });
            gradients.write(&w_edge, w.shape(), |dw, accum| {
                sizes.weight_gradient(grad.values(), x.values(), dw, (accum, rounding));
            });
        })
    }
}

#[track_caller]
fn sizes(x: &[usize], weights: &[usize]) -> ModeProducts {
    if let (&[batch, 2, modes, width], &[heads, inputs, outputs, count, 2]) = (x, weights)
        && (modes, width) == (count, heads * inputs)
    {
        return ModeProducts { batch, modes, heads, inputs, outputs };
    }
    panic!("products of modes {x:?} with weights {weights:?}")
}

#[cfg(test)]
mod tests {
    use crate::Var;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;
    use foretell_tensor::Tensor;

    #[test]
    fn gradients_of_modes_and_weights() {
        gradients(&[random([2, 2, 3, 4], 1), random([2, 2, 3, 3, 2], 2)], |v| v[0].mode_products(&v[1]));
    }

    #[test]
    fn weights_used_twice_get_both_gradients() {
        gradients(&[random([2, 2, 2, 4], 1), random([2, 2, 2, 2, 2], 2)], |v| {
            let once = v[0].mode_products(&v[1]);
            once.mode_products(&v[1]).add(&v[0])
        });
    }

    #[test]
    fn empty_batches_serve() {
        let (x, w) = (Var::input(Tensor::zeros([0, 2, 3, 2])), Var::input(random([1, 2, 2, 3, 2], 1)));
        x.mode_products(&w).backward_from(Tensor::zeros([0, 2, 3, 2]), &mut []);
        assert_eq!(w.grad().unwrap().to_vec(), [0.0; 24]);
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("mode_products", |x, _| x[0].mode_products(&x[1]));
    }

    #[test]
    #[should_panic(expected = "products of modes [2, 2, 3, 4] with weights [2, 3, 3, 3, 2]")]
    fn wrong_shapes_panic() {
        let (x, w) = (random([2, 2, 3, 4], 1), random([2, 3, 3, 3, 2], 2));
        Var::constant(x).mode_products(&Var::constant(w));
    }
}
