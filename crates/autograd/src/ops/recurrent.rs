//! One layer of an RNN, LSTM or GRU over a whole sequence.

use foretell_kernels::Accum;
use foretell_kernels::recurrent::{Layer, RecurrentGradients, RecurrentRun, RunMode, Weights};
use foretell_tensor::Tensor;

use crate::{Cell, Var};

/// The weights of a recurrent layer, as `torch.nn.RNN`, `LSTM` and `GRU` have them.
#[derive(Clone, Copy, Debug)]
pub struct RecurrentWeights<'a> {
    /// `weight_ih [gates * hidden, inputs]`.
    pub input: &'a Var,
    /// `weight_hh [gates * hidden, state]`.
    pub state: &'a Var,
    /// `bias_ih` and `bias_hh`, `[gates * hidden]` each.
    pub biases: Option<[&'a Var; 2]>,
    /// `weight_hr [state, hidden]`, of an LSTM that projects its state.
    pub projection: Option<&'a Var>,
}

/// Where a layer is after a step; where it starts, empty, which stands for zeros.
#[derive(Clone, Debug, Default)]
pub struct CellState {
    /// `[batch, state]`.
    h: Option<Tensor>,
    /// `[batch, hidden]`, of an LSTM.
    c: Option<Tensor>,
}

impl CellState {
    /// The state of `times` sequences, each where sequence `row` of the batch is.
    ///
    /// # Panics
    /// If there is no such row.
    #[track_caller]
    pub fn repeated(&self, row: usize, times: usize) -> Self {
        let repeat = |state: &Tensor| {
            let size = state.shape()[1];
            state.narrow(0, row, 1).broadcast_to([times, size]).contiguous()
        };
        Self { h: self.h.as_ref().map(repeat), c: self.c.as_ref().map(repeat) }
    }
}

/// The weights of a layer as plain tensors.
struct Values {
    input: Tensor,
    state: Tensor,
    biases: Option<[Tensor; 2]>,
    projection: Option<Tensor>,
}

impl Values {
    fn slices(&self) -> Weights<'_> {
        Weights {
            input: self.input.values(),
            state: self.state.values(),
            biases: self.biases.as_ref().map(|[input, state]| [input.values(), state.values()]),
            projection: self.projection.as_ref().map(Tensor::values),
        }
    }
}

