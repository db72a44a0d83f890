//! The weights of a layer, and what its runs read of them besides the matrices.

use foretell_simd::{self as simd, Saved};

use super::cell::Cell;
use super::held::HeldWeights;
use super::layer::{Layer, RunMode};

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

impl Layer {
    pub(super) fn check(
        &self,
        weights: &Weights<'_>,
        x: &[f32],
        states: &[f32],
        cells: &[f32],
        run: RunMode,
    ) {
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
    pub(super) fn sum_biases(&self, weights: &Weights<'_>, sums: &mut [f32]) {
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
}
