//! One step of training: the batch in shards, their gradients in arenas, one pass of the optimiser.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use foretell_amp::{GradScaler, GradScalerConfig, Precision};
use foretell_infer::Batch;
use foretell_nn::{
    Coupling, Forward, Key, Loss, Needs, Network, Params, RoundedWeights, Rounding, Table, Tensor, Update,
    Var,
};
use foretell_optim::{Optimizer, Pace};
use foretell_pool::Buffer;
use foretell_simd::scale;
use foretell_threads::{Workers, share};

use crate::state::{PARAMS, State};

/// The most shards: more arenas cost more memory than more threads would win back.
const MAX_SHARDS: usize = 16;

/// The least work of a step, in multiplications, for which waking the other threads pays: each window is multiplied
/// by each parameter once, and what is kept of it is written and read in a few passes.
const MIN_PARALLEL_WORK: usize = 1 << 21;

/// The cost of the passes over a number that a step keeps, in multiplications.
const ACTIVATION_COST: usize = 8;

/// A model in training.
pub struct Engine<'a> {
    network: &'a Network,
    loss: &'a Loss,
    workers: &'a Workers,
    params: Params,
    optimizer: Optimizer,
    key: Key,
    step: u64,
    shards: Vec<Shard>,
    /// The work of a step for each window of its batch: see [`MIN_PARALLEL_WORK`].
    window_work: usize,
    rounding: Rounding,
    /// In bfloat16: the weights of linear layers, packed anew in each step.
    step_weights: Option<RoundedWeights>,
    /// For training in `f16`, whose small gradients would become zero.
    scaler: Option<GradScaler>,
}

/// One shard's part of a step: its gradient and its share of the loss.
struct Shard {
    /// The gradients of the last step that the shard ran; each step replaces them.
    gradients: Buffer<f32>,
    /// The offsets of the parameters that got a gradient in this step.
    written: HashSet<usize>,
    /// The offsets of those that got one in the step before: where they get none now, their gradients are set to
    /// zero.
    stale: HashSet<usize>,
    loss: f64,
    /// Its share of the mean error of the naive forecast, for a loss that is relative to it.
    naive_error: f64,
    /// The updates of the last step to state that no gradient changes.
    updates: Vec<Update>,
}

/// A shard with which the loss is no finite number.
#[derive(Clone, Debug, PartialEq)]
pub struct NotFinite {
    /// The loss: NaN or infinite.
    pub loss: f64,
    /// The shard's place among the shards of the batch.
    pub shard: usize,
    /// The windows of the batch that it held.
    pub windows: Range<usize>,
}

impl fmt::Debug for Engine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Engine");
        shown.field("params", &self.params).field("step", &self.step).finish_non_exhaustive()
    }
}

impl<'a> Engine<'a> {
    /// A model before its first step. Dropout is drawn from `key`.
    pub fn new(
        network: &'a Network,
        params: Params,
        optimizer: Optimizer,
        loss: &'a Loss,
        key: Key,
        workers: &'a Workers,
    ) -> Self {
        let table = params.table();
        let kept = network.model.saved_activations(table).saturating_mul(ACTIVATION_COST);
        let window_work = table.numel().saturating_add(kept);
        Self {
            network,
            loss,
            workers,
            params,
            optimizer,
            key,
            step: 0,
            shards: Vec::new(),
            window_work,
            rounding: Rounding::None,
            step_weights: None,
            scaler: None,
        }
    }

    /// Rounds the operands of products to this precision. Parameters, gradients and the optimiser stay `f32`. In `f16` the
    /// derivative of the loss is scaled, and a step whose gradients overflow is skipped.
    pub fn precision(self, precision: Precision) -> Self {
        let scaler = precision.needs_scaler().then(|| GradScaler::new(GradScalerConfig::default()));
        let rounding = rounding_of(precision);
        let step_weights = (rounding == Rounding::Bf16).then(|| RoundedWeights::new(self.params.table()));
        Self { rounding, step_weights, scaler, ..self }
    }

    /// The scale of the loss, of a training in `f16`.
    pub fn scaler(&self) -> Option<&GradScaler> {
        self.scaler.as_ref()
    }

    /// The parameters as they are now.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The optimiser as it is now.
    pub fn optimizer(&self) -> &Optimizer {
        &self.optimizer
    }