impl Var {
    /// Runs a layer over the sequences `self [steps, batch, inputs]`, started from zeros; gives the states h
    /// of the last `last` steps, `[last, batch, state]`.
    ///
    /// With `carried`, it starts from there and leaves there where it ended; no gradient flows through it.
    ///
    /// # Panics
    /// If the shapes do not fit, or there are fewer than `last` steps or none.
    #[track_caller]
    pub fn recurrent(
        &self,
        cell: Cell,
        weights: &RecurrentWeights<'_>,
        last: usize,
        mut carried: Option<&mut CellState>,
    ) -> Self {
        let (&[steps, batch, inputs], &[rows, state]) = (&*self.shape(), &*weights.state.shape()) else {
            panic!("a recurrent layer of {:?} by {:?}", self.shape(), weights.state.shape());
        };
        let hidden = rows / cell.gates();
        assert!((1..=steps).contains(&last), "the last {last} of {steps} steps");
        let projection = weights.projection.map(|_| state);
        let layer = Layer { cell, steps, batch, inputs, hidden, projection };
        let plain = |var: &Self| var.value().contiguous();
        let values = Values {
            input: plain(weights.input),
            state: plain(weights.state),
            biases: weights.biases.map(|biases| biases.map(plain)),
            projection: weights.projection.map(plain),
        };
        let x = plain(self);
        let given = [self, weights.input, weights.state].into_iter();
        let given: Vec<&Self> =
            given.chain(weights.biases.into_iter().flatten()).chain(weights.projection).collect();
        let wanted = given.iter().any(|var| var.edge().is_wanted());
        let run = if wanted { RunMode::Training } else { RunMode::Inference };

        let start = carried.as_deref().cloned().unwrap_or_default();
        let begin = |from: &Option<Tensor>, first: &mut [f32]| match from {
            Some(tensor) => first.copy_from_slice(tensor.values()),
            None => first.fill(0.0),
        };
        let (mut cells, mut tape) = (Tensor::zeros([0]), Tensor::zeros([0]));
        let states = Tensor::build([steps + 1, batch, state], |states| {
            begin(&start.h, &mut states[..batch * state]);
            cells = Tensor::build([layer.cells_len(run)], |cells| {
                if !cells.is_empty() {
                    begin(&start.c, &mut cells[..batch * hidden]);
                }
                tape = Tensor::build([layer.tape_len(run)], |tape| {
                    layer.forward(&values.slices(), x.values(), states, cells, tape, run);
                });
            });
        });
        if let Some(carried) = &mut carried {
            let end = |values: &[f32], size| Some(Tensor::from_slice(values, [batch, size]));
            carried.h = end(&states.values()[steps * batch * state..], state);
            carried.c = match cell {
                Cell::Lstm => end(&cells.values()[layer.last_cell(run)], hidden),
                _ => None,
            };
        }

        let value = states.narrow(0, steps + 1 - last, last);
        let edges: Vec<_> = given.iter().map(|var| var.edge()).collect();
        Self::operation(value, &given, move |grad, gradients| {
            let zeros = |tensor: &Tensor| Tensor::zeros(tensor.shape());
            let [mut input, mut state] = [&values.input, &values.state].map(zeros);
            let mut biases = values.biases.as_ref().map(|biases| biases.each_ref().map(zeros));
            let mut projection = values.projection.as_ref().map(zeros);
            let mut backward = |x_gradient: Option<(&mut [f32], Accum)>| {
                let to = RecurrentGradients {
                    input: input.values_mut(),
                    state: state.values_mut(),
                    biases: biases.as_mut().map(|biases| biases.each_mut().map(Tensor::values_mut)),
                    projection: projection.as_mut().map(Tensor::values_mut),
                    x: x_gradient,
                };
                let (states, cells, tape) = (states.values(), cells.values(), tape.values());
                layer.backward(
                    &values.slices(),
                    RecurrentRun { x: x.values(), states, cells, tape },
                    grad.values(),
                    to,
                );
            };
            if edges[0].is_wanted() {
                gradients.write(&edges[0], x.shape(), |dx, accum| backward(Some((dx, accum))));
            } else {
                backward(None);
            }
            let of_weights = [input, state].into_iter().chain(biases.into_iter().flatten()).chain(projection);
            for (edge, gradient) in edges[1..].iter().zip(of_weights) {
                gradients.give(edge, gradient);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Activation;
    use crate::ops::check::{gradients, random};
    use crate::ops::torch;

    const CELLS: [(Cell, Option<usize>); 4] =
        [(Cell::Rnn(Activation::Tanh), None), (Cell::Lstm, None), (Cell::Lstm, Some(2)), (Cell::Gru, None)];

    /// Inputs `[4, 2, 3]`, and the weights for 3 hidden units, scaled down so that no gate is saturated.
    fn inputs(cell: Cell, projection: Option<usize>) -> Vec<Tensor> {
        let (hidden, rows) = (3, 3 * cell.gates());
        let mut all = vec![random([4, 2, 3], 1), random([rows, 3], 2)];
        all.push(random([rows, projection.unwrap_or(hidden)], 3));
        all.extend([random([rows], 4), random([rows], 5)]);
        all.extend(projection.map(|size| random([size, hidden], 6)));
        all.iter().map(|tensor| tensor.scale(0.4)).collect()
    }

    fn run(v: &[Var], cell: Cell, last: usize, carried: Option<&mut CellState>) -> Var {
        let weights = RecurrentWeights {
            input: &v[1],
            state: &v[2],
            biases: Some([&v[3], &v[4]]),
            projection: v.get(5),
        };
        v[0].recurrent(cell, &weights, last, carried)
    }

    #[test]
    fn gradients_of_every_cell() {
        for (cell, projection) in CELLS {
            for last in [1, 4] {
                gradients(&inputs(cell, projection), |v| run(v, cell, last, None));
            }
        }
    }

    #[test]
    fn gradients_without_biases() {
        let x = inputs(Cell::Lstm, None);
        gradients(&x[..3], |v| {
            let weights = RecurrentWeights { input: &v[1], state: &v[2], biases: None, projection: None };
            v[0].recurrent(Cell::Lstm, &weights, 2, None)
        });
    }

    #[test]
    fn what_is_carried_goes_on_where_it_ended() {
        for (cell, projection) in CELLS {
            let x: Vec<Var> = inputs(cell, projection).into_iter().map(Var::constant).collect();
            let whole = run(&x, cell, 1, None).value().to_vec();
            let mut carried = CellState::default();
            let mut end = Vec::new();
            for t in 0..4 {
                let mut step = x.clone();
                step[0] = x[0].narrow(0, t, 1);
                end = run(&step, cell, 1, Some(&mut carried)).value().to_vec();
            }
            let close = whole.iter().zip(&end).all(|(a, b)| (a - b).abs() < 1e-6);
            assert!(close, "{cell:?}: {whole:?}, step by step {end:?}");
        }
    }

    #[test]
    #[should_panic(expected = "the last 5 of 4 steps")]
    fn there_must_be_so_many_steps() {
        let x: Vec<Var> = inputs(Cell::Gru, None).into_iter().map(Var::constant).collect();
        run(&x, Cell::Gru, 5, None);
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::agrees("recurrent", |x, a| {
            // x, weight_ih, weight_hh, then the biases and weight_hr where there are any.
            let cell = match a.text("cell") {
                "RNN" => Cell::Rnn(Activation::Tanh),
                "LSTM" => Cell::Lstm,
                _ => Cell::Gru,
            };
            let biases = (x.len() >= 5).then(|| [&x[3], &x[4]]);
            let projection = x.len().is_multiple_of(2).then(|| x.last().expect("an input"));
            let weights = RecurrentWeights { input: &x[1], state: &x[2], biases, projection };
            x[0].recurrent(cell, &weights, a.number("last"), None)
        });
    }
}
