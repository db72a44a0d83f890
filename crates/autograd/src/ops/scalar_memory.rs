//! The recurrence of an sLSTM; [`foretell_kernels::scalar_memory`] has the formulas and their source.

use foretell_kernels::scalar_memory::{FinishedRun, GATES, ScalarMemory, ScalarMemoryRun};
use foretell_tensor::Tensor;
use foretell_tensor::trace::{self, Record};

use crate::Var;

impl Var {
    /// The states h of an sLSTM at all steps, `[steps, batch, heads * width]`, from the sums of its gates i, f, z and o, `self
    /// [steps, batch, 4 heads * width]`, to which the products of the h before with `weight [heads, width, 4 width]` are added.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[track_caller]
    pub fn scalar_memory(&self, weight: &Self) -> Self {
        let (shape, w_shape) = (self.shape(), weight.shape());
        let (&[steps, batch, sums], &[heads, width, columns]) = (&*shape, &*w_shape) else {
            panic!("an sLSTM of shape {shape:?} by weight {w_shape:?}");
        };
        let memory = ScalarMemory { steps, batch, heads, width };
        let fits = sums == GATES * memory.units() && columns == GATES * width;
        assert!(fits, "an sLSTM of shape {shape:?} by weight {w_shape:?}");
        let w = weight.value().contiguous();
        let mut gates = self.value().contiguous();
        let [mut forget, mut cells, mut normalisers] = [0; 3].map(|_| Tensor::zeros([memory.states_len()]));
        let states = Tensor::build([steps, batch, memory.units()], |states| {
            let run = ScalarMemoryRun {
                gates: gates.values_mut(),
                forget: forget.values_mut(),
                cells: cells.values_mut(),
                normalisers: normalisers.values_mut(),
                states,
            };
            memory.forward(w.values(), run);
        });
        trace::record(|| Record::new("scalar_memory").input(self.value()).input(&w).output(&states));
        let (edge, w_edge, kept) = (self.edge(), weight.edge(), states.clone());
        Self::operation(states, &[self, weight], move |mut grad, gradients| {
            let run = FinishedRun {
                gates: gates.values(),
                forget: forget.values(),
                cells: cells.values(),
                normalisers: normalisers.values(),
                states: kept.values(),
            };
            let (mut sums, mut dw) = (Tensor::zeros(shape), Tensor::zeros(w_shape));
            memory.backward(w.values(), run, grad.values_mut(), sums.values_mut(), dw.values_mut());
            gradients.add_gradient(&edge, sums);
            gradients.add_gradient(&w_edge, dw);
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::Var;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    #[test]
    fn gradients_of_sums_and_weights() {
        for (steps, batch, heads, width) in [(3, 2, 2, 2), (1, 2, 1, 3), (4, 1, 3, 1)] {
            let units = heads * width;
            let inputs = [random([steps, batch, 4 * units], 1), random([heads, width, 4 * width], 2)];
            gradients(&inputs, |v| v[0].scalar_memory(&v[1]));
        }
    }

    #[test]
    fn sums_that_others_read_are_left_as_they_are() {
        let [x, w] = [random([2, 1, 4], 1), random([1, 1, 4], 2)].map(Var::constant);
        let before = x.value().to_vec();
        x.scalar_memory(&w);
        assert_eq!(x.value().to_vec(), before);
    }

    #[test]
    fn agrees_with_the_authors_program() {
        torch::assert_matches_pytorch("scalar_memory", |x, _| x[0].scalar_memory(&x[1]));
    }

    #[test]
    #[should_panic(expected = "an sLSTM of shape [2, 1, 8] by weight [1, 1, 4]")]
    fn shapes_must_fit() {
        let [x, w] = [random([2, 1, 8], 1), random([1, 1, 4], 2)].map(Var::constant);
        x.scalar_memory(&w);
    }
}
