//! One layer of an RNN, LSTM or GRU over a whole sequence.

use foretell_gemm::Rounding;
use foretell_kernels::Accum;
use foretell_kernels::recurrent::{
    HeldWeights, LEAST_STACKED_STEPS, Layer, RecurrentGradients, RecurrentRun, RunMode, StackedLayer,
    Weights, forward_stack,
};
use foretell_tensor::trace::{self, Record};
use foretell_tensor::{KeptTensor, Tensor};

use super::activation::noted;
use crate::{Activation, BackwardPass, Cell, Edge, Var};

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
    /// The same matrices as forecasts hold them: in fewer bits, no gradient flows through them.
    pub held: Option<&'a HeldWeights>,
}

/// The state of a layer after a step; empty at the start, which stands for zeros.
#[derive(Clone, Debug, Default)]
pub struct CellState {
    /// `[batch, state]`.
    h: Option<Tensor>,
    /// `[batch, hidden]`, of an LSTM.
    c: Option<Tensor>,
}

impl CellState {
    /// The state of `times` sequences, each equal to that of sequence `row` of the batch.
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

/// The state in which a layer starts or ends, as variables that gradients flow through.
#[derive(Clone, Debug)]
pub struct CellVars {
    /// `[batch, state]`.
    pub h: Var,
    /// `[batch, hidden]`, of an LSTM.
    pub c: Option<Var>,
}

/// The weights of a layer as plain tensors.
struct Values {
    input: Tensor,
    state: Tensor,
    biases: Option<[Tensor; 2]>,
    projection: Option<Tensor>,
}

impl Values {
    fn of(weights: &RecurrentWeights<'_>) -> Self {
        let plain = |var: &Var| var.value().contiguous();
        Self {
            input: plain(weights.input),
            state: plain(weights.state),
            biases: weights.biases.map(|biases| biases.map(plain)),
            projection: weights.projection.map(plain),
        }
    }

    /// What a recording of a run says of it, up to its results.
    fn record(&self, cell: Cell, x: &Tensor, from: &CellState) -> Record {
        let (name, activation) = match cell {
            Cell::Lstm => ("lstm", Activation::Tanh),
            Cell::Gru => ("gru", Activation::Tanh),
            Cell::Rnn(activation) => ("rnn", activation),
        };
        let biases = self.biases.as_ref().map_or([None; 2], |biases| biases.each_ref().map(Some));
        let record = Record::new(name).input(x).input(&self.input).input(&self.state);
        let record = record.optional(biases[0]).optional(biases[1]).optional(self.projection.as_ref());
        noted(record.optional(from.h.as_ref()).optional(from.c.as_ref()), activation)
    }

    /// Runs the layer from a state on: the states before the first step and after each, the cells, and the tape.
    fn run(
        &self,
        layer: &Layer,
        held: Option<&HeldWeights>,
        x: &Tensor,
        from: &CellState,
        run: RunMode,
    ) -> [Tensor; 3] {
        let begin = |from: &Option<Tensor>, first: &mut [f32]| match from {
            Some(tensor) => first.copy_from_slice(tensor.values()),
            None => first.fill(0.0),
        };
        let (mut cells, mut tape) = (Tensor::zeros([0]), Tensor::zeros([0]));
        let states = Tensor::build([layer.steps + 1, layer.batch, layer.state()], |states| {
            begin(&from.h, &mut states[..layer.batch * layer.state()]);
            cells = Tensor::build([layer.cells_len(run)], |cells| {
                if !cells.is_empty() {
                    begin(&from.c, &mut cells[..layer.batch * layer.hidden]);
                }
                tape = Tensor::build([layer.tape_len(run)], |tape| {
                    let weights = Weights { held, ..self.slices() };
                    layer.forward(&weights, x.values(), states, cells, tape, run);
                });
            });
        });
        [states, cells, tape]
    }

    fn slices(&self) -> Weights<'_> {
        Weights {
            input: self.input.values(),
            state: self.state.values(),
            biases: self.biases.as_ref().map(|[input, state]| [input.values(), state.values()]),
            projection: self.projection.as_ref().map(Tensor::values),
            held: None,
        }
    }
}

