//! The kinds of recurrent cells.

use foretell_simd::Activation;

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
