//! The kinds of recurrent cells, and what a run makes of their sums.

use foretell_simd::{self as simd, Activation};

use super::RunMode;

/// The kinds of recurrent cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    /// `h = activation(W x + U h₋ + b)`, with an activation whose slope follows from its result.
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
    pub(super) fn sums(self) -> usize {
        if self == Self::Gru { 4 } else { self.gates() }
    }
}

/// The states of an LSTM's step, and its gates where a backward pass will read them.
pub(super) fn step_lstm(
    sums: &mut [f32],
    bias: &[f32],
    before: &[f32],
    c: &mut [f32],
    h: &mut [f32],
    run: RunMode,
) {
    match run {
        RunMode::Training => simd::lstm_cell(sums, bias, before, c, h),
        RunMode::Inference => simd::lstm_state(sums, bias, before, c, h),
    }
}