/// What the gradients of a layer are made from.
struct KeptRun {
    layer: Layer,
    values: Values,
    x: KeptTensor,
    states: KeptTensor,
    cells: KeptTensor,
    tape: Tensor,
    /// The steps whose states were given.
    last: usize,
    /// The sizes of h and c of a start that gradients flow to.
    start: Option<[usize; 2]>,
    /// Of x, the weights and the start.
    edges: Vec<Edge>,
}

impl KeptRun {
    /// Passes on the gradients of the last states and of the last c.
    fn backward(self, [grad, grad_c]: [Option<Tensor>; 2], gradients: &mut BackwardPass<'_>) {
        let Self { layer, values, edges, tape, .. } = self;
        let x = self.x.into_tensor();
        let [states, cells] = [self.states, self.cells].map(KeptTensor::into_tensor);
        let zeros = |tensor: &Tensor| Tensor::zeros(tensor.shape());
        let [mut input, mut state] = [&values.input, &values.state].map(zeros);
        let mut biases = values.biases.as_ref().map(|biases| biases.each_ref().map(zeros));
        let mut projection = values.projection.as_ref().map(zeros);
        let mut start = self.start.map(|sizes| sizes.map(|size| Tensor::zeros([layer.batch, size])));
        let grad = grad.unwrap_or_else(|| Tensor::zeros([self.last, layer.batch, state.shape()[1]]));
        let grad_c = grad_c.as_ref().map(Tensor::values).unwrap_or_default();
        let mut backward = |x_gradient: Option<(&mut [f32], Accum)>| {
            let to = RecurrentGradients {
                input: input.values_mut(),
                state: state.values_mut(),
                biases: biases.as_mut().map(|biases| biases.each_mut().map(Tensor::values_mut)),
                projection: projection.as_mut().map(Tensor::values_mut),
                x: x_gradient,
                start: start.as_mut().map(|start| start.each_mut().map(Tensor::values_mut)),
            };
            let [x, states, cells, tape] = [&x, &states, &cells, &tape].map(Tensor::values);
            let run = RecurrentRun { x, states, cells, tape };
            layer.backward(&values.slices(), run, [grad.values(), grad_c], to);
        };
        if edges[0].is_wanted() {
            gradients.write(&edges[0], x.shape(), |dx, accum| backward(Some((dx, accum))));
        } else {
            backward(None);
        }
        let of_weights = [input, state].into_iter().chain(biases.into_iter().flatten()).chain(projection);
        for (edge, gradient) in edges[1..].iter().zip(of_weights.chain(start.into_iter().flatten())) {
            gradients.add_gradient(edge, gradient);
        }
    }
}

impl Var {
    /// Runs a layer over the sequences `self [steps, batch, inputs]`, started from zeros; gives the states h
    /// of the last `last` steps, `[last, batch, state]`.
    ///
    /// With `carried`, it starts from the state there and replaces it by the last one; no gradient flows through it.
    ///
    /// # Panics
    /// If the shapes do not fit, or there are fewer than `last` steps or none.
    #[track_caller]
    pub fn recurrent(
        &self,
        cell: Cell,
        weights: &RecurrentWeights<'_>,
        last: usize,
        carried: Option<&mut CellState>,
    ) -> Self {
        self.run_layer(cell, weights, last, None, carried).0
    }

    /// Runs a layer over the sequences `self [steps, batch, inputs]` from `start` on; gives the states h of all
    /// steps, `[steps, batch, hidden]`, and the last state. Gradients flow through both ends.
    ///
    /// # Panics
    /// If the shapes do not fit, there are no steps, the layer projects its states, or `start` has a c and the cell is no LSTM
    /// or the other way round.
    #[track_caller]
    pub fn recurrent_from(
        &self,
        cell: Cell,
        weights: &RecurrentWeights<'_>,
        start: &CellVars,
    ) -> (Self, CellVars) {
        assert!(
            weights.projection.is_none(),
            "a layer that projects its states does not start from variables"
        );
        assert_eq!(start.c.is_some(), cell == Cell::Lstm, "a start with a c is one of an LSTM");
        let &[steps, batch, _] = &*self.shape() else { panic!("a recurrent layer of {:?}", self.shape()) };
        let (states, c) = self.run_layer(cell, weights, steps, Some(start), None);
        let last = states.narrow(0, steps - 1, 1);
        let h = last.reshape([batch, last.shape()[2]]);
        (states, CellVars { h, c })
    }

