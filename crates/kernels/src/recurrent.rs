//! One layer of a recurrent network over a whole sequence: RNN (Elman 1990), LSTM (Hochreiter and Schmidhuber
//! 1997, with the projection of Sak et al. 2014) and GRU (Cho et al. 2014), with PyTorch's weights.
//!
//! Everything is time-major, so what belongs to a step lies in one piece: inputs `[steps, batch, inputs]`,
//! states `[steps + 1, batch, state]`, of which the first is where the layer starts. The products of the
//! inputs are made for several steps at a time, as many as stay in cache; each step then adds that of its state and
//! makes one pass over its gates.
//!
//! # Derivation of the backward pass
//!
//! With a = W x + U h₋ + b the sums that go into the gates of a step, h its state and h₋ the one before, the
//! gradient of the loss with respect to h comes from two sides: from the layer's output, and from the next
//! step through its sums, `dh = dy + Uᵀ da₊`. The pass over the gates turns dh (and for the LSTM dc, which
//! goes from step to step beside it) into da, see [`foretell_simd::lstm_cell_backward`] and
//! [`foretell_simd::gru_cell_backward`]. So going backwards in time needs one product per step, and leaves
//! da of all steps where the gates were. All other gradients are products over the whole sequence:
//!
//! ```text
//! dW = Σₜ daₜ xₜᵀ     dU = Σₜ daₜ hₜ₋₁ᵀ     db = Σₜ daₜ     dxₜ = Wᵀ daₜ
//! ```
//!
//! An LSTM with a projection has h = P m with m what its cell gives: then `dm = Pᵀ dh` and `dP = Σₜ dhₜ mₜᵀ`.
//!
//! In the GRU the products of input and state enter the candidate apart, n = tanh(aₙ + r (Uₙ h₋ + bₙ)), so it
//! has four sums for three gates. They lie in the order r, z, m = Uₙ h₋ + bₙ, aₙ: the first three are those
//! of U's rows, the first two and the last those of W's.

mod gradients;

use std::ops::Range;

pub use gradients::RecurrentGradients;

use foretell_gemm::{Accum, MatMut, MatRef, Options, matmul};
use foretell_simd::{self as simd, Activation, Saved};

/// What a layer does in each step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    /// `h = activation(W x + U h₋ + b)`, with an activation that knows its slope from its result.
    Rnn(Activation),
    /// Gates i, f, g, o and a state c beside h.
    Lstm,
    /// Gates r, z, n.
    Gru,
}

impl Cell {
    /// Rows of the weights for each hidden unit.
    pub fn gates(self) -> usize {
        match self {
            Self::Rnn(_) => 1,
            Self::Lstm => 4,
            Self::Gru => 3,
        }
    }

    /// Sums for each hidden unit.
    fn sums(self) -> usize {
        if self == Self::Gru { 4 } else { self.gates() }
    }
}

/// The sizes of a layer and of the sequence it runs over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer {
    /// What it does in each step.
    pub cell: Cell,
    /// The length of the sequence, at least 1.
    pub steps: usize,
    /// The number of sequences.
    pub batch: usize,
    /// Numbers that come in at each step.
    pub inputs: usize,
    /// Hidden units.
    pub hidden: usize,
    /// The size that an LSTM projects its state to, if it does.
    pub projection: Option<usize>,
}

/// The weights of a layer, row-major, their rows gate by gate in PyTorch's order: i, f, g, o or r, z, n.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a> {
    /// W, `[gates * hidden, inputs]` (`weight_ih`).
    pub input: &'a [f32],
    /// U, `[gates * hidden, state]` (`weight_hh`).
    pub state: &'a [f32],
    /// `[gates * hidden]` each (`bias_ih`, `bias_hh`).
    pub biases: Option<[&'a [f32]; 2]>,
    /// P, `[state, hidden]` (`weight_hr`).
    pub projection: Option<&'a [f32]>,
}

/// Whether a run is followed by a backward pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunMode {
    /// The tape holds the gates of all steps.
    Training,
    /// The tape is small, and holds nothing of worth afterwards.
    Inference,
}

/// Rows of the products that are of several steps: enough for their best rate, few enough that they stay in cache until
/// the steps, or the next product, have read them.
const ROWS: usize = 256;

/// Sequences and steps from which U is turned over once, so that the product of each step reads its rows.
const WORTH_TURNING: [usize; 2] = [33, 8];

