//! One step of training: the batch in shards, their gradients in arenas, one pass of the optimiser.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use foretell_amp::{GradScaler, GradScalerConfig, Precision};
use foretell_batch::Batch;
use foretell_estimator::{OneProcess, Reduction};
use foretell_nn::{
    Coupling, Forward, Key, Loss, LossSums, Needs, Network, Params, RoundedWeights, Rounding, Table, Tensor,
    Update, Var,
};
use foretell_optim::{Optimizer, Pace};
use foretell_pool::Buffer;
use foretell_simd::scale;
use foretell_threads::{Workers, share};

use crate::state::{PARAMS, State};

/// The most shards: more arenas cost more memory than more threads would win back.
const MAX_SHARDS: usize = 16;

/// The least work of a step, in multiplications, for which waking the other threads pays: each window is multiplied
/// by each parameter once, and its saved activations are written and read in a few passes.
const MIN_PARALLEL_WORK: usize = 1 << 21;

/// The cost of the passes over a number that a step keeps between forward and backward pass, in multiplications.
const KEPT_COST: usize = 8;

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
    reduction: &'a dyn Reduction,
    /// The gradients of the shards of all processes, summed, if there are several; else empty.
    summed: Buffer<f32>,
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
    sums: LossSums,
    /// The updates of the last step to state that no gradient changes.
    updates: Vec<Update>,
}

impl Shard {
    /// Runs the batch forwards and backwards.
    fn run(
        &mut self,
        cx: Forward<'_>,
        (network, loss): (&Network, &Loss),
        batch: &Batch,
        LossSizes { total, loss_scale, rows_of_all }: LossSizes,
    ) {
        let output = network.model.forward(&cx, &batch.windows.inputs());
        let mut mean = loss.mean(&output, batch.truth(), total);
        drop(output);
        if let Some(added) = cx.added_loss(batch.windows.batch(), rows_of_all) {
            mean = mean.add(&added.reshape(mean.shape()));
        }
        self.sums = loss.part(mean.value().item().into(), batch.truth(), total);
        std::mem::swap(&mut self.written, &mut self.stale);
        self.written.clear();
        let seed = Tensor::full(mean.shape(), loss_scale);
        mean.backward_overwriting(seed, &mut self.gradients, &mut self.written);
        self.updates = cx.into_updates();
    }

    /// Sets the gradients of parameters to zero that got one in the step before but none in this step.
    fn clear_unwritten(&mut self, table: &Table) {
        let Self { gradients, written, stale, .. } = self;
        for entry in table.trained() {
            if stale.contains(&entry.offset) && !written.contains(&entry.offset) {
                gradients[entry.offset..entry.offset + entry.shape.numel()].fill(0.0);
            }
        }
    }
}

/// The divisor and the first derivative of a shard's loss, which depend on the whole batch.
#[derive(Clone, Copy)]
struct LossSizes {
    /// The sum of the weights of the whole batch.
    total: f64,
    /// The derivative that the backward pass starts from.
    loss_scale: f32,
    /// Rows of the whole batch, if it had as many for each window as the shard has.
    rows_of_all: usize,
}

