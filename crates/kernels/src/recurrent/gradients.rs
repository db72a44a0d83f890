//! The gradients of a recurrent layer's weights and inputs, made of what its way back in time has left.

use std::ops::Range;

use foretell_gemm::{Accum, MatMut, MatRef, Options, matmul};
use foretell_simd as simd;

use super::{Layer, ROWS, Weights};

/// What a backward pass through time leaves: the gradients of the weights and inputs, each a product over the whole
/// sequence, written to or added to the destination.
#[derive(Debug)]
pub struct RecurrentGradients<'a> {
    pub(super) layer: Layer,
    pub(super) gates: &'a [f32],
    pub(super) outputs: &'a [f32],
    pub(super) bias: &'a [f32],
    pub(super) states: &'a [f32],
}

impl RecurrentGradients<'_> {
    /// Calls `add` with blocks of the rows of all steps, their sums, and whether the first of them still has to be
    /// replaced: so the rows that one block's products read stay in cache.
    fn by_blocks(&self, accum: Accum, mut add: impl FnMut(Range<usize>, MatRef<'_, f32>, Accum)) {
        let rows = self.layer.steps * self.layer.batch;
        let sums = self.layer.rows_of(self.gates, rows);
        for block in 0..rows.div_ceil(ROWS).max(1) {
            let range = block * ROWS..rows.min((block + 1) * ROWS);
            add(range.clone(), sums.rows(range), if block == 0 { accum } else { Accum::Add });
        }
    }

    /// The gradient of `x`, `[steps, batch, inputs]`.
    pub fn inputs(&self, weights: &Weights<'_>, dx: &mut [f32], accum: Accum) {
        let Layer { inputs, hidden, cell, .. } = self.layer;
        let w = MatRef::row_major(weights.input, cell.gates() * hidden, inputs);
        self.by_blocks(accum, |range, sums, _| {
            let mut accum = accum;
            let dx = &mut dx[range.start * inputs..range.end * inputs];
            for (columns, rows) in self.layer.input_columns().into_iter().flatten() {
                let options = Options { accum, ..Options::default() };
                matmul(MatMut::row_major(dx, range.len(), inputs), sums.cols(columns), w.rows(rows), options);
                accum = Accum::Add;
            }
        });
    }

    /// The gradient of W, given the inputs `x`.
    pub fn input_weights(&self, x: &[f32], dw: &mut [f32], accum: Accum) {
        let Layer { inputs, hidden, cell, .. } = self.layer;
        self.by_blocks(accum, |range, sums, accum| {
            let x = MatRef::row_major(&x[range.start * inputs..range.end * inputs], range.len(), inputs);
            for (columns, rows) in self.layer.input_columns().into_iter().flatten() {
                let dw = MatMut::row_major(dw, cell.gates() * hidden, inputs).rows(rows);
                matmul(dw, sums.cols(columns).t(), x, Options { accum, ..Options::default() });
            }
        });
    }

    /// The gradient of U, given the states of the forward pass.
    pub fn state_weights(&self, states: &[f32], dw: &mut [f32], accum: Accum) {
        let Layer { hidden, cell, .. } = self.layer;
        let (rows, size) = (cell.gates() * hidden, self.layer.state());
        self.by_blocks(accum, |range, sums, accum| {
            let before = MatRef::row_major(&states[range.start * size..range.end * size], range.len(), size);
            let options = Options { accum, ..Options::default() };
            matmul(MatMut::row_major(dw, rows, size), sums.cols(0..rows).t(), before, options);
        });
    }

    /// The gradient of the projection.
    pub fn projection(&self, dw: &mut [f32], accum: Accum) {
        let (hidden, size) = (self.layer.hidden, self.layer.state());
        self.by_blocks(accum, |range, _, accum| {
            let part = |all, columns: usize| {
                let all: &[f32] = all;
                MatRef::row_major(&all[range.start * columns..range.end * columns], range.len(), columns)
            };
            let (states, outputs) = (part(self.states, size), part(self.outputs, hidden));
            let options = Options { accum, ..Options::default() };
            matmul(MatMut::row_major(dw, size, hidden), states.t(), outputs, options);
        });
    }

    /// The gradient of the bias beside W.
    pub fn input_bias(&self, db: &mut [f32], accum: Accum) {
        for (from, to) in self.layer.input_columns().into_iter().flatten() {
            put(&mut db[to], &self.bias[from], accum);
        }
    }

    /// The gradient of the bias beside U.
    pub fn state_bias(&self, db: &mut [f32], accum: Accum) {
        put(db, &self.bias[..self.layer.cell.gates() * self.layer.hidden], accum);
    }
}

fn put(dst: &mut [f32], src: &[f32], accum: Accum) {
    match accum {
        Accum::Replace => dst.copy_from_slice(src),
        Accum::Add => simd::add_assign(dst, src),
    }
}