/// The parts of a tape.
struct Tape<'a> {
    /// Sums, gates, or their gradients, `[kept, batch, sums * hidden]`.
    gates: &'a mut [f32],
    /// What the cell of an LSTM with a projection gives, `[kept, batch, hidden]`.
    outputs: &'a mut [f32],
    /// The biases that a pass over the gates adds, later their gradients, `[sums * hidden]`.
    bias: &'a mut [f32],
    /// U turned over, `[state, gates * hidden]`, where that is worth it.
    turned: &'a mut [f32],
    /// Of a layer with a projection, the gradients of its states, `[kept, batch, state]`.
    grads: &'a mut [f32],
    /// The gradients of a step's state, of what the cell gives, and of c.
    step: [&'a mut [f32]; 3],
}

impl Layer {
    /// The size of h: the projection, or the hidden units.
    pub fn state(&self) -> usize {
        self.projection.unwrap_or(self.hidden)
    }

    /// The length of the states, `[steps + 1, batch, state]`.
    pub fn states_len(&self) -> usize {
        (self.steps + 1) * self.batch * self.state()
    }

    /// The length of the states c, `[steps + 1, batch, hidden]` in training and `[2, batch, hidden]` in
    /// inference, where step t leaves its own at place `(t + 1) % 2`; 0 but for an LSTM.
    pub fn cells_len(&self, run: RunMode) -> usize {
        if self.cell == Cell::Lstm { self.cell_slots(run) * self.batch * self.hidden } else { 0 }
    }

    /// The place of the last c in what [`Layer::cells_len`] is the length of.
    pub fn last_cell(&self, run: RunMode) -> Range<usize> {
        let (at, size) = (self.steps % self.cell_slots(run), self.batch * self.hidden);
        at * size..(at + 1) * size
    }

    fn cell_slots(&self, run: RunMode) -> usize {
        if run == RunMode::Training { self.steps + 1 } else { 2 }
    }

    /// The length of the tape, which [`Layer::forward`] writes.
    pub fn tape_len(&self, run: RunMode) -> usize {
        self.parts(run).iter().sum()
    }

    /// Steps whose gates the tape holds.
    fn kept(&self, run: RunMode) -> usize {
        match run {
            RunMode::Training => self.steps,
            RunMode::Inference => self.steps_at_once(),
        }
    }

    /// Steps whose inputs are multiplied at once.
    fn steps_at_once(&self) -> usize {
        ROWS.div_ceil(self.batch.max(1)).min(self.steps)
    }

    fn turns_state_weights(&self) -> bool {
        let [batch, steps] = WORTH_TURNING;
        self.batch >= batch && self.steps >= steps
    }

    /// The lengths of the parts of the tape.
    fn parts(&self, run: RunMode) -> [usize; 8] {
        let Self { batch, hidden, .. } = *self;
        let trains = usize::from(run == RunMode::Training);
        let projects = usize::from(self.projection.is_some());
        let (kept, has_c) = (self.kept(run), usize::from(self.cell == Cell::Lstm));
        [
            kept * self.gates_len(),
            projects * kept * batch * hidden,
            self.cell.sums() * hidden,
            usize::from(self.turns_state_weights()) * self.cell.gates() * hidden * self.state(),
            trains * projects * kept * batch * self.state(),
            trains * batch * self.state(),
            trains * projects * batch * hidden,
            trains * has_c * batch * hidden,
        ]
    }

