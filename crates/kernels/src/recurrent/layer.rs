//! The sizes of a layer and of what its runs write.

use std::ops::Range;

use foretell_gemm::Rounding;

use super::cell::Cell;

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
    /// How the gates that a training run keeps are rounded, where products round nothing.
    pub keeping: Rounding,
}

/// Whether a run is followed by a backward pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunMode {
    /// The tape holds the gates of all steps, in 16 bits where products round or [`Layer::keeping`] says so.
    Training,
    /// The tape is small, and its contents are of no use afterwards.
    Inference,
}

/// The most sequences of a block of the forward pass, and the least rows of the products of inputs: enough for their best
/// rate, few enough that their sums stay in cache until the steps have read them.
pub(super) const ROWS: usize = 256;

/// Sequences and steps from which U is packed once for the products of all steps.
pub(super) const MIN_PACKED_SIZE: [usize; 2] = [33, 8];

/// The parts of a tape.
pub(super) struct Tape<T> {
    /// Sums, then gates, `[kept rows, sums * hidden]`.
    pub(super) gates: T,
    /// The cell's outputs in an LSTM with a projection, `[kept rows, hidden]`.
    pub(super) outputs: T,
    /// The biases that a pass over the gates adds, `[sums * hidden]`.
    pub(super) bias: T,
    /// Gates and outputs of all steps in 16 bits, where the run keeps them so.
    pub(super) rounded: T,
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

    pub(super) fn cell_slots(&self, run: RunMode) -> usize {
        if run == RunMode::Training { self.steps + 1 } else { 2 }
    }

    /// The length of the tape, which [`Layer::forward`] writes.
    pub fn tape_len(&self, run: RunMode) -> usize {
        self.parts(run).iter().sum()
    }

    /// How a training run rounds the gates that it keeps.
    pub(super) fn kept_in(&self) -> Rounding {
        self.rounding.or(self.keeping)
    }

    /// Whether the tape keeps the gates of all steps in `f32`. A plain RNN keeps none: they follow from its states.
    pub(super) fn keeps_gates(&self, run: RunMode) -> bool {
        run == RunMode::Training && self.kept_in() == Rounding::None && !matches!(self.cell, Cell::Rnn(_))
    }

    /// Whether the gates that are held in `f32` are not on the tape: in a training whose backward pass does not read them.
    pub(super) fn holds_apart(&self, run: RunMode) -> bool {
        run == RunMode::Training && !self.keeps_gates(run)
    }

    /// Rows of gates that are held in `f32`.
    pub(super) fn kept_rows(&self, run: RunMode) -> usize {
        if self.keeps_gates(run) {
            return self.steps * self.batch;
        }
        self.steps_at_once() * self.blocks(ROWS).next().map_or(0, |block| block.len())
    }

    /// The rows of these sequences at step t among the gates that are held in `f32`.
    pub(super) fn kept_at(&self, run: RunMode, t: usize, sequences: &Range<usize>) -> Range<usize> {
        let start = match self.keeps_gates(run) {
            true => t * self.batch + sequences.start,
            false => t % self.steps_at_once() * sequences.len(),
        };
        start..start + sequences.len()
    }

    /// Steps whose inputs are multiplied at once: several only where all sequences are one block.
    pub(super) fn steps_at_once(&self) -> usize {
        ROWS.div_ceil(self.batch.max(1)).min(self.steps)
    }

    /// The sequences in blocks of at most `most`, the first of which is the largest.
    pub(super) fn blocks(&self, most: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let (batch, count) = (self.batch, self.batch.div_ceil(most));
        let size = batch.div_ceil(count.max(1));
        (0..count).map(move |i| i * size..batch.min((i + 1) * size))
    }

    pub(super) fn packs(&self) -> bool {
        let [batch, steps] = MIN_PACKED_SIZE;
        self.rounding == Rounding::None && self.batch >= batch && self.steps >= steps
    }

    /// The lengths of the parts of the tape.
    pub(super) fn parts(&self, run: RunMode) -> [usize; 4] {
        let [gates, outputs] = if self.holds_apart(run) { [0; 2] } else { self.held_lens(run) };
        [gates, outputs, self.width(), self.rounded_len(run)]
    }

    /// The lengths of the gates that are held in `f32`, and of the cell's outputs in an LSTM with a projection.
    pub(super) fn held_lens(&self, run: RunMode) -> [usize; 2] {
        let rows = self.kept_rows(run);
        [rows * self.width(), usize::from(self.projection.is_some()) * rows * self.hidden]
    }

    pub(super) fn tape<'a>(&self, tape: &'a mut [f32], run: RunMode) -> Tape<&'a mut [f32]> {
        assert_eq!(tape.len(), self.tape_len(run), "the tape of {self:?}");
        let mut rest = tape;
        let [gates, outputs, bias, rounded] =
            self.parts(run).map(|len| rest.split_off_mut(..len).expect("the parts make up the tape"));
        Tape { gates, outputs, bias, rounded }
    }

    /// The sums of a sequence in a step.
    pub(super) fn width(&self) -> usize {
        self.cell.sums() * self.hidden
    }

    /// Whether the tape holds the gates of all steps in 16 bits.
    pub(super) fn keeps_rounded(&self, run: RunMode) -> bool {
        run == RunMode::Training && self.kept_in() != Rounding::None && !matches!(self.cell, Cell::Rnn(_))
    }

    /// The numbers of the tape that these take.
    pub(super) fn rounded_len(&self, run: RunMode) -> usize {
        let projected = if self.projection.is_some() { self.hidden } else { 0 };
        let numbers = self.steps * self.batch * (self.width() + projected);
        if self.keeps_rounded(run) { numbers.div_ceil(2) } else { 0 }
    }

    /// Which columns of the sums the rows of W belong to.
    pub(super) fn input_columns(&self) -> [Option<(Range<usize>, Range<usize>)>; 2] {
        let (two, three) = (2 * self.hidden, 3 * self.hidden);
        match self.cell {
            Cell::Gru => [Some((0..two, 0..two)), Some((three..three + self.hidden, two..three))],
            _ => [Some((0..self.width(), 0..self.width())), None],
        }
    }
}
