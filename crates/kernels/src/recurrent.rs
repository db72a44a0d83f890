//! One layer of a recurrent network over a whole sequence: RNN (Elman 1990), LSTM (Hochreiter and Schmidhuber
//! 1997, with the projection of Sak et al. 2014) and GRU (Cho et al. 2014), with PyTorch's weights.
//!
//! Everything is time-major, so the values of a step are contiguous: inputs `[steps, batch, inputs]`, states
//! `[steps + 1, batch, state]`, the first of which are the initial states. The products of the inputs are computed
//! for several steps at a time, as many as stay in cache; each step then adds the product of its state and makes one
//! pass over its gates. Where the batch is large, a block of its sequences goes through all steps before the next one
//! starts, so that the results of a step are still in cache when the next one reads them.
//!
//! # Derivation of the backward pass
//!
//! With a = W x + U h₋ + b the sums that go into the gates of a step, h its state and h₋ the one before, the
//! gradient of the loss with respect to h comes from two sides: from the layer's output, and from the next
//! step through its sums, `dh = dy + Uᵀ da₊`. The pass over the gates turns dh (and for the LSTM dc, which
//! goes from step to step beside it) into da, see [`foretell_simd::lstm_cell_backward`] and
//! [`foretell_simd::gru_cell_backward`]. All other gradients are products with da:
//!
//! ```text
//! dW = Σₜ daₜ xₜᵀ     dU = Σₜ daₜ hₜ₋₁ᵀ     db = Σₜ daₜ     dxₜ = Wᵀ daₜ
//! ```
//!
//! An LSTM with a projection has h = P m with m what its cell gives: then `dm = Pᵀ dh` and `dP = Σₜ dhₜ mₜᵀ`.
//!
//! In the GRU the products of input and state enter the candidate separately, n = tanh(aₙ + r (Uₙ h₋ + bₙ)), so it
//! has four sums for three gates. Their order is r, z, m = Uₙ h₋ + bₙ, aₙ: the first three are those of U's rows, the
//! first two and the last those of W's.

mod backward;
mod cell;
mod groups;
mod held;
mod kept;
mod stack;

use std::ops::Range;

pub use backward::{RecurrentGradients, RecurrentRun};
pub use cell::Cell;
pub use held::HeldWeights;
pub use stack::{LEAST_STACKED_STEPS, StackedLayer, forward_stack};

use cell::step_lstm;
use kept::Kept;

use foretell_gemm::{
    Accum, MatMut, MatRef, Options, Packed, PackedBf16, Rounding, WeightMatrix, matmul, matmul_bf16,
    matmul_packed, matmul_weights, pays_in_bf16,
};
use foretell_pool::Buffer;
use foretell_simd::{self as simd, Saved};
use half::slice::HalfBitsSliceExt;

/// The sizes of a layer and of the sequence it runs over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer {
    /// The kind of recurrent cell.
    pub cell: Cell,
    /// The length of the sequence, at least 1.
    pub steps: usize,
    /// The number of sequences.
    pub batch: usize,
    /// Width of the input of each step.
    pub inputs: usize,
    /// Hidden units.
    pub hidden: usize,
    /// The size that an LSTM projects its state to, if it does.
    pub projection: Option<usize>,
    /// How the operands of its products are rounded; states, gates and sums are not.
    pub rounding: Rounding,
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
    /// The same matrices in the layout of forecasts, which the forward pass multiplies with if given.
    pub held: Option<&'a HeldWeights>,
}

/// Whether a run is followed by a backward pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunMode {
    /// The tape holds the gates of all steps, in 16 bits where products round.
    Training,
    /// The tape is small, and its contents are of no use afterwards.
    Inference,
}

/// The most sequences of a block of the forward pass, and the least rows of the products of inputs: enough for their best
/// rate, few enough that their sums stay in cache until the steps have read them.
const ROWS: usize = 256;

/// Sequences and steps from which U is packed once for the products of all steps.
const MIN_PACKED_SIZE: [usize; 2] = [33, 8];

