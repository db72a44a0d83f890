//! The weights with which an mLSTM reads its memory; [`foretell_kernels::matrix_memory`] has the formulas and their source.

use foretell_kernels::matrix_memory::{MatrixMemory, MemoryGates};
use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};

use crate::Var;

impl Var {
    /// The weights of the steps so far in the memory of an mLSTM, `[batch, heads, steps, steps]`: `self`, of the same shape, are
    /// the products of queries and keys, which are multiplied with `scale`; `input` and `forget [batch, steps, heads]` are the
    /// sums of the gates.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn matrix_memory(&self, input: &Self, forget: &Self, scale: f32) -> Self {
        let shape = self.shape();
        let &[batch, heads, steps, last] = &*shape else {
            panic!("the memory of an mLSTM by scores of shape {shape:?}")
        };
        let gates_shape = [batch, steps, heads];
        let fits = last == steps && *input.shape() == gates_shape && *forget.shape() == gates_shape;
        assert!(
            fits,
            "the memory of an mLSTM by scores of shape {shape:?} and gates of shapes {:?} and {:?}",
            input.shape(),
            forget.shape()
        );
        let memory = MatrixMemory { batch, heads, steps, scale };
        let scores = self.value().contiguous();
        let [i, f] = [input, forget].map(|gate| gate.value().contiguous());
        let value = Tensor::build(shape, |out| {
            memory.weights(scores.values(), MemoryGates { input: i.values(), forget: f.values() }, out);
        });
        trace::record(|| {
            let record = Record::new("matrix_memory").input(&scores).input(&i).input(&f);
            record.output(&value).number("scale", scale)
        });
        let edges = [input.edge(), forget.edge()];
        let (edge, scores) = (self.edge(), self.save_for_backward(&scores, self.rounding()));
        Self::operation(value, &[self, input, forget], move |mut grad, gradients| {
            let scores = scores.into_tensor();
            let [mut grad_input, mut grad_forget] = [0; 2].map(|_| Tensor::zeros(gates_shape));
            let gates = MemoryGates { input: i.values(), forget: f.values() };
            let outs = [grad_input.values_mut(), grad_forget.values_mut()];
            memory.backward(scores.values(), gates, grad.values_mut(), outs);
            gradients.add_gradient(&edge, grad);
            for (edge, grad) in edges.iter().zip([grad_input, grad_forget]) {
                gradients.add_gradient(edge, grad);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::Var;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradients_of_scores_and_gates() {
        for (batch, heads, steps) in [(2, 2, 4), (1, 3, 1), (2, 1, 3)] {
            let gates = [batch, steps, heads];
            let inputs = [random([batch, heads, steps, steps], 1), random(gates, 2), random(gates, 3)];
            for scale in [0.3, 2.0] {
                gradients(&inputs, |v| v[0].matrix_memory(&v[1], &v[2], scale));
            }
        }
    }

    #[test]
    fn it_sees_nothing_later() {
        let inputs = [random([1, 1, 4, 4], 1), random([1, 4, 1], 2), random([1, 4, 1], 3)];
        let run = |last: f32| {
            let [mut scores, mut input, mut forget] = inputs.clone();
            scores.values_mut()[3] = last;
            (input.values_mut()[3], forget.values_mut()[3]) = (last, last);
            let [scores, input, forget] = [scores, input, forget].map(Var::constant);
            scores.matrix_memory(&input, &forget, 1.0).value().to_vec()
        };
        let (one, other) = (run(0.0), run(9.0));
        assert_eq!(one[..12], other[..12]);
        assert_ne!(one[12..], other[12..]);
    }

    #[test]
    fn agrees_with_the_authors_program() {
        torch::assert_matches_pytorch("matrix_memory", |x, a| {
            x[0].matrix_memory(&x[1], &x[2], a.real("scale"))
        });
    }

    #[test]
    #[should_panic(expected = "scores of shape [1, 2, 3, 3] and gates of shapes [1, 3, 2] and [1, 2, 3]")]
    fn shapes_must_fit() {
        let [scores, input, forget] =
            [random([1, 2, 3, 3], 1), random([1, 3, 2], 2), random([1, 2, 3], 3)].map(Var::constant);
        scores.matrix_memory(&input, &forget, 1.0);
    }
}
