//! The products of a layer's inputs.

use std::ops::Range;

use foretell_gemm::{Accum, MatMut, MatRef, PackedBf16, Rounding};
use foretell_pool::Buffer;
use half::slice::HalfBitsSliceExt;

use super::cell::Cell;
use super::layer::{Layer, RunMode};
use super::operand::{RightOperand, part, part_mut};
use super::weights::Weights;

impl Layer {
    /// Writes the products of the inputs of a block of sequences to its gates, for the steps from t on that are made at
    /// once; zeros where no input enters.
    pub(super) fn add_inputs(
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
        let held = weights.held.map(|held| held.input(self, weights.input, rows)).unwrap_or_default();
        for (place, (to, _)) in self.input_columns().into_iter().flatten().enumerate() {
            let gates = MatMut::row_major(gates, rows, width).cols(to);
            let right = held.get(place).map_or(by_input[place], RightOperand::Held);
            right.multiply(gates, x, Accum::Replace);
        }
    }

    /// The products of the inputs of all steps, which are made at once: `x [steps, inputs]` to the first rows of
    /// `sums [_, sums * hidden]`.
    pub(super) fn multiply_inputs(&self, weights: &Weights<'_>, x: &[f32], sums: &mut [f32]) {
        let mut places = self.input_places();
        let by_input = self.by_input(weights, &mut places, MatRef::t);
        self.add_inputs(weights, by_input, x, sums, 0, &(0..1), RunMode::Inference);
    }

    /// Memory for the parts of W in bfloat16; empty where the products are not rounded to it.
    pub(super) fn input_places(&self) -> [Buffer<u16>; 2] {
        let part = |rows: Range<usize>| {
            let shape = [self.steps * self.batch, self.inputs, rows.len()];
            let rounds = self.rounding.of_product(shape) == Rounding::Bf16;
            // Forwards one of the two is the inner dimension, backwards the other.
            let len =
                PackedBf16::len_of(rows.len(), self.inputs).max(PackedBf16::len_of(self.inputs, rows.len()));
            if rounds { len } else { 0 }
        };
        self.input_columns().map(|columns| Buffer::stale(columns.map_or(0, |(_, rows)| part(rows))))
    }

    /// The parts of W that [`Layer::input_columns`] names, each turned as `turn` says, as the products of all steps read them.
    pub(super) fn by_input<'a>(
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
}