    /// Sets the model to the state that a training had after a step.
    ///
    /// # Panics
    /// If an array is missing from the state, or it is of another model.
    pub(crate) fn restore(&mut self, state: &State<'_>) {
        let arena = |name: &str| state.arena(name).unwrap_or_else(|| panic!("a state without {name}"));
        state.latest.restore(&mut self.params, arena(PARAMS));
        let skipped = state.scaler.as_ref().map_or(0, GradScaler::skipped);
        self.optimizer.restore(state.step - skipped, arena);
        self.step = state.step;
        if self.scaler.is_some() && state.scaler.is_some() {
            self.scaler.clone_from(&state.scaler);
        }
    }

    /// The parameters, training done.
    pub fn into_params(self) -> Params {
        self.params
    }

    /// Takes one step on a batch of `windows` windows and returns its loss. `total` is the sum of the
    /// weights of all their steps; `cut` makes the windows of a range and may run on any thread.
    ///
    /// In `f16` a step whose loss or gradients are not all finite takes no step of the optimiser: it lowers the scale, is counted
    /// by [`GradScaler::skipped`], and its loss, finite or not, is returned.
    ///
    /// # Errors
    /// If the loss is not a finite number and the scale, if there is one, is 1 or less; parameters and optimiser are then as
    /// before the step.
    pub fn step(
        &mut self,
        windows: usize,
        total: f64,
        pace: impl Into<Pace>,
        cut: impl Fn(Range<usize>) -> Batch + Sync,
    ) -> Result<f64, NotFinite> {
        let count = shard_count(windows, self.network.needs);
        let len = self.params.table().gradients_len();
        while self.shards.len() < count {
            self.shards.push(Shard {
                gradients: Buffer::zeroed(len),
                written: HashSet::new(),
                stale: HashSet::new(),
                loss: 0.0,
                naive_error: 0.0,
                updates: Vec::new(),
            });
        }
        let Self { network, loss, workers, ref params, key, step, rounding, .. } = *self;
        let loss_scale = self.scaler.as_ref().map_or(1.0, GradScaler::scale);
        let shards = &mut self.shards[..count];
        let table = params.table();
        let spread = self.window_work.saturating_mul(windows) >= MIN_PARALLEL_WORK;
        let threads = if spread { workers.threads() } else { 1 };
        // Threads without a shard of their own share the work of those that have one. The products of weights with
        // each other are shared by all shards, if there are several.
        let inner = (threads / count).max(1);
        let shared = if count == 1 { &[] } else { table.multiplied() };
        let cx = Forward::training(params, key.fold(step));
        let products: Vec<Var> =
            share(threads, || shared.iter().map(|multiplied| multiplied.compute(&cx)).collect());
        let values: Vec<Tensor> = products.iter().map(|product| product.value().contiguous()).collect();
        if let Some(weights) = &mut self.step_weights {
            share(threads, || weights.pack(params));
        }
        let step_weights = self.step_weights.as_ref();
        workers.each(shards, spread, |i, shard| {
            let batch = cut(shard_range(windows, count, i));
            let key = key.fold(step).fold(i as u64);
            let cx = match count {
                1 => Forward::training(params, key),
                _ => Forward::part(params, key, &values),
            };
            let cx = cx.rounding(rounding);
            let cx = match step_weights {
                Some(weights) => cx.in_step(weights),
                None => cx,
            };
            share(inner, || {
                let output = network.model.forward(&cx, &batch.windows.inputs());
                let mut mean = loss.mean(&output, batch.truth(), total);
                drop(output);
                let rows = batch.windows.batch();
                let rows_of_all = rows * windows / shard_range(windows, count, i).len().max(1);
                if let Some(added) = cx.added_loss(rows, rows_of_all) {
                    mean = mean.add(&added.reshape(mean.shape()));
                }
                shard.loss = f64::from(mean.value().item());
                shard.naive_error = loss.naive_error(batch.truth()) / total;
                std::mem::swap(&mut shard.written, &mut shard.stale);
                shard.written.clear();
                mean.backward_overwriting(
                    Tensor::full(mean.shape(), loss_scale),
                    &mut shard.gradients,
                    &mut shard.written,
                );
                shard.updates = cx.into_updates();
            });
        });
        if let Some(weights) = &mut self.step_weights {
            weights.forget();
        }
        let (mut sum, mut naive_error) = (0.0, 0.0);
        for i in 0..shards.len() {
            sum += shards[i].loss;
            naive_error += shards[i].naive_error;
            if !sum.is_finite() {
                // The next step no longer knows which gradients this one should have cleared.
                shards.iter_mut().for_each(|shard| clear_unwritten(shard, table));
                if let Some(scaler) = self.scaler.as_mut().filter(|scaler| scaler.scale() > 1.0) {
                    scaler.update(true);
                    self.step += 1;
                    return Ok(sum);
                }
                return Err(NotFinite { loss: sum, shard: i, windows: shard_range(windows, count, i) });
            }
        }
        // The slope of a loss that is a function of a mean is known only now.
        let (sum, slope) = loss.value_and_slope(sum, if total == 0.0 { 0.0 } else { naive_error });
        share(threads, || backpropagate_derived(&products, table, shards));
        for shard in &mut *shards {
            clear_unwritten(shard, table);
            if slope != 1.0 {
                scale(&mut shard.gradients, slope as f32);
            }
        }
        // They hold views of the parameters, which are about to change.
        drop((products, values));
        if let Some(scaler) = &mut self.scaler {
            // Those of multiplied weights, behind, are written where there are several shards, and else stale.
            let len = table.arena_len();
            let finite =
                share(threads, || shards.iter_mut().all(|shard| scaler.unscale(&mut shard.gradients[..len])));
            if !scaler.update(!finite) {
                self.step += 1;
                return Ok(sum);
            }
        }
        let gradients: Vec<&[f32]> =
            shards.iter().map(|shard| &shard.gradients[..table.arena_len()]).collect();
        let arena = self.params.arena_mut();
        share(workers.threads(), || self.optimizer.step(arena, &gradients, pace));
        for shard in shards {
            self.params.apply(shard.updates.drain(..));
        }
        self.step += 1;
        Ok(sum)
    }
}

