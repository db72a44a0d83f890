//! The backward pass through time. The gradients of the sums are computed for a few steps at a time, and all products
//! with them are made while they are in cache. They are not kept, and the tape is read once.

use std::ops::Range;

use foretell_gemm::{Accum, MatMut, MatRef, Rhs};
use foretell_pool::Buffer;
use foretell_simd as simd;

use super::cell::Cell;
use super::kept::Kept;
use super::layer::{Layer, RunMode};
use super::operand::{packed_or, part, part_mut};
use super::weights::Weights;

/// The most sequences that go back together, and about the rows of the products that are of several steps: as many as a
/// product of the weights' gradients needs for its best rate, and few enough that they stay in cache, with the weights
/// and their gradients, until the last of the products has read them.
const ROWS: usize = 128;

/// Where [`Layer::backward`] puts the gradients. Those of weights are added to what is there.
#[derive(Debug)]
pub struct RecurrentGradients<'a> {
    /// The gradient of W.
    pub input: &'a mut [f32],
    /// The gradient of U.
    pub state: &'a mut [f32],
    /// The gradients of the biases beside W and U.
    pub biases: Option<[&'a mut [f32]; 2]>,
    /// The gradient of the projection, for a layer that has one.
    pub projection: Option<&'a mut [f32]>,
    /// The gradient of the inputs, if it is wanted.
    pub x: Option<(&'a mut [f32], Accum)>,
    /// Of the states h, `[batch, state]`, and of an LSTM c, `[batch, hidden]`, that the layer started from, if they are
    /// wanted; they replace what is there.
    pub start: Option<[&'a mut [f32]; 2]>,
}

/// The inputs and the results of [`Layer::forward`] in training.
#[derive(Clone, Copy, Debug)]
pub struct RecurrentRun<'a> {
    /// The inputs.
    pub x: &'a [f32],
    /// The states h.
    pub states: &'a [f32],
    /// The states c.
    pub cells: &'a [f32],
    /// The tape.
    pub tape: &'a [f32],
}

/// The buffers of the backward pass beside the tape.
struct Scratch {
    /// The gradients of the sums of a few steps, `[rows, sums * hidden]`.
    sums: Buffer<f32>,
    /// The gradients of their states, of a layer with a projection, `[rows, state]`.
    projected: Buffer<f32>,
    /// The gates of a step, and the cells' outputs of a few steps, where the tape has them in 16 bits.
    gates: Buffer<f32>,
    outputs: Buffer<f32>,
    /// Of a step: the gradients of its state, of the cell's output, and of c.
    dh: Buffer<f32>,
    dm: Buffer<f32>,
    dc: Buffer<f32>,
    /// Whether `dh` is wanted for the state before the first step, too.
    to_start: bool,
    /// The sum of `sums` over all rows, `[sums * hidden]`.
    bias: Buffer<f32>,
}

impl Layer {
    /// All gradients, given those of the last states, `[last, batch, state]`, and of the c after the last step, `[batch,
    /// hidden]`, empty where there is none.
    ///
    /// # Panics
    /// If a length does not fit.
    #[track_caller]
    pub fn backward(
        &self,
        weights: &Weights<'_>,
        run: RecurrentRun<'_>,
        [grad, grad_c]: [&[f32]; 2],
        mut gradients: RecurrentGradients<'_>,
    ) {
        let Self { steps, hidden, .. } = *self;
        self.check(weights, run.x, run.states, run.cells, RunMode::Training);
        self.check_gradients(&gradients);
        assert_eq!(run.tape.len(), self.tape_len(RunMode::Training), "the tape of {self:?}");
        let size = self.batch * self.state();
        let last = grad.len().checked_div(size).unwrap_or(0);
        assert!(last <= steps && grad.len() == last * size, "{} gradients for {self:?}", grad.len());

        let most = self.blocks(ROWS).next().map_or(0, |block| block.len());
        let at_once = self.steps_back_at_once();
        let rows = at_once * most;
        let projects = usize::from(self.projection.is_some());
        let has_c = usize::from(self.cell == Cell::Lstm);
        let widens = usize::from(self.keeps_rounded(RunMode::Training));
        let mut scratch = Scratch {
            sums: Buffer::stale(rows * self.width()),
            projected: Buffer::stale(projects * rows * self.state()),
            gates: Buffer::stale(widens * most * self.width()),
            outputs: Buffer::stale(widens * projects * rows * hidden),
            dh: Buffer::stale(most * self.state()),
            dm: Buffer::stale(projects * most * hidden),
            dc: Buffer::stale(has_c * most * hidden),
            to_start: gradients.start.is_some(),
            bias: Buffer::zeroed(self.width()),
        };
        let gates = self.cell.gates() * hidden;
        let by_state = MatRef::row_major(weights.state, gates, self.state());
        let packed = self.packed_state(by_state);
        let by_state = packed_or(packed.as_ref(), by_state);
        let packed_inputs = self.packed_inputs(weights, |part| part);
        let by_input = self.by_input(weights, &packed_inputs, |part| part);
        for block in self.blocks(ROWS) {
            scratch.dh.fill(0.0);
            match grad_c {
                [] => scratch.dc.fill(0.0),
                _ => scratch.dc[..block.len() * hidden].copy_from_slice(part(grad_c, &block, hidden)),
            }
            for first in (0..steps).step_by(at_once).rev() {
                let group = first..steps.min(first + at_once);
                for t in group.clone().rev() {
                    let grad = (t + last).checked_sub(steps).map(|at| &grad[at * size..][..size]);
                    self.step_back(weights, by_state, &run, grad, t, first, &block, &mut scratch);
                }
                let rows = group.len() * block.len();
                let start = first * self.batch + block.start;
                self.multiply(by_input, &run, start..start + rows, &mut scratch, &mut gradients);
            }
            if let Some([h, c]) = &mut gradients.start {
                let h = part_mut(h, &block, self.state());
                h.copy_from_slice(&scratch.dh[..h.len()]);
                let c = part_mut(c, &block, has_c * hidden);
                c.copy_from_slice(&scratch.dc[..c.len()]);
            }
        }
        if let Some([input, state]) = gradients.biases {
            for (from, to) in self.input_columns().into_iter().flatten() {
                simd::add_assign(&mut input[to], &scratch.bias[from]);
            }
            let rows = state.len();
            simd::add_assign(state, &scratch.bias[..rows]);
        }
    }

    /// Steps whose products are made at once: several only where all sequences are one block, so that their rows are
    /// contiguous.
    fn steps_back_at_once(&self) -> usize {
        (ROWS / self.batch.max(1)).clamp(1, self.steps)
    }

    /// From `dh`, the gradient of the state after step t, and from `grad` to the gradients of the step's sums and to
    /// `dh` of the state before it.
    fn step_back(
        &self,
        weights: &Weights<'_>,
        by_state: Rhs<'_>,
        run: &RecurrentRun<'_>,
        grad: Option<&[f32]>,
        t: usize,
        first: usize,
        block: &Range<usize>,
        scratch: &mut Scratch,
    ) {
        let Self { batch, hidden, .. } = *self;
        let (size, count, width) = (self.state(), block.len(), self.width());
        let slot = (t - first) * count..(t - first + 1) * count;
        let Scratch { sums, projected, gates, dh, dm, dc, to_start, bias, .. } = scratch;
        let dh = &mut dh[..count * size];
        if let Some(grad) = grad {
            simd::add_assign(dh, part(grad, block, size));
        }
        let sums = part_mut(sums, &slot, width);
        let rows = |t: usize| t * batch + block.start..t * batch + block.end;
        let gates = match self.cell {
            Cell::Rnn(_) => &[],
            _ => self.kept(Kept::Gates, &rows(t), run.tape, gates),
        };
        let [before, after] = [t, t + 1].map(|t| part(run.states, &rows(t), size));
        match self.cell {
            Cell::Rnn(activation) => {
                sums.copy_from_slice(dh);
                activation.backward(after, sums);
            }
            Cell::Gru => simd::gru_cell_backward(hidden, gates, before, dh, sums),
            Cell::Lstm => {
                let [before, c] = [t, t + 1].map(|t| part(run.cells, &rows(t), hidden));
                let dm = match weights.projection {
                    None => &*dh,
                    Some(projection) => {
                        part_mut(projected, &slot, size).copy_from_slice(dh);
                        let dm = &mut dm[..count * hidden];
                        let by_units = MatRef::row_major(projection, size, hidden);
                        let dh = MatRef::row_major(dh, count, size);
                        let out = MatMut::row_major(dm, count, hidden);
                        self.product(out, dh, by_units.into(), Accum::Replace);
                        &*dm
                    }
                };
                let dc = &mut dc[..count * hidden];
                simd::lstm_cell_backward(hidden, gates, before, c, dm, dc, sums);
            }
        }
        sums.chunks_exact(width.max(1)).for_each(|row| simd::add_assign(bias, row));
        if t > 0 || *to_start {
            // A GRU leaves in dh the gradient that does not pass through the gates.
            let accum = if self.cell == Cell::Gru { Accum::Add } else { Accum::Replace };
            let sums = MatRef::row_major(sums, count, width).cols(0..self.cell.gates() * hidden);
            self.product(MatMut::row_major(dh, count, size), sums, by_state, accum);
        }
    }

    /// Adds the products with the gradients of the sums of some steps, whose inputs and states are these `rows`.
    fn multiply(
        &self,
        by_input: [Rhs<'_>; 2],
        run: &RecurrentRun<'_>,
        rows: Range<usize>,
        Scratch { sums, projected, outputs, .. }: &mut Scratch,
        gradients: &mut RecurrentGradients<'_>,
    ) {
        let Self { cell, hidden, inputs, .. } = *self;
        let (size, gates, count) = (self.state(), cell.gates() * hidden, rows.len());
        let sums = MatRef::row_major(part(sums, &(0..count), self.width()), count, self.width());

        let before = MatRef::row_major(part(run.states, &rows, size), count, size);
        let du = MatMut::row_major(gradients.state, gates, size);
        self.product(du, sums.cols(0..gates).t(), before.into(), Accum::Add);

        let x = MatRef::row_major(part(run.x, &rows, inputs), count, inputs);
        for (columns, of_weights) in self.input_columns().into_iter().flatten() {
            let dw = MatMut::row_major(gradients.input, gates, inputs).rows(of_weights);
            self.product(dw, sums.cols(columns).t(), x.into(), Accum::Add);
        }

        if let Some((dx, accum)) = &mut gradients.x {
            let mut accum = *accum;
            for ((columns, _), by_input) in self.input_columns().into_iter().flatten().zip(by_input) {
                let dx = MatMut::row_major(part_mut(dx, &rows, inputs), count, inputs);
                self.product(dx, sums.cols(columns), by_input, accum);
                accum = Accum::Add;
            }
        }

        if let Some(dp) = &mut gradients.projection {
            let outputs = self.kept(Kept::Outputs, &rows, run.tape, outputs);
            let outputs = MatRef::row_major(outputs, count, hidden);
            let grads = MatRef::row_major(part(projected, &(0..count), size), count, size);
            self.product(MatMut::row_major(dp, size, hidden), grads.t(), outputs.into(), Accum::Add);
        }
    }

    fn check_gradients(&self, gradients: &RecurrentGradients<'_>) {
        let RecurrentGradients { input, state, biases, projection, x, start } = gradients;
        let rows = self.cell.gates() * self.hidden;
        assert_eq!(input.len(), rows * self.inputs, "gradients of the weights of the inputs of {self:?}");
        assert_eq!(state.len(), rows * self.state(), "gradients of the weights of the states of {self:?}");
        for bias in biases.iter().flatten() {
            assert_eq!(bias.len(), rows, "gradients of a bias of {self:?}");
        }
        let len = projection.as_ref().map(|gradient| gradient.len());
        assert_eq!(len, self.projection.map(|size| size * self.hidden), "of the projection of {self:?}");
        if let Some([h, c]) = start {
            let units = if self.cell == Cell::Lstm { self.hidden } else { 0 };
            let expected = [self.state(), units].map(|size| self.batch * size);
            assert_eq!([h.len(), c.len()], expected, "gradients of the start of {self:?}");
        }
        if let Some((dx, _)) = x {
            assert_eq!(
                dx.len(),
                self.steps * self.batch * self.inputs,
                "gradients of the inputs of {self:?}"
            );
        }
    }
}
