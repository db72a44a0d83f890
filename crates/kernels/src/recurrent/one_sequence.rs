//! The forward pass over one sequence, by groups of units.

use super::groups::{BYTES_PER_NUMBER, Running, UnitGroup};
use super::layer::{Layer, RunMode};
use super::weights::Weights;

impl Layer {
    /// [`Layer::forward`] in inference over one sequence, without a projection: `gates` is memory for the sums of the
    /// steps whose inputs are multiplied at once, `bias` holds the biases that are added to them.
    pub(super) fn forward_one(
        &self,
        (weights, groups): (&Weights<'_>, &[UnitGroup]),
        x: &[f32],
        states: &mut [f32],
        cells: &mut [f32],
        (gates, bias): (&mut [f32], &[f32]),
    ) {
        let size = self.state();
        let running = self.running(groups, bias, cells);
        let mut running: Vec<_> = running.into_iter().map(|group| (group.units(), group)).collect();
        let cost = groups.iter().map(UnitGroup::bytes).sum::<usize>() / BYTES_PER_NUMBER;
        for start in (0..self.steps).step_by(self.steps_at_once()) {
            let end = self.steps.min(start + self.steps_at_once());
            let some = Self { steps: end - start, ..*self };
            some.multiply_inputs(weights, &x[start * self.inputs..end * self.inputs], gates);
            let (rows, sums) = (&mut states[start * size..(end + 1) * size], &*gates);
            foretell_threads::sequence(rows, size, cost, &mut running, |t, group, before, after| {
                group.step(self, &sums[t * self.width()..(t + 1) * self.width()], before, after);
            });
        }
        self.write_last_cell(running.iter().map(|(_, group)| group), cells);
    }

    /// The groups at the start of a run, with the summed biases, and the first of the `cells` of an LSTM.
    pub(super) fn running<'a>(
        &self,
        groups: &'a [UnitGroup],
        bias: &[f32],
        cells: &[f32],
    ) -> Vec<Running<'a>> {
        let first = cells.get(..self.hidden).unwrap_or_default();
        groups.iter().map(|group| Running::new(self, group, bias, first)).collect()
    }

    /// Writes the c that the groups of an LSTM were left with.
    pub(super) fn write_last_cell<'a>(
        &self,
        groups: impl Iterator<Item = &'a Running<'a>>,
        cells: &mut [f32],
    ) {
        if !cells.is_empty() {
            let last = &mut cells[self.last_cell(RunMode::Inference)];
            groups.for_each(|group| last[group.units()].copy_from_slice(group.c()));
        }
    }
}