/// How the batch of a step is divided.
struct Division {
    /// Windows of the batch.
    windows: usize,
    /// Shards of the batch.
    count: usize,
    /// The shards that this process runs.
    own: Range<usize>,
    /// Whether it is worth waking the other threads.
    spread: bool,
    /// Threads that work on them.
    threads: usize,
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
        let window_work = params.table().numel();
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
            reduction: &OneProcess,
            summed: Buffer::zeroed(0),
        }
    }

    /// That a step keeps about so many numbers of a window between its two passes: with the number of parameters it says whether a
    /// batch is worth waking the other threads. No bit depends on it.
    pub fn kept(self, numbers: usize) -> Self {
        let passes = numbers.saturating_mul(KEPT_COST);
        Self { window_work: self.params.table().numel().saturating_add(passes), ..self }
    }

    /// Trains together with other processes, by default [`OneProcess`] alone. All of them begin with the same parameters, optimiser
    /// and key and take the same steps on the same batches; each runs its own shards. Their parameters stay the same, to the last
    /// bit those of one process.
    pub fn reduction(self, reduction: &'a dyn Reduction) -> Self {
        let several = reduction.processes() > 1;
        let summed = Buffer::zeroed(if several { self.params.table().arena_len() } else { 0 });
        Self { reduction, summed, ..self }
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
    /// weights of all their steps; `cut` makes the windows of a range and may run on any thread. With several processes all of this
    /// is of the batch of all of them, and `cut` is called for the windows of this one's shards.
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
        let division = self.divide(windows);
        let products = self.multiply_weights(&division);
        self.run_shards(&division, &products, total, cut);
        let sums = match self.sum_losses(&division) {
            Ok(sums) => sums,
            Err(fault) => return self.skip(&division, fault),
        };
        // What a loss is follows from the sums over the whole batch, so its slope is known only now.
        let (value, slope) = self.loss.value_and_slope(sums);
        self.complete_gradients(&division, &products, slope);
        // They hold views of the parameters, which are about to change.
        drop(products);
        if self.unscale_gradients(&division) {
            self.change_params(division.own.len(), pace.into());
        }
        self.step += 1;
        Ok(value)
    }

    /// Divides a batch, and makes the shards that are missing.
    fn divide(&mut self, windows: usize) -> Division {
        let count = shard_count(windows, self.network.needs);
        let own = shard_range(count, self.reduction.processes(), self.reduction.rank());
        let len = self.params.table().gradients_len();
        while self.shards.len() < own.len() {
            self.shards.push(Shard {
                gradients: Buffer::zeroed(len),
                written: HashSet::new(),
                stale: HashSet::new(),
                sums: LossSums::default(),
                updates: Vec::new(),
            });
        }
        let spread = self.window_work.saturating_mul(windows) >= MIN_PARALLEL_WORK;
        Division { windows, count, own, spread, threads: if spread { self.workers.threads() } else { 1 } }
    }

    /// The products of weights with each other, which all shards share if there are several; in bfloat16 it rounds and packs the
    /// other weights, too.
    fn multiply_weights(&mut self, division: &Division) -> Vec<Var> {
        let params = &self.params;
        let shared = if division.count == 1 { &[] } else { params.table().multiplied() };
        let cx = Forward::training(params, self.key.fold(self.step)).rounding(self.rounding);
        let products =
            share(division.threads, || shared.iter().map(|multiplied| multiplied.compute(&cx)).collect());
        if let Some(weights) = &mut self.step_weights {
            share(division.threads, || weights.pack(params));
        }
        products
    }

    /// Runs the shards of this process forwards and backwards.
    fn run_shards(
        &mut self,
        division: &Division,
        products: &[Var],
        total: f64,
        cut: impl Fn(Range<usize>) -> Batch + Sync,
    ) {
        let &Division { windows, count, ref own, threads, .. } = division;
        let Self { network, loss, workers, ref params, key, step, rounding, .. } = *self;
        let values: Vec<Tensor> = products.iter().map(|product| product.value().contiguous()).collect();
        let (step_weights, values) = (self.step_weights.as_ref(), &values[..]);
        let loss_scale = self.scaler.as_ref().map_or(1.0, GradScaler::scale);
        // Threads without a shard of their own share the work of those that have one.
        let inner = (threads / own.len().max(1)).max(1);
        workers.each(&mut self.shards[..own.len()], division.spread, |i, shard| {
            let i = own.start + i;
            let range = shard_range(windows, count, i);
            let batch = cut(range.clone());
            let key = key.fold(step).fold(i as u64);
            let cx = match count {
                1 => Forward::training(params, key),
                _ => Forward::part(params, key, values),
            };
            let cx = cx.rounding(rounding);
            let cx = match step_weights {
                Some(weights) => cx.in_step(weights),
                None => cx,
            };
            let rows_of_all = batch.windows.batch() * windows / range.len().max(1);
            let sizes = LossSizes { total, loss_scale, rows_of_all };
            share(inner, || shard.run(cx, (network, loss), &batch, sizes));
        });
        if let Some(weights) = &mut self.step_weights {
            weights.forget();
        }
    }

    /// The sums of the loss over the shards of all processes.
    fn sum_losses(&self, division: &Division) -> Result<LossSums, NotFinite> {
        let shards = &self.shards[..division.own.len()];
        let of_shards =
            self.reduction.gather(shards.iter().flat_map(|shard| shard.sums.to_array()).collect());
        let mut sums = LossSums::default();
        for (shard, of_shard) in of_shards.as_chunks().0.iter().enumerate() {
            sums += LossSums::from_array(*of_shard);
            let loss = sums.sum();
            if !loss.is_finite() {
                let windows = shard_range(division.windows, division.count, shard);
                return Err(NotFinite { loss, shard, windows });
            }
        }
        Ok(sums)
    }

    /// Ends a step whose loss is no finite number: with a lower scale, where there is one that can be lowered.
    fn skip(&mut self, division: &Division, fault: NotFinite) -> Result<f64, NotFinite> {
        // The next step no longer knows which gradients this one should have cleared.
        let table = self.params.table();
        self.shards[..division.own.len()].iter_mut().for_each(|shard| shard.clear_unwritten(table));
        let Some(scaler) = self.scaler.as_mut().filter(|scaler| scaler.scale() > 1.0) else {
            return Err(fault);
        };
        scaler.update(true);
        self.step += 1;
        Ok(fault.loss)
    }

    /// Completes the gradients after the backward passes of the shards: adds those behind products of weights, writes zeros
    /// where a parameter received none, and multiplies all by `slope`, the derivative of the loss by the mean.
    fn complete_gradients(&mut self, division: &Division, products: &[Var], slope: f64) {
        let table = self.params.table();
        let shards = &mut self.shards[..division.own.len()];
        let has_first = division.own.start == 0;
        share(division.threads, || backpropagate_derived(products, table, shards, has_first, self.reduction));
        for shard in shards {
            shard.clear_unwritten(table);
            if slope != 1.0 {
                scale(&mut shard.gradients, slope as f32);
            }
        }
    }

    /// Takes the scale of the loss, if it has one, off the gradients; whether those of all processes are finite numbers.
    fn unscale_gradients(&mut self, division: &Division) -> bool {
        let Some(scaler) = &mut self.scaler else { return true };
        let shards = &mut self.shards[..division.own.len()];
        // Those of multiplied weights, behind, are written where there are several shards, and else stale.
        let len = self.params.table().arena_len();
        let finite = share(division.threads, || {
            shards.iter_mut().all(|shard| scaler.unscale(&mut shard.gradients[..len]))
        });
        let finite = self.reduction.gather(vec![f64::from(finite)]).iter().all(|&finite| finite == 1.0);
        scaler.update(!finite)
    }

    /// Takes the optimiser's step along the gradients of the first `own` shards and of those of other processes, and applies their
    /// updates of running state.
    fn change_params(&mut self, own: usize, pace: Pace) {
        let Self { workers, params, optimizer, reduction, summed, .. } = self;
        let (shards, threads) = (&mut self.shards[..own], workers.threads());
        let len = params.table().arena_len();
        let gradients: Vec<&[f32]> = shards.iter().map(|shard| &shard.gradients[..len]).collect();
        if reduction.processes() == 1 {
            share(threads, || optimizer.step(params.arena_mut(), &gradients, pace));
            shards.iter_mut().for_each(|shard| params.apply(shard.updates.drain(..)));
            return;
        }
        reduction.sum(&gradients, summed);
        share(threads, || optimizer.step(params.arena_mut(), &[&**summed], pace));
        let mut updates = Vec::new();
        shards.iter().flat_map(|shard| &shard.updates).for_each(|update| update.write(&mut updates));
        let updates = params.table().read_updates(&reduction.gather(updates));
        params.apply(updates);
    }
}