/// What products round to.
pub fn rounding_of(precision: Precision) -> Rounding {
    match precision {
        Precision::F32 => Rounding::None,
        Precision::Bf16 => Rounding::Bf16,
        Precision::F16 => Rounding::F16,
    }
}

/// Adds up the shards' gradients of the multiplied weights and passes them on to the parameters that these are made
/// of, as part of the first shard's gradient.
fn backpropagate_derived(products: &[Var], table: &Table, shards: &mut [Shard]) {
    for (var, entry) in products.iter().zip(table.multiplied()) {
        let range = table.multiplied_range(entry);
        let mut with_gradient = shards.iter().filter(|shard| shard.written.contains(&range.start));
        let Some(first) = with_gradient.next() else { continue };
        let mut sum = Tensor::from_slice(&first.gradients[range.clone()], entry.shape());
        for shard in with_gradient {
            foretell_simd::add_assign(sum.values_mut(), &shard.gradients[range.clone()]);
        }
        let Shard { gradients, written, .. } = &mut shards[0];
        var.backward_overwriting(sum, gradients, written);
    }
}

/// Sets the gradients of parameters to zero that got one in the step before but none in this step.
fn clear_unwritten(shard: &mut Shard, table: &Table) {
    let Shard { gradients, written, stale, .. } = shard;
    for entry in table.trained() {
        if stale.contains(&entry.offset) && !written.contains(&entry.offset) {
            gradients[entry.offset..entry.offset + entry.shape.numel()].fill(0.0);
        }
    }
}

/// How many shards a batch of `windows` windows is cut into: a function of the model and the batch alone.
///
/// It is a power of two, so that two or four threads get equally many windows each, and shards have at least
/// [`Needs::shard_windows`]. For two shards two thirds of that are enough, since with a single shard the threads wait
/// for each other at every operation.
pub fn shard_count(windows: usize, needs: Needs) -> usize {
    if needs.coupling == Coupling::Coupled {
        return 1;
    }
    let mut count = MAX_SHARDS;
    while count > 2 && windows < count * needs.shard_windows {
        count /= 2;
    }
    if count == 2 && 3 * windows < 4 * needs.shard_windows { 1 } else { count }
}