/// The parts of a tape.
struct Tape<T> {
    /// Sums, then gates, `[kept rows, sums * hidden]`.
    gates: T,
    /// The cell's outputs in an LSTM with a projection, `[kept rows, hidden]`.
    outputs: T,
    /// The biases that a pass over the gates adds, `[sums * hidden]`.
    bias: T,
    /// Uᵀ, packed, where that is worth it.
    packed: T,
    /// Gates and outputs of all steps in 16 bits, where the run keeps them so.
    rounded: T,
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

    /// The length of the states c, `[steps + 1, batch, hidden]` in training and `[2, batch, hidden]` in inference,
    /// where step t writes its own at place `(t + 1) % 2`; 0 for other cells than an LSTM.
    pub fn cells_len(&self, run: RunMode) -> usize {
        if self.cell == Cell::Lstm { self.cell_slots(run) * self.batch * self.hidden } else { 0 }
    }

    /// The range of the last c among the cells, whose length [`Layer::cells_len`] gives.
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

    /// Whether the tape keeps the gates of all steps in `f32`. A plain RNN keeps none: they follow from its states.
    fn keeps_gates(&self, run: RunMode) -> bool {
        run == RunMode::Training && self.rounding == Rounding::None && !matches!(self.cell, Cell::Rnn(_))
    }

    /// Rows of gates that are held in `f32`.
    fn kept_rows(&self, run: RunMode) -> usize {
        if self.keeps_gates(run) {
            return self.steps * self.batch;
        }
        self.steps_at_once() * self.blocks(ROWS).next().map_or(0, |block| block.len())
    }

    /// The rows of these sequences at step t among the gates that are held in `f32`.
    fn kept_at(&self, run: RunMode, t: usize, sequences: &Range<usize>) -> Range<usize> {
        let start = match self.keeps_gates(run) {
            true => t * self.batch + sequences.start,
            false => t % self.steps_at_once() * sequences.len(),
        };
        start..start + sequences.len()
    }

    /// Steps whose inputs are multiplied at once: several only where all sequences are one block.
    fn steps_at_once(&self) -> usize {
        ROWS.div_ceil(self.batch.max(1)).min(self.steps)
    }

    /// The sequences in blocks of at most `most`, the first of which is the largest.
    fn blocks(&self, most: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let (batch, count) = (self.batch, self.batch.div_ceil(most));
        let size = batch.div_ceil(count.max(1));
        (0..count).map(move |i| i * size..batch.min((i + 1) * size))
    }

    fn packs(&self) -> bool {
        let [batch, steps] = MIN_PACKED_SIZE;
        self.rounding == Rounding::None && self.batch >= batch && self.steps >= steps
    }

    /// The lengths of the parts of the tape.
    fn parts(&self, run: RunMode) -> [usize; 5] {
        let [gates, outputs] = if self.keeps_rounded(run) { [0; 2] } else { self.held_lens(run) };
        let packed = Packed::len_of(self.state(), self.cell.gates() * self.hidden);
        let packed = usize::from(self.packs()) * packed;
        [gates, outputs, self.width(), packed, self.rounded_len(run)]
    }

    /// The lengths of the gates that are held in `f32`, and of the cell's outputs in an LSTM with a projection.
    fn held_lens(&self, run: RunMode) -> [usize; 2] {
        let rows = self.kept_rows(run);
        [rows * self.width(), usize::from(self.projection.is_some()) * rows * self.hidden]
    }

