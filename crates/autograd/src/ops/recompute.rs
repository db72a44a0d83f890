//! A block of operations that keeps nothing but its inputs, and is computed again in the backward pass.
//!
//! Chen, Xu, Zhang, Guestrin 2016, "Training Deep Nets with Sublinear Memory Cost" (arXiv 1604.06174).

use foretell_tensor::Tensor;

use crate::Var;

impl Var {
    /// A variable with the `value` of a block of operations on `inputs` and on parameters, which was computed without
    /// recording. The backward pass computes the block `again`, records it, and continues through the recorded operations.
    ///
    /// `again` gets the inputs, and must come to the same value: dropout with the same keys.
    ///
    /// # Panics
    /// In the backward pass, if it comes to another shape.
    pub fn recomputed(
        value: Tensor,
        inputs: &[&Self],
        again: impl FnOnce(&[Self]) -> Self + 'static,
    ) -> Self {
        let inputs: Vec<Self> = inputs.iter().map(|&input| input.clone()).collect();
        Self::recorded(value, move |grad, gradients| {
            // Its nodes are younger than all that wait, so they have their turn before the inputs' nodes.
            let output = again(&inputs);
            assert_eq!(output.shape(), grad.shape(), "a block computed again and at first");
            gradients.add_gradient(&output.edge(), grad);
        })
    }
}

#[cfg(test)]
mod tests {
    use foretell_tensor::Tensor;

    use crate::ops::check::{gradients, random};
    use crate::{Key, Var};

    /// Uses an input twice, and drops out.
    fn block(v: &[Var]) -> Var {
        v[0].mul(&v[1]).dropout(0.3, Key::new(4)).mul(&v[0])
    }

    fn recomputed(v: &[Var]) -> Var {
        let constants: Vec<Var> = v.iter().map(|var| Var::constant(var.value().clone())).collect();
        Var::recomputed(block(&constants).value().clone(), &v.iter().collect::<Vec<_>>(), block)
    }

    #[test]
    fn gradients_are_those_of_the_block() {
        let inputs = [random([3, 4], 1), random([3, 4], 2)];
        gradients(&inputs, recomputed);
        // Blocks one after the other, an input used beside its block, and a block within a block.
        gradients(&inputs, |v| recomputed(&[recomputed(v), v[1].clone()]).add(&v[0]));
        gradients(&inputs, |v| {
            let outer = |v: &[Var]| recomputed(&[v[0].scale(0.5), v[1].clone()]);
            let value = outer(v).value().clone();
            Var::recomputed(value, &[&v[0], &v[1]], outer)
        });
    }

    #[test]
    fn parameters_within_get_their_gradients() {
        let run = |again: bool| {
            let (w, x) = (Tensor::from_slice(&[2.0, -1.0], [2]), Var::input(random([2], 3)));
            let block = move |v: &[Var]| v[0].mul(&Var::parameter(w.clone(), 1)).mul(&v[0]);
            let value = block(&[Var::constant(x.value().clone())]).value().clone();
            let y =
                if again { Var::recomputed(value, &[&x], block) } else { block(std::slice::from_ref(&x)) };
            let mut arena = [0.0; 3];
            y.sum(0).backward(&mut arena);
            (arena, x.grad().expect("a gradient").to_vec())
        };
        assert_eq!(run(true), run(false));
        // Nothing but a parameter wants a gradient.
        let y = Var::recomputed(Tensor::scalar(6.0), &[&Var::constant(Tensor::scalar(3.0))], |v| {
            v[0].mul(&Var::parameter(Tensor::scalar(2.0), 0))
        });
        let mut arena = [0.0];
        y.backward(&mut arena);
        assert_eq!(arena, [3.0]);
    }
}
