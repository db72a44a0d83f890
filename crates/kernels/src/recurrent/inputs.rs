//! The products of a layer's inputs.

use std::ops::Range;

use foretell_gemm::{Accum, MatMut, MatRef, Rhs, Rounding, WeightFormat, WeightMatrix};

use super::cell::Cell;
use super::layer::{Layer, RunMode};
use super::operand::{packed_or, part, part_mut};
use super::weights::Weights;

impl Layer {
    /// Writes the products of the inputs of a block of sequences to its gates, for the steps from t on that are made at
    /// once; zeros where no input enters.
    pub(super) fn add_inputs(
        &self,
        weights: &Weights<'_>,
        by_input: [Rhs<'_>; 2],
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
            let by_input = held.get(place).map_or(by_input[place], Rhs::Packed);
            self.product(gates, x, by_input, Accum::Replace);
        }
    }

    /// The products of the inputs of all steps, which are made at once: `x [steps, inputs]` to the first rows of
    /// `sums [_, sums * hidden]`.
    pub(super) fn multiply_inputs(&self, weights: &Weights<'_>, x: &[f32], sums: &mut [f32]) {
        let packed = self.packed_inputs(weights, MatRef::t);
        let by_input = self.by_input(weights, &packed, MatRef::t);
        self.add_inputs(weights, by_input, x, sums, 0, &(0..1), RunMode::Inference);
    }

    /// The parts of W that [`Layer::input_columns`] names, each turned as `turn` says; empty where there is none.
    fn input_parts<'a>(
        &self,
        weights: &Weights<'a>,
        turn: fn(MatRef<'a, f32>) -> MatRef<'a, f32>,
    ) -> [MatRef<'a, f32>; 2] {
        let w = MatRef::row_major(weights.input, self.cell.gates() * self.hidden, self.inputs);
        self.input_columns().map(|columns| turn(w.rows(columns.map_or(0..0, |(_, rows)| rows))))
    }

    /// Those parts packed in bfloat16, where their products are rounded to it.
    pub(super) fn packed_inputs<'a>(
        &self,
        weights: &Weights<'a>,
        turn: fn(MatRef<'a, f32>) -> MatRef<'a, f32>,
    ) -> [Option<WeightMatrix>; 2] {
        let rows = self.steps * self.batch;
        self.input_parts(weights, turn).map(|part| {
            let rounding = self.rounding.of_product([rows, part.nrows(), part.ncols()]);
            (rounding == Rounding::Bf16).then(|| WeightMatrix::new(part, WeightFormat::Bf16))
        })
    }

    /// Those parts as the products of all steps read them, with what was packed of them.
    pub(super) fn by_input<'a>(
        &self,
        weights: &Weights<'a>,
        packed: &'a [Option<WeightMatrix>; 2],
        turn: fn(MatRef<'a, f32>) -> MatRef<'a, f32>,
    ) -> [Rhs<'a>; 2] {
        let mut packed = packed.iter();
        self.input_parts(weights, turn).map(|part| packed_or(packed.next().and_then(Option::as_ref), part))
    }
}
