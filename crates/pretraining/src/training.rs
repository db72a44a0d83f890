//! One step: the engine's, on windows of synthetic series, and the average of weights.

use std::fmt;

use foretell_nn::{Forward, Key, Loss, Network, Params};
use foretell_optim::Optimizer;
use foretell_pretrained::foretell0::lesson::{
    TrainingWindow, batch, clip, loss, network, rule, unit as unit_of,
};
use foretell_pretrained::foretell0::network::QUANTILES;
use foretell_pretrained::foretell0::window::{METHODS, PATCH, WindowShape};
use foretell_train::{Engine, Precision, Workers};

use crate::windows::{shape, window};

/// Windows of a part of a validation.
const PART: usize = 32;

/// The time constant of the moving average of the weights, in steps.
const AVERAGED: u64 = 400;

/// AdamW with a gradient of norm 1 at most.
pub fn optimizer(len: usize) -> Optimizer {
    Optimizer::new(len, rule(), Some(clip()))
}

/// What a training borrows: the network, its loss, and threads, on whose number no bit depends.
pub struct Ground {
    network: Network,
    loss: Loss,
    workers: Workers,
}

impl Ground {
    /// That of a training on these threads.
    pub fn new(workers: Workers) -> Self {
        Self { network: network(usize::MAX), loss: loss(), workers }
    }
}

impl fmt::Debug for Ground {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ground").field("loss", &self.loss).finish_non_exhaustive()
    }
}

/// A network in training.
#[derive(Debug)]
pub struct Training<'a> {
    ground: &'a Ground,
    engine: Engine<'a>,
    average: Vec<f32>,
}

impl<'a> Training<'a> {
    /// A training from these weights, their average and the optimiser's state.
    pub fn new(
        ground: &'a Ground,
        params: Params,
        average: Vec<f32>,
        optimizer: Optimizer,
        precision: Precision,
    ) -> Self {
        let Ground { network, loss, workers } = ground;
        // Nothing is drawn.
        let engine = Engine::new(network, params, optimizer, loss, Key::new(0), workers).precision(precision);
        Self { ground, engine, average }
    }

    /// The weights.
    pub fn params(&self) -> &Params {
        self.engine.params()
    }

    /// The moving average of the weights, in the layout of the parameters' arena.
    pub fn average(&self) -> &[f32] {
        &self.average
    }

    /// The optimiser.
    pub fn optimizer(&self) -> &Optimizer {
        self.engine.optimizer()
    }

    /// A step at a rate on `size` windows from number `first` on, with the shape of step `step`; the mean loss.
    pub fn step(&mut self, seed: u64, step: u64, first: u64, size: usize, rate: f64) -> f64 {
        let shape = shape(seed, step);
        let total = (size * shape.future * PATCH) as f64;
        let taken = self.engine.step(size, total, rate, |range| {
            let windows: Vec<TrainingWindow> = range.map(|i| window(seed, first + i as u64, shape)).collect();
            batch(&windows)
        });
        let loss = taken.unwrap_or_else(|fault| fault.loss);
        let share = 1.0 / (self.optimizer().steps().min(AVERAGED)) as f32;
        for (average, weight) in self.average.iter_mut().zip(self.engine.params().arena()) {
            *average += share * (weight - *average);
        }
        loss
    }

    /// The mean loss of the average of weights on `count` windows of a seed, and the mean absolute error of its median by that of the value a period
    /// ago.
    pub fn validate(&self, seed: u64, count: usize) -> [f64; 2] {
        let Ground { network, loss: function, .. } = self.ground;
        let mut params = self.params().clone();
        params.arena_mut().copy_from_slice(&self.average);
        let (mut loss, mut error, mut naive) = (0.0, 0.0, 0.0);
        for (part, start) in (0..count).step_by(PART).enumerate() {
            let shape = [WindowShape { past: 32, future: 3 }, WindowShape { past: 8, future: 1 }][part % 2];
            let windows: Vec<TrainingWindow> =
                (start..count.min(start + PART)).map(|i| window(seed, i as u64, shape)).collect();
            let batch = batch(&windows);
            let forecast = network.model.forward(&Forward::inference(&params), &batch.windows.inputs());
            let forecast = forecast.value().to_vec();
            let steps = shape.future * PATCH;
            loss += function.sums(&forecast, batch.truth()).sum() / (count * steps) as f64;
            let rows = windows.iter().zip(batch.target.values().chunks_exact(steps));
            for ((window, targets), forecast) in rows.zip(forecast.chunks_exact(steps * QUANTILES.len())) {
                // Both errors are in the unit of the targets.
                let unit = unit_of(&window.ready.spreads);
                for (t, target) in targets.iter().enumerate() {
                    let ago = unit * window.ready.methods[(t / PATCH * METHODS + 1) * PATCH + t % PATCH];
                    error += f64::from((forecast[9 * t + 4] - target).abs()) / steps as f64;
                    naive += f64::from((ago - target).abs()) / steps as f64;
                }
            }
        }
        [loss, error / naive]
    }
}

#[cfg(test)]
mod tests {
    use foretell_pretrained::foretell0::network::PatchNetwork;

    use super::*;

    #[test]
    fn steps_are_the_same_on_any_number_of_threads_and_lessen_the_loss() {
        let run = |threads: usize, steps: u64| {
            let ground = Ground::new(Workers::new(threads).unwrap());
            let params = PatchNetwork::new().1.initialise(1);
            let (average, len) = (params.arena().to_vec(), params.arena().len());
            let mut training = Training::new(&ground, params, average, optimizer(len), Precision::F32);
            let shape_of = 3;
            let losses: Vec<f64> = (0..steps).map(|_| training.step(2, shape_of, 0, 16, 1e-3)).collect();
            (losses, training.params().arena().to_vec())
        };
        let (losses, weights) = run(1, 5);
        assert!((losses.clone(), weights) == run(2, 5), "other bits");
        assert!(losses[4] < losses[0], "{losses:?}");
    }
}