    fn tape<'a>(&self, tape: &'a mut [f32], run: RunMode) -> Tape<'a> {
        assert_eq!(tape.len(), self.tape_len(run), "the tape of {self:?}");
        let mut rest = tape;
        let [gates, outputs, bias, turned, grads, dh, dm, dc] =
            self.parts(run).map(|len| rest.split_off_mut(..len).expect("the parts make up the tape"));
        Tape { gates, outputs, bias, turned, grads, step: [dh, dm, dc] }
    }

    /// The sums of a step.
    fn gates_len(&self) -> usize {
        self.batch * self.cell.sums() * self.hidden
    }

    /// Runs over `x [steps, batch, inputs]`: writes all but the first of `states` ([`Layer::states_len`]) and
    /// of `cells` ([`Layer::cells_len`]), whose first ones are given, and the `tape`.
    ///
    /// # Panics
    /// If a length does not fit, or the cell cannot be.
    pub fn forward(
        &self,
        weights: &Weights<'_>,
        x: &[f32],
        states: &mut [f32],
        cells: &mut [f32],
        tape: &mut [f32],
        run: RunMode,
    ) {
        let Self { batch, hidden, inputs, steps, .. } = *self;
        self.check(weights, x, states, cells, run);
        let Tape { gates, outputs, bias, turned, .. } = self.tape(tape, run);
        self.sum_biases(weights, bias);
        let (kept, size, unit) = (self.kept(run), batch * self.state(), batch * hidden);
        let rows = self.cell.gates() * hidden;
        let by_state = if self.turns_state_weights() {
            turn_over(weights.state, self.state(), turned);
            MatRef::row_major(turned, self.state(), rows)
        } else {
            MatRef::row_major(weights.state, rows, self.state()).t()
        };
        for t in 0..steps {
            let at = t % kept;
            if t % self.steps_at_once() == 0 {
                let rows = self.steps_at_once().min(steps - t) * batch;
                let x = &x[t * batch * inputs..][..rows * inputs];
                self.add_inputs(weights, x, &mut gates[at * self.gates_len()..], rows);
            }
            let gates = &mut gates[at * self.gates_len()..][..self.gates_len()];
            let (before, after) = states[t * size..].split_at_mut(size);
            let after = &mut after[..size];
            matmul(
                self.by_rows(gates, batch).cols(0..rows),
                MatRef::row_major(before, batch, self.state()),
                by_state,
                Options { accum: Accum::Add, ..Options::default() },
            );
            match self.cell {
                Cell::Rnn(activation) => {
                    gates.chunks_exact_mut(hidden.max(1)).for_each(|row| simd::add_assign(row, bias));
                    activation.forward(gates, after);
                }
                Cell::Gru => simd::gru_cell(gates, bias, before, after),
                Cell::Lstm => {
                    let slots = self.cell_slots(run);
                    let (before, c) = slot_pair(cells, unit, t % slots, (t + 1) % slots);
                    let Some(projection) = weights.projection else {
                        simd::lstm_cell(gates, bias, before, c, after);
                        continue;
                    };
                    let m = &mut outputs[at * unit..][..unit];
                    simd::lstm_cell(gates, bias, before, c, m);
                    let by_units = MatRef::row_major(projection, self.state(), hidden).t();
                    let m = MatRef::row_major(m, batch, hidden);
                    matmul(MatMut::row_major(after, batch, self.state()), m, by_units, Options::default());
                }
            }
        }
    }

    /// Goes back in time, given `grad [last, batch, state]`, the gradient of the last states, and what
    /// [`Layer::forward`] left in training. The tape then holds what [`RecurrentGradients`] makes the others from.
    ///
    /// # Panics
    /// If a length does not fit.
    pub fn backward<'a>(
        &self,
        weights: &Weights<'_>,
        states: &[f32],
        cells: &[f32],
        tape: &'a mut [f32],
        grad: &[f32],
    ) -> RecurrentGradients<'a> {
        let Self { batch, hidden, steps, .. } = *self;
        let (size, unit) = (batch * self.state(), batch * hidden);
        let Tape { gates, outputs, bias, grads, step: [dh, dm, dc], .. } = self.tape(tape, RunMode::Training);
        let last = grad.len().checked_div(size).unwrap_or(0);
        assert!(last <= steps && grad.len() == last * size, "{} gradients for {self:?}", grad.len());
        let by_state = MatRef::row_major(weights.state, self.cell.gates() * hidden, self.state());
        bias.fill(0.0);
        dh.fill(0.0);
        dc.fill(0.0);
        for t in (0..steps).rev() {
            if let Some(at) = (t + last).checked_sub(steps) {
                simd::add_assign(dh, &grad[at * size..][..size]);
            }
            let gates = &mut gates[t * self.gates_len()..][..self.gates_len()];
            let (before, after) = states[t * size..][..2 * size].split_at(size);
            match self.cell {
                Cell::Rnn(activation) => {
                    gates.copy_from_slice(dh);
                    activation.backward(after, gates);
                }
                Cell::Gru => simd::gru_cell_backward(hidden, gates, before, dh),
                Cell::Lstm => {
                    let (before, c) = cells[t * unit..][..2 * unit].split_at(unit);
                    let dm = match weights.projection {
                        None => &*dh,
                        Some(projection) => {
                            grads[t * size..][..size].copy_from_slice(dh);
                            let by_units = MatRef::row_major(projection, self.state(), hidden);
                            let dh = MatRef::row_major(dh, batch, self.state());
                            matmul(MatMut::row_major(dm, batch, hidden), dh, by_units, Options::default());
                            &*dm
                        }
                    };
                    simd::lstm_cell_backward(hidden, gates, before, c, dm, dc);
                }
            }
            gates.chunks_exact(bias.len().max(1)).for_each(|row| simd::add_assign(bias, row));
            if t > 0 {
                // A GRU has left in dh what does not go through the gates.
                let accum = if self.cell == Cell::Gru { Accum::Add } else { Accum::Replace };
                matmul(
                    MatMut::row_major(dh, batch, self.state()),
                    self.rows_of(gates, batch).cols(0..self.cell.gates() * hidden),
                    by_state,
                    Options { accum, ..Options::default() },
                );
            }
        }
        RecurrentGradients { layer: *self, gates, outputs, bias, states: grads }
    }

    fn check(&self, weights: &Weights<'_>, x: &[f32], states: &[f32], cells: &[f32], run: RunMode) {
        if let Cell::Rnn(activation) = self.cell {
            let known = activation.saves() == Saved::Output;
            assert!(known, "{activation:?} does not know its slope from its result");
        }
        assert!(self.projection.is_none() || self.cell == Cell::Lstm, "only an LSTM projects: {self:?}");
        let rows = self.cell.gates() * self.hidden;
        let lens = [
            ("inputs", x.len(), self.steps * self.batch * self.inputs),
            ("states", states.len(), self.states_len()),
            ("cells", cells.len(), self.cells_len(run)),
            ("weights of the inputs", weights.input.len(), rows * self.inputs),
            ("weights of the states", weights.state.len(), rows * self.state()),
            (
                "weights of the projection",
                weights.projection.map_or(0, <[f32]>::len),
                self.projection.map_or(0, |size| size * self.hidden),
            ),
        ];
        for (what, found, expected) in lens {
            assert!(found == expected, "{found} {what}, {expected} make up {self:?}");
        }
        for bias in weights.biases.iter().flatten() {
            assert!(bias.len() == rows, "a bias of {} for {rows} rows of {self:?}", bias.len());
        }
    }

    /// Writes the biases that are added to the sums.
    fn sum_biases(&self, weights: &Weights<'_>, sums: &mut [f32]) {
        let Some([input, state]) = weights.biases else { return sums.fill(0.0) };
        if self.cell == Cell::Gru {
            let (two, three) = (2 * self.hidden, 3 * self.hidden);
            simd::add(&input[..two], &state[..two], &mut sums[..two]);
            sums[two..three].copy_from_slice(&state[two..]);
            sums[three..].copy_from_slice(&input[two..]);
        } else {
            simd::add(input, state, sums);
        }
    }

    /// Writes the products of `rows` inputs to the first rows of `gates`; zeros where no input enters.
    fn add_inputs(&self, weights: &Weights<'_>, x: &[f32], gates: &mut [f32], rows: usize) {
        let (hidden, sums) = (self.hidden, self.cell.sums() * self.hidden);
        let gates = &mut gates[..rows * sums];
        if self.cell == Cell::Gru {
            gates.chunks_exact_mut(sums.max(1)).for_each(|row| row[2 * hidden..3 * hidden].fill(0.0));
        }
        let x = MatRef::row_major(x, rows, self.inputs);
        let w = MatRef::row_major(weights.input, self.cell.gates() * hidden, self.inputs);
        for (to, from) in self.input_columns().into_iter().flatten() {
            matmul(self.by_rows(gates, rows).cols(to), x, w.rows(from).t(), Options::default());
        }
    }

    /// Which columns of the sums the rows of W belong to.
    fn input_columns(&self) -> [Option<(Range<usize>, Range<usize>)>; 2] {
        let (two, three) = (2 * self.hidden, 3 * self.hidden);
        match self.cell {
            Cell::Gru => [Some((0..two, 0..two)), Some((three..three + self.hidden, two..three))],
            _ => [Some((0..self.cell.sums() * self.hidden, 0..self.cell.sums() * self.hidden)), None],
        }
    }

    fn by_rows<'a>(&self, gates: &'a mut [f32], rows: usize) -> MatMut<'a, f32> {
        MatMut::row_major(gates, rows, self.cell.sums() * self.hidden)
    }

    fn rows_of<'a>(&self, gates: &'a [f32], rows: usize) -> MatRef<'a, f32> {
        MatRef::row_major(gates, rows, self.cell.sums() * self.hidden)
    }
}

/// The transpose of a matrix of so many columns.
fn turn_over(matrix: &[f32], columns: usize, turned: &mut [f32]) {
    let rows = matrix.len() / columns.max(1);
    for (i, row) in matrix.chunks_exact(columns.max(1)).enumerate() {
        row.iter().enumerate().for_each(|(j, value)| turned[j * rows + i] = *value);
    }
}

/// Two different parts of `size` elements: one to read, one to write.
fn slot_pair(all: &mut [f32], size: usize, read: usize, write: usize) -> (&[f32], &mut [f32]) {
    let (low, high) = all.split_at_mut(read.max(write) * size);
    let (low, high) = (&mut low[read.min(write) * size..][..size], &mut high[..size]);
    if read < write { (low, high) } else { (high, low) }
}

#[cfg(test)]
#[path = "recurrent_tests.rs"]
mod tests;