    /// [`Var::recurrent`] of layers on top of each other over one sequence, `self [steps, 1, inputs]`, in forecasts, where
    /// threads may take a layer each ([`forward_stack`]): the top layer's states. Nothing where another number of sequences, a
    /// short one, a single layer, or weights that are not held ask for one layer after the other.
    ///
    /// # Panics
    /// As [`Var::recurrent`], and if `carried` is not of as many layers.
    #[track_caller]
    pub fn recurrent_stack(
        &self,
        cell: Cell,
        layers: &[RecurrentWeights<'_>],
        last: usize,
        carried: Option<&mut [CellState]>,
    ) -> Option<Self> {
        let &[steps, 1, mut inputs] = &*self.shape() else { return None };
        let wanted = self.edge().is_wanted() || layers.iter().any(|weights| weights.state.edge().is_wanted());
        let held = layers.iter().all(|weights| weights.held.is_some());
        if wanted || !held || steps < LEAST_STACKED_STEPS || trace::is_on() {
            return None;
        }
        assert!((1..=steps).contains(&last), "the last {last} of {steps} steps");
        assert!(
            carried.as_ref().is_none_or(|carried| carried.len() == layers.len()),
            "a state for each layer"
        );
        let x = self.value().contiguous();
        let values: Vec<_> = layers.iter().map(Values::of).collect();
        let sizes = layers.iter().map(|weights| {
            let &[rows, state] = &*weights.state.shape() else {
                panic!("weights of {:?}", weights.state.shape())
            };
            let (hidden, rounding) = (rows / cell.gates(), weights.state.rounding());
            let projection = weights.projection.map(|_| state);
            let keeping = Rounding::None;
            let layer = Layer { cell, steps, batch: 1, inputs, hidden, projection, rounding, keeping };
            inputs = state;
            layer
        });
        let sizes: Vec<Layer> = sizes.collect();
        let run = RunMode::Inference;
        let memory = sizes.iter().enumerate().map(|(k, layer)| {
            let mut states = Tensor::zeros([steps + 1, 1, layer.state()]);
            let mut cells = Tensor::zeros([layer.cells_len(run)]);
            if let Some(CellState { h, c }) = carried.as_ref().map(|carried| &carried[k]) {
                for (to, from) in [(&mut states, h), (&mut cells, c)] {
                    if let Some(from) = from {
                        to.values_mut()[..from.numel()].copy_from_slice(from.values());
                    }
                }
            }
            (states, cells)
        });
        let mut memory: Vec<_> = memory.collect();
        let stacked = sizes.iter().zip(layers).zip(&values).zip(&mut memory);
        let stacked = stacked.map(|(((layer, weights), values), (states, cells))| StackedLayer {
            layer: *layer,
            weights: Weights { held: weights.held, ..values.slices() },
            states: states.values_mut(),
            cells: cells.values_mut(),
        });
        if !forward_stack(&mut stacked.collect::<Vec<_>>(), x.values()) {
            return None;
        }
        for (carried, (layer, (states, cells))) in
            carried.into_iter().flatten().zip(sizes.iter().zip(&memory))
        {
            carried.h = Some(states.narrow(0, steps, 1).reshape([1, layer.hidden]));
            carried.c = (cell == Cell::Lstm).then(|| {
                let last = layer.last_cell(run);
                cells.narrow(0, last.start, last.len()).reshape([1, layer.hidden])
            });
        }
        let (top, _) = memory.pop()?;
        Some(Self::constant(top.narrow(0, steps + 1 - last, last)))
    }

    /// The states of the last `last` steps and, where an LSTM starts from variables, the c after them.
    #[track_caller]
    fn run_layer(
        &self,
        cell: Cell,
        weights: &RecurrentWeights<'_>,
        last: usize,
        start: Option<&CellVars>,
        mut carried: Option<&mut CellState>,
    ) -> (Self, Option<Self>) {
        let (&[steps, batch, inputs], &[rows, state]) = (&*self.shape(), &*weights.state.shape()) else {
            panic!("a recurrent layer of {:?} by {:?}", self.shape(), weights.state.shape());
        };
        let hidden = rows / cell.gates();
        assert!((1..=steps).contains(&last), "the last {last} of {steps} steps");
        let projection = weights.projection.map(|_| state);
        let (rounding, keeping) = (weights.state.rounding(), weights.state.keeping());
        let layer = Layer { cell, steps, batch, inputs, hidden, projection, rounding, keeping };
        let plain = |var: &Self| var.value().contiguous();
        let values = Values::of(weights);
        let x = plain(self);
        let first = start.map(|start| [Some(&start.h), start.c.as_ref()]).unwrap_or_default();
        let operands = [self, weights.input, weights.state].into_iter();
        let operands = operands.chain(weights.biases.into_iter().flatten()).chain(weights.projection);
        let operands: Vec<&Self> = operands.chain(first.into_iter().flatten()).collect();
        let wanted = operands.iter().any(|var| var.edge().is_wanted());
        let run = if wanted { RunMode::Training } else { RunMode::Inference };
        assert!(
            !wanted || weights.held.is_none_or(|held| !held.is_narrow()),
            "weights in fewer bits are for forecasts: they have no gradient"
        );

        let from = match start {
            Some(start) => CellState { h: Some(plain(&start.h)), c: start.c.as_ref().map(plain) },
            None => carried.as_deref().cloned().unwrap_or_default(),
        };
        let gives_c = start.is_some() && cell == Cell::Lstm;
        let [states, cells, tape] = values.run(&layer, weights.held, &x, &from, run);
        let last_c =
            gives_c.then(|| Tensor::from_slice(&cells.values()[layer.last_cell(run)], [batch, hidden]));
        if let Some(carried) = &mut carried {
            let end = |values: &[f32], size| Some(Tensor::from_slice(values, [batch, size]));
            carried.h = end(&states.values()[steps * batch * state..], state);
            carried.c = match cell {
                Cell::Lstm => end(&cells.values()[layer.last_cell(run)], hidden),
                _ => None,
            };
        }

        let value = states.narrow(0, steps + 1 - last, last);
        trace::record(|| {
            let ends = carried.as_deref().map_or([None; 2], |state| [state.h.as_ref(), state.c.as_ref()]);
            let ends = ends.into_iter().chain([last_c.as_ref()]).flatten();
            let record = ends.fold(values.record(cell, &x, &from).output(&value), Record::output);
            record.size("last", last).word("ends", if last_c.is_some() { "c" } else { "state" })
        });
        // States and cells are kept in 16 bits where the tape's gates already are; inputs and
        // states are shared with the layers around.
        let x = self.save_for_backward(&x, rounding);
        let keeps = if wanted { rounding.or(keeping) } else { Rounding::None };
        let [states, cells] = [states, cells].map(|part| part.keep(keeps));
        let edges = operands.iter().map(|var| var.edge()).collect();
        let start = start.map(|_| [state, if gives_c { hidden } else { 0 }]);
        let kept = KeptRun { layer, values, x, states, cells, tape, last, start, edges };
        match last_c {
            None => {
                let backward = |grad, pass: &mut BackwardPass<'_>| kept.backward([Some(grad), None], pass);
                (Self::operation(value, &operands, backward), None)
            }
            Some(last_c) => {
                let backward = |grads, pass: &mut BackwardPass<'_>| kept.backward(grads, pass);
                let [states, c] = Self::operation_of_two([value, last_c], &operands, backward);
                (states, Some(c))
            }
        }
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
            held: None,
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
            let weights =
                RecurrentWeights { input: &v[1], state: &v[2], biases: None, projection: None, held: None };
            v[0].recurrent(Cell::Lstm, &weights, 2, None)
        });
    }

    #[test]
    fn carried_states_continue_where_they_ended() {
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

    fn run_from(v: &[Var], cell: Cell, [h, c]: [&Var; 2]) -> Var {
        let weights = RecurrentWeights {
            input: &v[1],
            state: &v[2],
            biases: Some([&v[3], &v[4]]),
            projection: None,
            held: None,
        };
        let start = CellVars { h: h.clone(), c: (cell == Cell::Lstm).then(|| c.clone()) };
        let (states, between) = v[0].recurrent_from(cell, &weights, &start);
        // A second layer starts from the state in which the first has ended.
        let (again, end) = v[0].narrow(0, 0, 2).recurrent_from(cell, &weights, &between);
        let last = end.c.unwrap_or(end.h);
        let [rows, hidden] = [last.shape()[0], last.shape()[1]];
        Var::concat(&[states, again, last.reshape([1, rows, hidden])], 0)
    }

    #[test]
    fn gradients_flow_through_both_ends() {
        for cell in [Cell::Rnn(Activation::Tanh), Cell::Lstm, Cell::Gru] {
            let mut inputs = inputs(cell, None);
            inputs.extend([random([2, 3], 7), random([2, 3], 8)]);
            let count = if cell == Cell::Lstm { 7 } else { 6 };
            gradients(&inputs[..count], |v| run_from(v, cell, [&v[5], v.last().expect("an input")]));
        }
    }

    #[test]
    fn a_start_of_zeros_is_none() {
        for cell in [Cell::Rnn(Activation::Tanh), Cell::Lstm, Cell::Gru] {
            let x: Vec<Var> = inputs(cell, None).into_iter().map(Var::constant).collect();
            let zeros = Var::constant(Tensor::zeros([2, 3]));
            let states = run_from(&x, cell, [&zeros, &zeros]).narrow(0, 0, 4);
            assert_eq!(states.value().to_vec(), run(&x, cell, 4, None).value().to_vec());
        }
    }

    #[test]
    #[should_panic(expected = "a start with a c is one of an LSTM")]
    fn an_lstm_starts_from_two_states() {
        let x: Vec<Var> = inputs(Cell::Gru, None).into_iter().map(Var::constant).collect();
        let weights =
            RecurrentWeights { input: &x[1], state: &x[2], biases: None, projection: None, held: None };
        let h = Var::constant(Tensor::zeros([2, 3]));
        x[0].recurrent_from(Cell::Gru, &weights, &CellVars { h: h.clone(), c: Some(h) });
    }

    #[test]
    #[should_panic(expected = "the last 5 of 4 steps")]
    fn there_must_be_so_many_steps() {
        let x: Vec<Var> = inputs(Cell::Gru, None).into_iter().map(Var::constant).collect();
        run(&x, Cell::Gru, 5, None);
    }

    fn cell_of(arguments: &torch::Arguments<'_>) -> Cell {
        match arguments.text("cell") {
            "RNN" => Cell::Rnn(Activation::Tanh),
            "LSTM" => Cell::Lstm,
            _ => Cell::Gru,
        }
    }

    #[test]
    fn agrees_with_pytorch() {
        torch::assert_matches_pytorch("recurrent", |x, a| {
            // x, weight_ih, weight_hh, then the biases and weight_hr where there are any.
            let cell = cell_of(a);
            let biases = (x.len() >= 5).then(|| [&x[3], &x[4]]);
            let projection = x.len().is_multiple_of(2).then(|| x.last().expect("an input"));
            let weights = RecurrentWeights { input: &x[1], state: &x[2], biases, projection, held: None };
            x[0].recurrent(cell, &weights, a.number("last"), None)
        });
    }

    #[test]
    fn agrees_with_pytorch_from_a_start() {
        torch::assert_matches_pytorch("recurrent_from", |x, a| {
            let cell = cell_of(a);
            // x, h, the c of an LSTM, then the weights.
            let c = (cell == Cell::Lstm).then(|| x[2].clone());
            let w = &x[x.len() - 4..];
            let weights = RecurrentWeights {
                input: &w[0],
                state: &w[1],
                biases: Some([&w[2], &w[3]]),
                projection: None,
                held: None,
            };
            let start = CellVars { h: x[1].clone(), c };
            let (states, end) = x[0].recurrent_from(cell, &weights, &start);
            match end.c {
                Some(c) => Var::concat(&[&states, &c.repeat(0, 1)], 0),
                None => states,
            }
        });
    }
}
