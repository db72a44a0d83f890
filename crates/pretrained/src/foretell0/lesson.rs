//! Windows to learn from, and the network as the engine trains it: in pretraining and in fine-tuning the same step.
//!
//! A batch of the engine holds what [`ReadyWindow`] has: the tokens in place of the target's history, which of them are not hidden in place
//! of its mask, the methods in place of historic columns and the spreads in place of static ones. Targets and forecasts are divided by a
//! multiple of the window's mean spread, so that the sum of pinball losses is the loss: twice the mean pinball loss of the quantiles in units of
//! the spread.

use foretell_nn::{Forward, Inputs, Key, Loss, Model, Needs, Network, Params, Tensor, Var, Windows};
use foretell_optim::{AdamConfig, Clip, Rule};
use foretell_pool::live_bytes_of_thread;
use foretell_train::Batch;

use super::network::{PatchNetwork, QUANTILES, Tokens};
use super::window::{FEATURES, METHODS, PATCH, ReadyWindow, WindowShape};

/// Windows of a shard: enough for products at a good rate, few enough that a batch of 32 keeps several threads busy.
const SHARD: usize = 8;

/// A window to train on.
#[derive(Clone, Debug)]
pub struct TrainingWindow {
    /// What the network reads.
    pub ready: ReadyWindow,
    /// The values of the future on the window's scale.
    pub targets: Vec<f32>,
    /// What each of them counts, 0 where it is unknown.
    pub weights: Vec<f32>,
}

impl TrainingWindow {
    /// A window that counts nothing, of this many steps of the future, in place of one that the network does not forecast.
    pub fn nothing(shape: WindowShape, steps: usize) -> Self {
        let ready = ReadyWindow::new(&[0.0, 1.0], &[], shape).expect("two values that differ");
        Self { ready, targets: vec![0.0; steps], weights: vec![0.0; steps] }
    }
}

/// The network as the engine trains it, of batches whose targets have at most this many steps.
pub fn network(steps: usize) -> Network {
    let needs = Needs { shard_windows: SHARD, ..Needs::default() };
    Network { needs, ..Lessons { network: PatchNetwork::new().0, steps }.into() }
}

/// The loss of the engine: the sum of the quantiles' pinball losses.
pub fn loss() -> Loss {
    // The shortest decimals of these: what is rounded to 32 bits is the same again.
    let quantiles: Vec<f64> = (1..=9).map(|tenth| f64::from(tenth) / 10.0).collect();
    let arguments = [("quantiles".to_owned(), quantiles.into())].into_iter().collect();
    Loss::new("MQLoss", &arguments).expect("a loss of nine quantiles")
}

/// The rule of the optimiser: AdamW.
pub fn rule() -> Rule {
    Rule::AdamW(AdamConfig::default().beta2(0.98).weight_decay(0.02))
}

/// How gradients are clipped: to a norm of 1.
pub fn clip() -> Clip {
    Clip::Norm(1.0)
}

/// What targets and forecasts of a window with these spreads are multiplied by.
pub fn unit(spreads: &[f32]) -> f32 {
    let mean = spreads.iter().sum::<f32>() / spreads.len() as f32;
    2.0 / (QUANTILES.len() as f32 * mean)
}

/// The windows as a batch of the engine.
///
/// # Panics
/// If there are none, or they are of several shapes.
pub fn batch(windows: &[TrainingWindow]) -> Batch {
    let rows = windows.len();
    let gather = |sizes: [usize; 2], of: fn(&TrainingWindow) -> &[f32]| {
        Tensor::build([rows, sizes[0] * sizes[1]], |out| {
            let each = sizes[0] * sizes[1];
            out.chunks_exact_mut(each).zip(windows).for_each(|(out, window)| out.copy_from_slice(of(window)));
        })
    };
    let (tokens, steps) = (windows[0].ready.hidden.len(), windows[0].targets.len());
    let future = windows[0].ready.spreads.len();
    let seen = Tensor::build([rows, tokens], |out| {
        let hidden = windows.iter().flat_map(|window| &window.ready.hidden);
        out.iter_mut().zip(hidden).for_each(|(seen, hidden)| *seen = if *hidden { 0.0 } else { 1.0 });
    });
    let target = Tensor::build([rows, steps], |out| {
        for (out, window) in out.chunks_exact_mut(steps).zip(windows) {
            let unit = unit(&window.ready.spreads);
            out.iter_mut().zip(&window.targets).for_each(|(out, target)| *out = unit * target);
        }
    });
    let methods = gather([future, METHODS * PATCH], |window| &window.ready.methods);
    Batch {
        windows: Windows {
            insample_y: gather([tokens, FEATURES], |window| &window.ready.tokens),
            insample_mask: seen,
            hist_exog: Some(methods.reshape([rows, future, METHODS * PATCH])),
            futr_exog: None,
            stat_exog: Some(gather([future, 1], |window| &window.ready.spreads)),
        },
        target,
        weights: gather([steps, 1], |window| &window.weights),
        error_scale: Tensor::full([rows], 1.0),
        loc: Tensor::zeros([rows]),
        scale: Tensor::full([rows], 1.0),
    }
}

