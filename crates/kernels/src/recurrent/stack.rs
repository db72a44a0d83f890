//! Layers on top of each other over one sequence, for forecasts.
//!
//! A layer needs no more of the one below it than the steps so far. So threads take a layer each, one some steps behind the
//! other, where otherwise they would share each step of one layer after the other: they meet once in 16 steps instead of twice
//! in each, and it hardly counts how far apart their cores are. The products of a layer's inputs, which need no state, are a
//! stage of their own, which the thread that is ahead takes.
//!
//! Two layers and two threads took 0.96 (LSTM of 128 units), 0.78 (GRU of 200) and 0.6 times (RNN of 128, whose steps were too
//! short to share) as long as with shared steps in `f32` on two cores of a Zen 4; as two stages instead of four LSTM took 1.13
//! times, GRU 1.12 and RNN 1.16 times as long. Chunks of 12 steps were no faster, of 24 up to 7 % slower, of 32 up to 15 %.

use foretell_pool::Buffer;
use foretell_threads::pipeline;

use super::groups::{BYTES_PER_NUMBER, Running, UnitGroup};
use super::layer::{Layer, RunMode};
use super::weights::Weights;

/// Steps after which the layer above continues: enough rows for the product of its inputs, few beside a sequence.
const CHUNK: usize = 16;

/// The least steps of a sequence that [`forward_stack`] runs over.
pub const LEAST_STACKED_STEPS: usize = 2 * CHUNK;

/// A layer of a stack, and the memory of its run over a sequence.
#[derive(Debug)]
pub struct StackedLayer<'a> {
    /// Its sizes.
    pub layer: Layer,
    /// Its weights.
    pub weights: Weights<'a>,
    /// The states, as [`Layer::forward`] has them.
    pub states: &'a mut [f32],
    /// The states c of an LSTM, as [`Layer::forward`] has them in inference.
    pub cells: &'a mut [f32],
}

impl StackedLayer<'_> {
    fn groups(&self) -> Option<&[UnitGroup]> {
        self.weights.held?.groups(&self.layer, self.weights.state)
    }
}

/// [`Layer::forward`] in inference of layers on top of each other, each of which reads the states of the one before: writes all
/// but the first of their `states` and `cells`. It does so, and returns true, for several layers over one sequence of at least
/// [`LEAST_STACKED_STEPS`], whose weights are held for it and which do not project. The bits do not depend on the threads.
///
/// # Panics
/// As [`Layer::forward`].
#[track_caller]
pub fn forward_stack(layers: &mut [StackedLayer<'_>], x: &[f32]) -> bool {
    let serves = |stacked: &StackedLayer<'_>| {
        let Layer { steps, hidden, .. } = stacked.layer;
        steps >= LEAST_STACKED_STEPS && hidden > 0 && stacked.groups().is_some()
    };
    if layers.len() < 2 || !layers.iter().all(serves) {
        return false;
    }
    let mut input = x;
    for StackedLayer { layer, weights, states, cells } in &*layers {
        layer.check(weights, input, states, cells, RunMode::Inference);
        input = &states[layer.hidden..];
    }
    let steps = layers[0].layer.steps;
    let cost =
        |groups: &[UnitGroup]| CHUNK * groups.iter().map(UnitGroup::bytes).sum::<usize>() / BYTES_PER_NUMBER;
    let cost = layers.iter().filter_map(StackedLayer::groups).map(cost).max().unwrap_or(0);
    let sums = layers.iter().map(|stacked| Buffer::stale((steps + 1) * stacked.layer.width()));
    let mut sums: Vec<Buffer<f32>> = sums.collect();
    let stages = layers.iter_mut().zip(&mut sums).flat_map(|(stacked, sums)| {
        let StackedLayer { layer, weights, states, cells } = stacked;
        let (layer, weights) = (*layer, &*weights);
        let groups = weights.held.and_then(|held| held.groups(&layer, weights.state)).expect("checked above");
        let mut bias = Buffer::stale(layer.width());
        layer.sum_biases(weights, &mut bias);
        let running = layer.running(groups, &bias, cells);
        let steps = Stage::Steps { layer, running, cells };
        [(Stage::Inputs { layer, weights }, &mut sums[..]), (steps, &mut **states)]
    });
    let mut stages: Vec<_> = stages.collect();
    pipeline(x, [steps, CHUNK], cost, &mut stages, Stage::advance);
    stages.into_iter().for_each(|(stage, _)| stage.end());
    true
}

/// A part of a layer, in the course of a run.
enum Stage<'a> {
    /// The products of the inputs, `[steps, sums * hidden]`.
    Inputs { layer: Layer, weights: &'a Weights<'a> },
    /// The states, made of these.
    Steps { layer: Layer, running: Vec<Running<'a>>, cells: &'a mut [f32] },
}

impl Stage<'_> {
    /// The steps of a chunk, from those of the stage before.
    fn advance(&mut self, from: &[f32], before: &[f32], after: &mut [f32]) {
        match self {
            Self::Inputs { layer, weights } => {
                let chunk = Layer { steps: after.len() / layer.width(), ..*layer };
                chunk.multiply_inputs(weights, from, after);
            }
            Self::Steps { layer, running, .. } => {
                let size = layer.hidden;
                for (t, sums) in from.chunks_exact(layer.width()).enumerate() {
                    let (done, rest) = after.split_at_mut(t * size);
                    let before = if t == 0 { before } else { &done[(t - 1) * size..] };
                    for group in &mut *running {
                        let units = group.units();
                        group.step(layer, sums, before, &mut rest[units]);
                    }
                }
            }
        }
    }

    fn end(self) {
        if let Self::Steps { layer, running, cells } = self {
            layer.write_last_cell(running.iter(), cells);
        }
    }
}
