//! One step: windows in parts, the pinball loss of nine quantiles, AdamW, and the average of weights.

use foretell_nn::{Forward, Key, Params, Rounding, Shape, Tensor, Var};
use foretell_optim::{AdamConfig, Clip, Optimizer, Rule};
use foretell_pretrained::foretell0::network::{PatchNetwork, QUANTILES, Tokens};
use foretell_pretrained::foretell0::window::{FEATURES, METHODS, PATCH, WindowShape};

use crate::windows::{TrainingWindow, shape, window};

/// Windows of a part of a step, whose activations stay near the core.
const PART: usize = 32;

/// The time constant of the moving average of the weights, in steps.
const AVERAGED: u64 = 400;

/// AdamW with a gradient of norm 1 at most.
pub fn optimizer(len: usize) -> Optimizer {
    let adam = AdamConfig::default().beta2(0.98).weight_decay(0.02);
    Optimizer::new(len, Rule::AdamW(adam), Some(Clip::Norm(1.0)))
}

/// A network in training.
#[derive(Debug)]
pub struct Training {
    network: PatchNetwork,
    params: Params,
    optimizer: Optimizer,
    average: Vec<f32>,
    gradients: Vec<f32>,
    rounding: Rounding,
}

impl Training {
    /// A training from these weights, their average and the optimiser's state.
    pub fn new(params: Params, average: Vec<f32>, optimizer: Optimizer, rounding: Rounding) -> Self {
        let gradients = vec![0.0; params.table().arena_len()];
        Self { network: PatchNetwork::new().0, params, optimizer, average, gradients, rounding }
    }

    /// The weights.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The moving average of the weights, in the layout of the parameters' arena.
    pub fn average(&self) -> &[f32] {
        &self.average
    }

    /// The optimiser.
    pub fn optimizer(&self) -> &Optimizer {
        &self.optimizer
    }

    /// A step at a rate on `batch` windows from number `first` on, with the shape of step `step`; the mean loss.
    pub fn step(&mut self, seed: u64, step: u64, first: u64, batch: usize, rate: f64) -> f64 {
        self.gradients.fill(0.0);
        let shape = shape(seed, step);
        let mut loss = 0.0;
        for start in (0..batch).step_by(PART) {
            let windows: Vec<TrainingWindow> =
                (start..batch.min(start + PART)).map(|i| window(seed, first + i as u64, shape)).collect();
            let cx = Forward::training(&self.params, Key::new(step)).rounding(self.rounding);
            let forecast = run(&self.network, &cx, &windows, shape);
            let (sum, seed) = pinball(&forecast, &windows, batch);
            loss += sum;
            forecast.backward_from(seed, &mut self.gradients);
        }
        self.optimizer.step(self.params.arena_mut(), &[&self.gradients], rate);
        let share = 1.0 / (self.optimizer.steps().min(AVERAGED)) as f32;
        for (average, weight) in self.average.iter_mut().zip(self.params.arena()) {
            *average += share * (weight - *average);
        }
        loss
    }

    /// The mean loss of the average of weights on `count` windows of a seed, and the mean absolute error of its median by that of the value a period
    /// ago.
    pub fn validate(&self, seed: u64, count: usize) -> [f64; 2] {
        let mut params = self.params.clone();
        params.arena_mut().copy_from_slice(&self.average);
        let (mut loss, mut error, mut naive) = (0.0, 0.0, 0.0);
        for (part, start) in (0..count).step_by(PART).enumerate() {
            let shape = [WindowShape { past: 32, future: 3 }, WindowShape { past: 8, future: 1 }][part % 2];
            let windows: Vec<TrainingWindow> =
                (start..count.min(start + PART)).map(|i| window(seed, i as u64, shape)).collect();
            let forecast = run(&self.network, &Forward::inference(&params), &windows, shape);
            loss += pinball(&forecast, &windows, count).0;
            let steps = shape.future * PATCH;
            for (window, forecast) in windows.iter().zip(forecast.value().values().chunks(9 * steps)) {
                let weight = f64::from(weight(window));
                for (t, target) in window.targets.iter().enumerate() {
                    let ago = window.ready.methods[(t / PATCH * METHODS + 1) * PATCH + t % PATCH];
                    error += weight * f64::from((forecast[9 * t + 4] - target).abs()) / steps as f64;
                    naive += weight * f64::from((ago - target).abs()) / steps as f64;
                }
            }
        }
        [loss, error / naive]
    }
}

