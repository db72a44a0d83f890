//! The parts of the cells that a training run with rounded products, or of little memory, keeps for the backward pass: the gates of all steps and,
//! for an LSTM with a projection, the cell's outputs, in 16 bits. They are rounded while a step's values are in cache, and
//! widened again step by step.
//!
//! They are at the end of the tape, two to each of its numbers: `[steps * batch, sums * hidden]`, then `[steps * batch,
//! hidden]`.

use std::ops::Range;

use foretell_gemm::Rounding;
use foretell_simd as simd;
use half::slice::HalfBitsSliceExt;

use super::layer::{Layer, RunMode};
use super::operand::part;

/// The parts that are kept of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// The gates.
    Gates,
    /// The cell's outputs, for an LSTM with a projection.
    Outputs,
}

impl Layer {
    /// The width of a row.
    fn kept_width(&self, what: Kept) -> usize {
        if what == Kept::Gates { self.width() } else { self.hidden }
    }

    /// Where these rows lie among the numbers of 16 bits.
    fn kept_range(&self, what: Kept, rows: &Range<usize>) -> Range<usize> {
        let first = if what == Kept::Gates { 0 } else { self.steps * self.batch * self.width() };
        let width = self.kept_width(what);
        first + rows.start * width..first + rows.end * width
    }

    /// Rounds the `values` of these sequences at step t into their place, in a run that keeps them so.
    pub(super) fn keep_step(
        &self,
        what: Kept,
        t: usize,
        sequences: &Range<usize>,
        values: &[f32],
        rounded: &mut [f32],
        run: RunMode,
    ) {
        if !self.keeps_rounded(run) {
            return;
        }
        let rows = t * self.batch + sequences.start..t * self.batch + sequences.end;
        let bits = &mut bytemuck::cast_slice_mut::<f32, u16>(rounded)[self.kept_range(what, &rows)];
        match self.kept_in() {
            Rounding::F16 => simd::to_f16(values, bits.reinterpret_cast_mut()),
            _ => simd::to_bf16(values, bits.reinterpret_cast_mut()),
        }
    }

    /// These rows of a tape, numbered step by step: a view of the tape, or widened in `place`.
    pub(super) fn kept<'a>(
        &self,
        what: Kept,
        rows: &Range<usize>,
        tape: &'a [f32],
        place: &'a mut [f32],
    ) -> &'a [f32] {
        let run = RunMode::Training;
        let [gates, outputs, .., rounded] = self.parts(run);
        if !self.keeps_rounded(run) {
            let held = if what == Kept::Gates { &tape[..gates] } else { &tape[gates..gates + outputs] };
            return part(held, rows, self.kept_width(what));
        }
        let rounded = &tape[tape.len() - rounded..];
        let bits = &bytemuck::cast_slice::<f32, u16>(rounded)[self.kept_range(what, rows)];
        let place = &mut place[..bits.len()];
        match self.kept_in() {
            Rounding::F16 => simd::from_f16(bits.reinterpret_cast(), place),
            _ => simd::from_bf16(bits.reinterpret_cast(), place),
        }
        place
    }
}