    fn tape<'a>(&self, tape: &'a mut [f32], run: RunMode) -> Tape<&'a mut [f32]> {
        assert_eq!(tape.len(), self.tape_len(run), "the tape of {self:?}");
        let mut rest = tape;
        let [gates, outputs, bias, packed, rounded] =
            self.parts(run).map(|len| rest.split_off_mut(..len).expect("the parts make up the tape"));
        Tape { gates, outputs, bias, packed, rounded }
    }

    /// The sums of a sequence in a step.
    fn width(&self) -> usize {
        self.cell.sums() * self.hidden
    }

    /// Runs over `x [steps, batch, inputs]`: writes all but the first of `states` ([`Layer::states_len`]) and
    /// of `cells` ([`Layer::cells_len`]), whose first ones are given, and the `tape`.
    ///
    /// # Panics
    /// If a length does not fit, an RNN's activation needs its input for its slope, or a cell other than an LSTM
    /// projects.
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
        let Tape { mut gates, mut outputs, bias, packed, rounded: kept_rounded } = self.tape(tape, run);
        let lens = if self.keeps_rounded(run) { self.held_lens(run) } else { [0; 2] };
        let [mut gates_in_cache, mut outputs_in_cache] = lens.map(Buffer::<f32>::stale);
        if self.keeps_rounded(run) {
            (gates, outputs) = (&mut gates_in_cache, &mut outputs_in_cache);
        }
        self.sum_biases(weights, bias);
        let groups = weights.held.filter(|_| run == RunMode::Inference);
        if let Some(groups) = groups.and_then(|held| held.groups(self, weights)) {
            return self.forward_one((weights, groups), x, states, cells, (gates, bias));
        }
        let (size, rows) = (self.state(), self.cell.gates() * hidden);
        let by_state = MatRef::row_major(weights.state, rows, size).t();
        let mut rounded = self.rounded_place(by_state);
        let by_state = match weights.held.and_then(|held| held.state(self, weights)) {
            Some(narrow) => RightOperand::Held(narrow),
            None => self.by(by_state, packed, &mut rounded),
        };
        let mut input_places = self.input_places();
        let by_input = self.by_input(weights, &mut input_places, MatRef::t);
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
                by_state.multiply(
                    MatMut::row_major(gates, block.len(), self.width()).cols(0..rows),
                    MatRef::row_major(before, block.len(), size),
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
                        let by_units = match weights.held.and_then(|held| held.projection(self, projection)) {
                            Some(narrow) => RightOperand::Held(narrow),
                            None => {
                                let projection = MatRef::row_major(projection, size, hidden).t();
                                RightOperand::Matrix(projection, self.rounding)
                            }
                        };
                        let m = MatRef::row_major(m, block.len(), hidden);
                        by_units.multiply(MatMut::row_major(after, block.len(), size), m, Accum::Replace);
                    }
                }
            }
        }
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

    /// Writes the products of the inputs of a block of sequences to its gates, for the steps from t on that are made at
    /// once; zeros where no input enters.
    fn add_inputs(
        &self,
        weights: &Weights<'_>,
        by_input: [RightOperand<'_>; 2],
        x: &[f32],
        gates: &mut [f32],
        t: usize,
        block: &Range<usize>,
        run: RunMode,
    ) {
        let (hidden, inputs, width) = (self.hidden, self.inputs, self.width());
        let rows = self.steps_at_once().min(self.steps - t) * block.len();
        let (from, to) = (t * self.batch + block.start, self.kept_at(run, t, block).start);
        let gates = part_mut(gates, &(to..to + rows), width);
        if self.cell == Cell::Gru {
            gates.chunks_exact_mut(width.max(1)).for_each(|row| row[2 * hidden..3 * hidden].fill(0.0));
        }
        let x = MatRef::row_major(part(x, &(from..from + rows), inputs), rows, inputs);
        let held = weights.held.map(|held| held.input(self, weights, rows)).unwrap_or_default();
        for (place, (to, _)) in self.input_columns().into_iter().flatten().enumerate() {
            let gates = MatMut::row_major(gates, rows, width).cols(to);
            let right = held.get(place).map_or(by_input[place], RightOperand::Held);
            right.multiply(gates, x, Accum::Replace);
        }
    }

    /// Memory for U in bfloat16; empty where the products are not rounded to it.
    fn rounded_place(&self, matrix: MatRef<'_, f32>) -> Buffer<u16> {
        let rounds = self.rounding == Rounding::Bf16;
        Buffer::stale(if rounds { PackedBf16::len_of(matrix.nrows(), matrix.ncols()) } else { 0 })
    }

    /// U, or its transpose, as the products of all steps read it.
    fn by<'a>(
        &self,
        matrix: MatRef<'a, f32>,
        packed: &'a mut [f32],
        rounded: &'a mut [u16],
    ) -> RightOperand<'a> {
        match self.rounding {
            Rounding::Bf16 => RightOperand::Bf16(PackedBf16::new(matrix, rounded.reinterpret_cast_mut())),
            Rounding::None if self.packs() => RightOperand::Packed(Packed::new(matrix, packed)),
            rounding => RightOperand::Matrix(matrix, rounding),
        }
    }

    /// Memory for the parts of W in bfloat16; empty where the products are not rounded to it.
    fn input_places(&self) -> [Buffer<u16>; 2] {
        let part = |rows: Range<usize>| {
            let rounds = self.rounding == Rounding::Bf16
                && pays_in_bf16([self.steps * self.batch, self.inputs, rows.len()]);
            // Forwards one of the two is the inner dimension, backwards the other.
            let len =
                PackedBf16::len_of(rows.len(), self.inputs).max(PackedBf16::len_of(self.inputs, rows.len()));
            if rounds { len } else { 0 }
        };
        self.input_columns().map(|columns| Buffer::stale(columns.map_or(0, |(_, rows)| part(rows))))
    }

    /// The parts of W that [`Layer::input_columns`] names, each turned as `turn` says, as the products of all steps read them.
    fn by_input<'a>(
        &self,
        weights: &Weights<'a>,
        places: &'a mut [Buffer<u16>; 2],
        turn: fn(MatRef<'a, f32>) -> MatRef<'a, f32>,
    ) -> [RightOperand<'a>; 2] {
        let w = MatRef::row_major(weights.input, self.cell.gates() * self.hidden, self.inputs);
        let mut parts = self.input_columns().into_iter();
        places.each_mut().map(|place| match parts.next().flatten() {
            Some((_, rows)) if !place.is_empty() => {
                let part = turn(w.rows(rows));
                let place = &mut place[..PackedBf16::len_of(part.nrows(), part.ncols())];
                RightOperand::Bf16(PackedBf16::new(part, place.reinterpret_cast_mut()))
            }
            columns => RightOperand::Matrix(turn(w.rows(columns.map_or(0..0, |part| part.1))), self.rounding),
        })
    }

    /// Which columns of the sums the rows of W belong to.
    fn input_columns(&self) -> [Option<(Range<usize>, Range<usize>)>; 2] {
        let (two, three) = (2 * self.hidden, 3 * self.hidden);
        match self.cell {
            Cell::Gru => [Some((0..two, 0..two)), Some((three..three + self.hidden, two..three))],
            _ => [Some((0..self.width(), 0..self.width())), None],
        }
    }
}