/// About how many numbers a step keeps of a window of this shape between its two passes: what two keep more than one.
pub(crate) fn kept(params: &Params, shape: WindowShape) -> usize {
    let network = network(usize::MAX);
    let bytes_of = |windows: usize| {
        let batch = batch(&vec![TrainingWindow::nothing(shape, 1); windows]);
        let before = live_bytes_of_thread();
        let cx = Forward::training(params, Key::new(0));
        let output = network.model.forward(&cx, &batch.windows.inputs());
        let bytes = live_bytes_of_thread() - before;
        drop(output);
        bytes
    };
    // What is made once is made now.
    bytes_of(1);
    (bytes_of(2) - bytes_of(1)).max(0) as usize / size_of::<f32>()
}

/// The network as a model of the engine.
struct Lessons {
    network: PatchNetwork,
    steps: usize,
}

impl Model for Lessons {
    fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
        let given = "a batch of lessons";
        let methods = windows.hist_exog.as_ref().expect(given);
        let spreads = windows.stat_exog.as_ref().expect(given);
        let [rows, future] = [spreads.shape()[0], spreads.shape()[1]];
        let tokens = windows.insample_mask.shape()[1];
        let hidden: Vec<bool> =
            windows.insample_mask.contiguous().values().iter().map(|m| *m == 0.0).collect();
        let forecast = self.network.forward(
            cx,
            &Tokens {
                tokens: windows.insample_y.reshape([rows, tokens, FEATURES]),
                hidden: &hidden,
                methods: methods.reshape([rows * future, METHODS, PATCH]),
                spreads: spreads.reshape([rows * future]),
                shape: WindowShape { past: tokens - future, future },
            },
        );
        let units = Tensor::build([rows, 1, 1], |units| {
            let spreads = spreads.value().contiguous();
            let each = spreads.values().chunks_exact(future);
            units.iter_mut().zip(each).for_each(|(out, spreads)| *out = unit(spreads));
        });
        let forecast = forecast.mul(&Var::constant(units));
        let steps = forecast.shape()[1];
        if self.steps < steps { forecast.narrow(1, 0, self.steps) } else { forecast }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engines_loss_is_the_pinball_loss_in_units_of_the_spread() {
        let shape = WindowShape { past: 2, future: 2 };
        let window = |factor: f32| {
            let history: Vec<f32> = (0..32).map(|t| factor * ((t * t) % 7) as f32).collect();
            let ready = ReadyWindow::new(&history, &[], shape).unwrap();
            let targets = (0..20).map(|t| 0.1 * t as f32 - 0.7).collect();
            let weights = (0..20).map(|t| if t == 3 { 0.0 } else { 1.0 }).collect();
            TrainingWindow { ready, targets, weights }
        };
        let windows = [window(1.0), window(-3.0), TrainingWindow::nothing(shape, 20)];
        let params = PatchNetwork::new().1.initialise(1);
        let (network, loss, batch) = (network(20), loss(), batch(&windows));
        let output = network.model.forward(&Forward::training(&params, Key::new(1)), &batch.windows.inputs());
        assert_eq!(*output.shape(), [3, 20, 9]);
        let known = 38.0;
        let found = loss.mean(&output, batch.truth(), known).value().item();
        let output = output.value().to_vec();
        let mut expected = 0.0;
        for (window, outputs) in windows[..2].iter().zip(output.chunks_exact(20 * 9)) {
            let spread = window.ready.spreads.iter().sum::<f32>() / 2.0;
            for (t, target) in window.targets.iter().enumerate().filter(|(t, _)| *t != 3) {
                for (q, output) in QUANTILES.iter().zip(&outputs[9 * t..]) {
                    let forecast = output / unit(&window.ready.spreads);
                    let error = (target - forecast) / spread;
                    expected += 2.0 * (q * error).max((q - 1.0) * error) / 9.0 / known as f32;
                }
            }
        }
        assert!((found - expected).abs() < 1e-4 * expected, "{found}, not {expected}");
    }
}