/// What a window counts: errors are measured by how far its values spread over such a time.
fn weight(window: &TrainingWindow) -> f32 {
    let spreads = &window.ready.spreads;
    spreads.len() as f32 / spreads.iter().sum::<f32>()
}

/// The forecasts of these windows, `[windows, steps, 9]`.
fn run(network: &PatchNetwork, cx: &Forward<'_>, windows: &[TrainingWindow], shape: WindowShape) -> Var {
    let gather = |sizes: &[usize], of: fn(&TrainingWindow) -> &[f32]| {
        Tensor::build(Shape::new(sizes), |out| {
            let each = out.len() / windows.len();
            out.chunks_exact_mut(each).zip(windows).for_each(|(out, window)| out.copy_from_slice(of(window)));
        })
    };
    let hidden: Vec<bool> = windows.iter().flat_map(|window| window.ready.hidden.iter().copied()).collect();
    let batch = Tokens {
        tokens: gather(&[windows.len(), shape.tokens(), FEATURES], |window| &window.ready.tokens),
        hidden: &hidden,
        methods: gather(&[windows.len() * shape.future, METHODS, PATCH], |window| &window.ready.methods),
        spreads: gather(&[windows.len() * shape.future], |window| &window.ready.spreads),
        shape,
    };
    network.forward(cx, &batch)
}

/// The weighted pinball loss of these windows as a part of the mean over `batch` windows, and its gradient: the mean over quantiles of
/// `2 max(q e, (q - 1) e)` with the error e of the target from the quantile.
fn pinball(forecast: &Var, windows: &[TrainingWindow], batch: usize) -> (f64, Tensor) {
    let shape = forecast.shape();
    let steps = shape[1];
    let factor = 2.0 / (batch * steps * QUANTILES.len()) as f32;
    let mut sum = 0.0;
    let gradient = Tensor::build(shape, |gradient| {
        let forecasts = forecast.value().values().chunks_exact(steps * QUANTILES.len());
        let gradients = gradient.chunks_exact_mut(steps * QUANTILES.len());
        for ((window, forecast), gradient) in windows.iter().zip(forecasts).zip(gradients) {
            let factor = factor * weight(window);
            let rows = forecast.chunks_exact(QUANTILES.len()).zip(gradient.chunks_exact_mut(QUANTILES.len()));
            for (target, (forecast, gradient)) in window.targets.iter().zip(rows) {
                for ((quantile, forecast), gradient) in QUANTILES.iter().zip(forecast).zip(gradient) {
                    let error = target - forecast;
                    let slope = if error > 0.0 { *quantile } else { quantile - 1.0 };
                    sum += f64::from(factor * slope * error);
                    *gradient = -factor * slope;
                }
            }
        }
    });
    (sum, gradient)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn training() -> Training {
        let params = PatchNetwork::new().1.initialise(1);
        let (average, len) = (params.arena().to_vec(), params.arena().len());
        Training::new(params, average, optimizer(len), Rounding::None)
    }

    #[test]
    fn the_gradient_is_that_of_the_loss() {
        let shape = WindowShape { past: 2, future: 1 };
        let windows: Vec<TrainingWindow> = (0..2).map(|i| window(1, i, shape)).collect();
        let values: Vec<f32> = (0..2 * 16 * 9).map(|i| ((i * 37) % 23) as f32 / 10.0 - 1.1).collect();
        let at =
            |values: &[f32]| pinball(&Var::constant(Tensor::from_slice(values, [2, 16, 9])), &windows, 4);
        let (_, gradient) = at(&values);
        let gradient = gradient.to_vec();
        for i in (0..values.len()).step_by(17) {
            let moved = |by: f32| {
                let mut values = values.clone();
                values[i] += by;
                at(&values).0
            };
            let expected = (moved(1e-3) - moved(-1e-3)) / 2e-3;
            assert!((f64::from(gradient[i]) - expected).abs() < 1e-3, "{}, not {expected}", gradient[i]);
        }
    }

    #[test]
    fn steps_are_the_same_again_and_lessen_the_loss() {
        let run = |steps: u64| {
            let mut training = training();
            let shape_of = 3;
            let losses: Vec<f64> = (0..steps).map(|_| training.step(2, shape_of, 0, 8, 1e-3)).collect();
            (losses, training.params.arena().to_vec())
        };
        let (losses, weights) = run(6);
        assert_eq!((losses.clone(), weights), run(6));
        assert!(losses[5] < losses[0], "{losses:?}");
    }
}