/// The rounding of products in this precision.
pub fn rounding_of(precision: Precision) -> Rounding {
    match precision {
        Precision::F32 => Rounding::None,
        Precision::Bf16 => Rounding::Bf16,
        Precision::F16 => Rounding::F16,
    }
}

/// Adds up the gradients of the multiplied weights over the shards of all processes and passes them on to the parameters that
/// were multiplied, as part of the gradient of the batch's first shard, where that is among these.
fn backpropagate_derived(
    products: &[Var],
    table: &Table,
    shards: &mut [Shard],
    has_first: bool,
    reduction: &dyn Reduction,
) {
    for (var, entry) in products.iter().zip(table.multiplied()) {
        let range = table.multiplied_range(entry);
        let with_gradient = shards.iter().filter(|shard| shard.written.contains(&range.start));
        let with_gradient: Vec<&[f32]> = with_gradient.map(|shard| &shard.gradients[range.clone()]).collect();
        let mut any = false;
        let sum = Tensor::build(entry.shape(), |sum| any = reduction.sum(&with_gradient, sum));
        if let Some(Shard { gradients, written, .. }) = shards.first_mut().filter(|_| any && has_first) {
            var.backward_overwriting(sum, gradients, written);
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
#[path = "shards_tests.rs"]
mod tests;