/// Some of the rows of a row-major matrix.
fn part<'a>(all: &'a [f32], rows: &Range<usize>, columns: usize) -> &'a [f32] {
    &all[rows.start * columns..rows.end * columns]
}

/// [`part`] to write.
fn part_mut<'a>(all: &'a mut [f32], rows: &Range<usize>, columns: usize) -> &'a mut [f32] {
    &mut all[rows.start * columns..rows.end * columns]
}

/// What a product multiplies with: a matrix as it is, or packed once for the products of all steps or runs.
#[derive(Clone, Copy)]
enum RightOperand<'a> {
    Matrix(MatRef<'a, f32>, Rounding),
    Packed(Packed<'a>),
    Bf16(PackedBf16<'a>),
    Held(&'a WeightMatrix),
}

impl RightOperand<'_> {
    /// The product of `lhs` and this.
    fn multiply(self, dst: MatMut<'_, f32>, lhs: MatRef<'_, f32>, accum: Accum) {
        let options = Options { accum, ..Options::default() };
        match self {
            Self::Matrix(matrix, rounding) => matmul(dst, lhs, matrix, Options { rounding, ..options }),
            Self::Packed(packed) => matmul_packed(dst, lhs, packed, options),
            Self::Bf16(packed) => matmul_bf16(dst, lhs, packed, options),
            Self::Held(weights) => matmul_weights(dst, lhs, weights, options),
        }
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
