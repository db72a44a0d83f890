//! The forward pass.

use foretell_gemm::{Accum, MatMut, MatRef};
use foretell_pool::Buffer;
use foretell_simd as simd;

use super::cell::Cell;
use super::kept::Kept;
use super::layer::{Layer, ROWS, RunMode, Tape};
use super::operand::{packed_or, part, part_mut};
use super::weights::Weights;

impl Layer {
    /// Runs over `x [steps, batch, inputs]`: writes all but the first of `states` ([`Layer::states_len`]) and
    /// of `cells` ([`Layer::cells_len`]), whose first ones are given, and the `tape`.
    ///
    /// # Panics
    /// If a length does not fit, an RNN's activation needs its input for its slope, or a cell other than an LSTM
    /// projects.
    #[track_caller]
    pub fn forward(
        &self,
        weights: &Weights<'_>,
        x: &[f32],
        states: &mut [f32],
        cells: &mut [f32],
        tape: &mut [f32],
        run: RunMode,
    ) {
        let Self { batch, hidden, .. } = *self;
        self.check(weights, x, states, cells, run);
        let Tape { mut gates, mut outputs, bias, rounded: kept_rounded } = self.tape(tape, run);
        let lens = if self.holds_apart(run) { self.held_lens(run) } else { [0; 2] };
        let [mut gates_in_cache, mut outputs_in_cache] = lens.map(Buffer::<f32>::stale);
        if self.holds_apart(run) {
            (gates, outputs) = (&mut gates_in_cache, &mut outputs_in_cache);
        }
        self.sum_biases(weights, bias);
        let groups = weights.held.filter(|_| run == RunMode::Inference);
        if let Some(groups) = groups.and_then(|held| held.groups(self, weights.state)) {
            return self.forward_one((weights, groups), x, states, cells, (gates, bias));
        }
        let (size, rows) = (self.state(), self.cell.gates() * hidden);
        let by_state = MatRef::row_major(weights.state, rows, size).t();
        let held = weights.held.and_then(|held| held.state(self, weights.state));
        let packed = if held.is_none() { self.packed_state(by_state) } else { None };
        let by_state = packed_or(held.or(packed.as_ref()), by_state);
        let packed_inputs = self.packed_inputs(weights, MatRef::t);
        let by_input = self.by_input(weights, &packed_inputs, MatRef::t);
        for block in self.blocks(ROWS) {
            for t in 0..self.steps {
                if t % self.steps_at_once() == 0 {
                    self.add_inputs(weights, by_input, x, gates, t, &block, run);
                }
                let kept = self.kept_at(run, t, &block);
                let gates = part_mut(gates, &kept, self.width());
                // The states before this step, and those after it.
                let (before, after) = states.split_at_mut((t + 1) * batch * size);
                let (before, after) =
                    (part(&before[t * batch * size..], &block, size), part_mut(after, &block, size));
                self.product(
                    MatMut::row_major(gates, block.len(), self.width()).cols(0..rows),
                    MatRef::row_major(before, block.len(), size),
                    by_state,
                    Accum::Add,
                );
                match self.cell {
                    Cell::Rnn(activation) => {
                        gates.chunks_exact_mut(hidden.max(1)).for_each(|row| simd::add_assign(row, bias));
                        activation.forward(gates, after);
                    }
                    Cell::Gru if run == RunMode::Inference => simd::gru_state(gates, bias, before, after),
                    Cell::Gru => {
                        simd::gru_cell(gates, bias, before, after);
                        self.keep_step(Kept::Gates, t, &block, gates, kept_rounded, run);
                    }
                    Cell::Lstm => {
                        let slots = self.cell_slots(run);
                        let (c_before, c) = slot_pair(cells, batch * hidden, t % slots, (t + 1) % slots);
                        let (c_before, c) = (part(c_before, &block, hidden), part_mut(c, &block, hidden));
                        let Some(projection) = weights.projection else {
                            step_lstm(gates, bias, c_before, c, after, run);
                            self.keep_step(Kept::Gates, t, &block, gates, kept_rounded, run);
                            continue;
                        };
                        let m = part_mut(outputs, &kept, hidden);
                        step_lstm(gates, bias, c_before, c, m, run);
                        self.keep_step(Kept::Gates, t, &block, gates, kept_rounded, run);
                        self.keep_step(Kept::Outputs, t, &block, m, kept_rounded, run);
                        let held = weights.held.and_then(|held| held.projection(self, projection));
                        let by_units = packed_or(held, MatRef::row_major(projection, size, hidden).t());
                        let (m, after) = (
                            MatRef::row_major(m, block.len(), hidden),
                            MatMut::row_major(after, block.len(), size),
                        );
                        self.product(after, m, by_units, Accum::Replace);
                    }
                }
            }
        }
    }
}

/// The states of an LSTM's step, and its gates where a backward pass will read them.
fn step_lstm(sums: &mut [f32], bias: &[f32], before: &[f32], c: &mut [f32], h: &mut [f32], run: RunMode) {
    match run {
        RunMode::Training => simd::lstm_cell(sums, bias, before, c, h),
        RunMode::Inference => simd::lstm_state(sums, bias, before, c, h),
    }
}

/// Two different parts of `size` elements: one to read, one to write.
fn slot_pair(all: &mut [f32], size: usize, read: usize, write: usize) -> (&[f32], &mut [f32]) {
    let (low, high) = all.split_at_mut(read.max(write) * size);
    let (low, high) = (&mut low[read.min(write) * size..][..size], &mut high[..size]);
    if read < write { (low, high) } else { (high, low) }
}