/// The windows of shard `i` of `count`.
fn shard_range(windows: usize, count: usize, i: usize) -> Range<usize> {
    windows * i / count..windows * (i + 1) / count
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    #[cfg(feature = "amp")]
    use foretell_nn::LinearPair;
    use foretell_nn::{Activation, Init, Inputs, Linear, Model, ParamId, Table, Tensor, Var, Windows};
    use foretell_optim::{Clip, Rule};
    use serde_json::json;

    use super::*;

    /// One weight: the forecast is `w` times the last value. A share of its square is a loss of the model's own.
    struct Line(ParamId, f32);

    impl Model for Line {
        fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
            let x = Var::constant(windows.insample_y.clone());
            let y = x.mul(&cx.param(self.0)).reshape([windows.batch()]);
            if self.1 > 0.0 {
                cx.add_loss(y.mul(&y).scale(self.1));
            }
            y.reshape([windows.batch(), 1, 1])
        }
    }

    /// Adam's second step depends on the ratio of the first gradient to the second: it shows whether the slope of a
    /// root or of a ratio, known only when all shards are done, reached the gradients.
    #[test]
    fn losses_have_the_gradients_of_the_whole_batch() {
        const N: usize = 150;
        assert_eq!(shard_count(N, Needs::default()), 2);
        let x: Vec<f32> = (0..N).map(|i| (i as f32 * 0.7).sin() + 0.01 * i as f32).collect();
        let y: Vec<f32> = x.iter().enumerate().map(|(i, x)| 3.0 * x + (i as f32).cos()).collect();
        for (name, own) in [("RMSE", 0.0), ("relMSE", 0.0), ("MSE", 0.5), ("RMSE", 0.25)] {
            let loss = Loss::parse(&json!(name)).expect("a loss");
            let cut = |range: Range<usize>| {
                let n = range.len();
                let column = |values: &[f32]| Tensor::from_slice(&values[range.clone()], [n, 1]);
                let (insample_y, ones) = (column(&x), Tensor::full([n], 1.0));
                Batch {
                    windows: Windows {
                        insample_mask: Tensor::full([n, 1], 1.0),
                        insample_y,
                        hist_exog: None,
                        futr_exog: None,
                        stat_exog: None,
                    },
                    target: column(&y),
                    weights: Tensor::full([n, 1], 1.0),
                    error_scale: column(&x).reshape([n]),
                    loc: Tensor::zeros([n]),
                    scale: ones,
                }
            };
            let mut table = Table::default();
            let weight = table.root().param("w", [1], Init::Uniform { bound: 1.0 });
            let network = Network::from(Line(weight, own));
            let params = table.initialise(3);
            let (mut w, workers) = (f64::from(params.tensor(weight).item()), Workers::new(2).unwrap());
            let adam = Optimizer::new(params.table().arena_len(), Rule::default(), None);
            let mut engine = Engine::new(&network, params, adam, &loss, Key::new(0), &workers);
            let (mut first, mut second) = (0.0, 0.0);
            for step in 1..=3 {
                let found = engine.step(N, N as f64, 0.5, cut).expect("a number");
                // Value and derivative over the whole batch, then Adam.
                let mean = |of: &dyn Fn(f64, f64) -> f64| {
                    x.iter().zip(&y).map(|(&x, &y)| of(x.into(), y.into())).sum::<f64>() / N as f64
                };
                let own = f64::from(own);
                let square = mean(&|x, y| (w * x - y) * (w * x - y) + own * w * x * w * x);
                let naive = mean(&|x, y| (x - y) * (x - y)) + 1e-5;
                let slope = mean(&|x, y| 2.0 * (w * x - y) * x + own * 2.0 * w * x * x);
                let (value, slope) = match name {
                    "RMSE" => (square.sqrt(), slope / (2.0 * square.sqrt())),
                    "MSE" => (square, slope),
                    _ => (square / naive, slope / naive),
                };
                assert!((found - value).abs() < 1e-5 * value, "{name}: {found}, expected {value}");
                first = 0.9 * first + 0.1 * slope;
                second = 0.999 * second + 0.001 * slope * slope;
                let correct = |decay: f64| 1.0 - decay.powi(step);
                w -= 0.5 * (first / correct(0.9)) / ((second / correct(0.999)).sqrt() + 1e-8);
                let found = f64::from(engine.params().tensor(weight).item());
                assert!((found - w).abs() < 1e-5, "{name}: step {step} leads to {found}, expected {w}");
            }
        }
    }

    /// Layers wide enough for their products and passes to be shared out to threads, where the batch is one shard.
    struct Layers([Linear; 3]);

    impl Model for Layers {
        fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
            let [first, second, last] = &self.0;
            let x = Var::constant(windows.insample_y.clone());
            let hidden = cx.dropout(first.forward(cx, &x, Activation::Gelu), 0.1);
            let hidden = hidden.add(&second.forward(cx, &hidden, Activation::Tanh));
            last.forward(cx, &hidden, Activation::Identity).reshape([windows.batch(), 1, 1])
        }
    }

    /// The parameters after three steps on `batch` windows.
    fn trained(batch: usize, needs: Needs, threads: usize, precision: Precision) -> Vec<u32> {
        const WIDTH: usize = 800;
        let random = |seed: u64, shape: [usize; 2]| {
            Tensor::build(shape, |out| Init::Uniform { bound: 1.0 }.fill(Key::new(seed), out))
        };
        let data = Batch {
            windows: Windows {
                insample_y: random(1, [batch, 8]),
                insample_mask: Tensor::full([batch, 8], 1.0),
                hist_exog: None,
                futr_exog: None,
                stat_exog: None,
            },
            target: random(2, [batch, 1]),
            weights: Tensor::full([batch, 1], 1.0),
            error_scale: Tensor::full([batch], 1.0),
            loc: Tensor::zeros([batch]),
            scale: Tensor::full([batch], 1.0),
        };
        let mut table = Table::default();
        let mut layer =
            |name: &str, inputs, outputs| Linear::new(&mut table.root().at(name), inputs, outputs);
        let layers =
            Layers([layer("first", 8, WIDTH), layer("second", WIDTH, WIDTH), layer("last", WIDTH, 1)]);
        let network = Network { needs, model: Arc::new(layers) };
        let (loss, workers) = (Loss::parse(&json!("MSE")).expect("a loss"), Workers::new(threads).unwrap());
        let params = table.initialise(3);
        let clip = Some(Clip::Norm(0.1));
        let adam = Optimizer::new(params.table().arena_len(), Rule::default(), clip);
        let mut engine =
            Engine::new(&network, params, adam, &loss, Key::new(0), &workers).precision(precision);
        let cut = |range: Range<usize>| {
            let rows = |tensor: &Tensor| tensor.narrow(0, range.start, range.len());
            Batch {
                windows: data.windows.rows(range.clone()),
                target: rows(&data.target).contiguous(),
                weights: rows(&data.weights),
                error_scale: rows(&data.error_scale),
                loc: rows(&data.loc),
                scale: rows(&data.scale),
            }
        };
        let mut step = || engine.step(batch, batch as f64, 0.01, cut).expect("a number");
        workers.enter(|| (0..3).for_each(|_| _ = step()));
        engine.into_params().arena().iter().map(|x| x.to_bits()).collect()
    }

    #[test]
    fn threads_change_no_bit_of_shards_of_any_size() {
        let [one_series, coupled] =
            [Coupling::Independent, Coupling::Coupled].map(|coupling| Needs { coupling, ..Needs::default() });
        for (batch, needs) in
            [(63, one_series), (96, one_series), (127, one_series), (192, one_series), (192, coupled)]
        {
            let one = trained(batch, needs, 1, Precision::F32);
            for threads in [2, 3] {
                assert!(
                    trained(batch, needs, threads, Precision::F32) == one,
                    "{batch} windows, {needs:?}, {threads} threads"
                );
            }
        }
    }

    #[cfg(feature = "amp")]
    #[test]
    fn threads_change_no_bit_of_products_in_16_bits() {
        let coupled = Needs { coupling: Coupling::Coupled, ..Needs::default() };
        for precision in [Precision::Bf16, Precision::F16] {
            for (batch, needs) in [(127, Needs::default()), (192, coupled)] {
                let one = trained(batch, needs, 1, precision);
                assert!(trained(batch, needs, 3, precision) == one, "{batch} windows, {precision}");
                assert!(trained(batch, needs, 1, Precision::F32) != one, "{precision} rounds nothing");
            }
        }
    }

    /// A layer of one weight: its gradient is a product.
    #[cfg(feature = "amp")]
    struct Slope(Linear);

    #[cfg(feature = "amp")]
    impl Model for Slope {
        fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
            let x = Var::constant(windows.insample_y.clone());
            self.0.forward(cx, &x, Activation::Identity).reshape([windows.batch(), 1, 1])
        }
    }

    /// Windows of one step that begin at -1, a quarter apart, and targets `slope` times as large.
    #[cfg(feature = "amp")]
    fn line(slope: f32) -> impl Fn(Range<usize>) -> Batch + Copy + Sync {
        move |range| {
            let n = range.len();
            let x: Vec<f32> = range.map(|i| i as f32 / 4.0 - 1.0).collect();
            let y: Vec<f32> = x.iter().map(|x| slope * x).collect();
            let column = |values: &[f32]| Tensor::from_slice(values, [n, 1]);
            Batch {
                windows: Windows {
                    insample_y: column(&x),
                    insample_mask: Tensor::full([n, 1], 1.0),
                    hist_exog: None,
                    futr_exog: None,
                    stat_exog: None,
                },
                target: column(&y),
                weights: Tensor::full([n, 1], 1.0),
                error_scale: Tensor::full([n], 1.0),
                loc: Tensor::zeros([n]),
                scale: Tensor::full([n], 1.0),
            }
        }
    }

    /// Two layers whose weights are multiplied.
    #[cfg(feature = "amp")]
    struct Pair(LinearPair);

    #[cfg(feature = "amp")]
    impl Model for Pair {
        fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
            let x = Var::constant(windows.insample_y.clone());
            self.0.forward(cx, vec![x], Activation::Identity).reshape([windows.batch(), 1, 1])
        }
    }

    /// A step with several shards may leave them behind, and one with a single shard neither writes nor clears their place.
    #[cfg(feature = "amp")]
    #[test]
    fn infinities_among_gradients_of_multiplied_weights_do_not_skip_a_step_of_one_shard() {
        const N: usize = 8;
        let mut table = Table::default();
        let network = Network::from(Pair(LinearPair::new(&mut table.root(), [0, 1], [1, 4, 1])));
        let loss = Loss::parse(&json!("MSE")).expect("a loss");
        let (params, workers) = (table.initialise(3), Workers::new(1).unwrap());
        let (len, all) = (params.table().arena_len(), params.table().gradients_len());
        assert!(all > len, "the weights are multiplied");
        let adam = Optimizer::new(len, Rule::default(), None);
        let mut engine =
            Engine::new(&network, params, adam, &loss, Key::new(0), &workers).precision(Precision::F16);
        let mut skipped = || {
            engine.shards.iter_mut().for_each(|shard| shard.gradients[len..].fill(f32::INFINITY));
            engine.step(N, N as f64, 0.01, line(0.5)).expect("a number");
            engine.scaler().expect("a scaler").skipped()
        };
        // The first scales may be too large for the gradients themselves.
        let counts: Vec<u64> = (0..30).map(|_| skipped()).collect();
        assert_eq!(counts[20], counts[29], "steps skipped: {counts:?}");
    }

    /// Two layers, of which the second adds to the output where the first window begins above -1 only.
    #[cfg(feature = "amp")]
    struct Sometimes([Linear; 2]);

    #[cfg(feature = "amp")]
    impl Model for Sometimes {
        fn forward(&self, cx: &Forward<'_>, windows: &Inputs) -> Var {
            let x = Var::constant(windows.insample_y.clone());
            let layers = if windows.insample_y.values()[0] > -1.0 { 2 } else { 1 };
            let parts: Vec<Var> =
                self.0[..layers].iter().map(|layer| layer.forward(cx, &x, Activation::Identity)).collect();
            let sum = parts.into_iter().reduce(|a, b| a + b).expect("a layer");
            sum.reshape([windows.batch(), 1, 1])
        }
    }

    #[cfg(feature = "amp")]
    #[test]
    fn a_loss_that_is_not_finite_leaves_no_gradient_of_an_earlier_step() {
        const N: usize = 8;
        let loss = Loss::parse(&json!("MSE")).expect("a loss");
        let workers = Workers::new(1).unwrap();
        let run = |with_nan: bool| {
            let mut table = Table::default();
            let layers = ["first", "second"].map(|name| Linear::new(&mut table.root().at(name), 1, 1));
            let network = Network::from(Sometimes(layers));
            let params = table.initialise(3);
            let adam = Optimizer::new(params.table().arena_len(), Rule::default(), None);
            let mut engine =
                Engine::new(&network, params, adam, &loss, Key::new(0), &workers).precision(Precision::F16);
            let both = |range: Range<usize>| line(0.5)(range.start + 1..range.end + 1);
            // Down to a scale that hides no gradient by dividing it once more.
            while engine.scaler().expect("a scaler").scale() > 4.0 {
                engine.step(N, N as f64, 0.01, line(f32::NAN)).expect("the scale is lowered");
            }
            // In the last of these the second layer got a gradient.
            for _ in 0..5 {
                engine.step(N, N as f64, 0.01, both).expect("a number");
            }
            if with_nan {
                let skipped = engine.scaler().expect("a scaler").skipped();
                assert!(
                    engine.step(N, N as f64, 0.01, line(f32::NAN)).expect("the scale is lowered").is_nan()
                );
                assert_eq!(engine.scaler().expect("a scaler").skipped(), skipped + 1);
            }
            engine.step(N, N as f64, 0.01, line(0.5)).expect("a number");
            engine.into_params().arena().to_vec()
        };
        let (with, without) = (run(true), run(false));
        for (with, without) in with.iter().zip(&without) {
            assert!((with - without).abs() < 1e-5, "{with} after a loss of NaN, {without} without");
        }
    }

    /// With errors of hundreds and the first scale, gradients are far above what half precision holds.
    #[cfg(feature = "amp")]
    #[test]
    fn training_in_f16_recovers_from_overflow_and_converges() {
        const N: usize = 8;
        const SLOPE: f32 = 300.0;
        let cut = line(SLOPE);
        let mut table = Table::default();
        let layer = Linear::without_bias(&mut table.root(), 1, 1);
        let network = Network::from(Slope(layer.clone()));
        let loss = Loss::parse(&json!("MSE")).expect("a loss");
        let (params, workers) = (table.initialise(3), Workers::new(1).unwrap());
        let adam = Optimizer::new(params.table().arena_len(), Rule::default(), None);
        let mut engine =
            Engine::new(&network, params, adam, &loss, Key::new(0), &workers).precision(Precision::F16);
        let before = engine.params().arena().to_vec();
        let first = engine.step(N, N as f64, 5.0, cut).expect("a number");
        assert_eq!(engine.params().arena(), before, "a step that is skipped changes nothing");
        assert_eq!(engine.scaler().map(|scaler| (scaler.scale(), scaler.skipped())), Some((32_768.0, 1)));
        let mut last = first;
        for _ in 0..300 {
            last = engine.step(N, N as f64, 5.0, cut).expect("a number");
        }
        let slope = engine.params().tensor(layer.weight()).item();
        assert!(last < 1e-4 * first && (slope - SLOPE).abs() < 1.0, "{first} to {last}, slope {slope}");
        let skipped = engine.scaler().expect("a scaler").skipped();
        assert!((2..16).contains(&skipped), "{skipped} steps were skipped");
    }

    #[test]
    fn coupled_windows_are_one_shard() {
        let needs = Needs { coupling: Coupling::Coupled, ..Needs::default() };
        assert!([1, 64, 5000].into_iter().all(|windows| shard_count(windows, needs) == 1));
    }

    #[test]
    fn shards_are_powers_of_two_that_are_worth_their_while() {
        let counts = |windows: &[usize], shard_windows| -> Vec<usize> {
            let needs = Needs { shard_windows, ..Needs::default() };
            windows.iter().map(|&windows| shard_count(windows, needs)).collect()
        };
        let batches = [1, 63, 64, 96, 127, 128, 191, 192, 256, 383, 384, 512, 767, 768, 1024, 5000];
        assert_eq!(counts(&batches, 48), [1, 1, 2, 2, 2, 2, 2, 4, 4, 4, 8, 8, 8, 16, 16, 16]);
        assert_eq!(counts(&batches, 128), [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 4, 4, 4, 8, 16]);
        assert_eq!(counts(&[1, 2, 4, 16], 1), [1, 2, 4, 16], "windows of many series");
    }

    #[test]
    fn shards_cover_the_batch_as_evenly_as_may_be() {
        for windows in 1..1100 {
            let count = shard_count(windows, Needs::default());
            let mut next = 0;
            for i in 0..count {
                let range = shard_range(windows, count, i);
                assert_eq!(range.start, next);
                assert!(range.len() == windows / count || range.len() == windows.div_ceil(count));
                next = range.end;
            }
            assert_eq!(next, windows);
        }
    }
}
