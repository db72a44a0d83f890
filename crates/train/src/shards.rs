//! One step of training: the batch in shards, their gradients in arenas, one pass of the optimiser.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use foretell_amp::{GradScaler, GradScalerConfig, Precision};
use foretell_batch::Batch;
use foretell_estimator::{OneProcess, Reduction, add_in_order};
use foretell_infer::window_work;
use foretell_nn::{
    Forward, Key, Loss, LossSums, Network, Params, RoundedWeights, Rounding, Table, Tensor, Var,
};
use foretell_optim::{Optimizer, Pace};
use foretell_pool::Buffer;
use foretell_simd::scale;
use foretell_threads::{Workers, share};

use crate::kept_optimizer::KeptOptimizer;
use crate::shard::{LossSizes, Shard, pieces, shard_count, shard_range};
use crate::state::{PARAMS, State};

/// The least work of a step for which waking the other threads pays, as [`window_work`] counts it.
const MIN_PARALLEL_WORK: usize = 1 << 21;

/// A model in training.
pub struct Engine<'a> {
    network: &'a Network,
    loss: &'a Loss,
    workers: &'a Workers,
    params: Params,
    optimizer: Optimizer,
    key: Key,
    /// Steps so far, of the trainings before too.
    step: u64,
    /// Steps of the trainings before this one, and of their optimiser.
    before: [u64; 2],
    shards: Vec<Shard>,
    /// The work of a step for each window of its batch: see [`MIN_PARALLEL_WORK`].
    window_work: usize,
    rounding: Rounding,
    low_memory: bool,
    /// In bfloat16: the weights of linear layers, packed anew in each step.
    step_weights: Option<RoundedWeights>,
    /// For training in `f16`, whose small gradients would become zero.
    scaler: Option<GradScaler>,
    reduction: &'a dyn Reduction,
    /// The gradients of the shards of all processes, summed, if there are several; else empty.
    summed: Buffer<f32>,
    /// The gradients of the parts of a step that were taken, of one with several; else empty.
    accumulated: Buffer<f32>,
}

/// A part of a step: windows that are taken by themselves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BatchPart {
    /// How many windows.
    pub windows: usize,
    /// The sum of the weights of all their steps.
    pub total: f64,
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
        Self {
            network,
            loss,
            workers,
            window_work: window_work(&params, 0),
            params,
            optimizer,
            key,
            step: 0,
            before: [0; 2],
            shards: Vec::new(),
            rounding: Rounding::None,
            low_memory: false,
            step_weights: None,
            scaler: None,
            reduction: &OneProcess,
            summed: Buffer::zeroed(0),
            accumulated: Buffer::zeroed(0),
        }
    }

    /// That a step keeps about this many numbers of a window between its two passes: with the number of parameters it says whether a
    /// batch is worth waking the other threads. No bit depends on it.
    pub fn kept(self, numbers: usize) -> Self {
        Self { window_work: window_work(&self.params, numbers), ..self }
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

    /// Whether a step trades time for memory: [`TrainConfig::step`](crate::TrainConfig::step) says how.
    pub fn low_memory(self, low_memory: bool) -> Self {
        Self { low_memory, ..self }
    }

    /// The scale of the loss, of a training in `f16`.
    pub fn scaler(&self) -> Option<&GradScaler> {
        self.scaler.as_ref()
    }

    /// Continues with the optimiser of an earlier training, and with its draws.
    ///
    /// # Panics
    /// If an array is missing from it, or it is of another model.
    #[track_caller]
    pub(crate) fn resume_optimizer(&mut self, kept: &KeptOptimizer) {
        let state = |name: &str| kept.state(name).unwrap_or_else(|| panic!("an optimiser without {name}"));
        self.optimizer.restore(kept.updates, state);
        (self.step, self.before) = (kept.steps, [kept.steps, kept.updates]);
        if let (Some(own), Some(scaler)) = (&mut self.scaler, &kept.scaler) {
            *own = scaler.of_next_training();
        }
    }

    /// The optimiser as it is now, for another training.
    pub(crate) fn keep_optimizer(&self) -> KeptOptimizer {
        let states = self.optimizer.states().map(|(name, values)| (name.to_owned(), values.to_vec()));
        KeptOptimizer {
            steps: self.step,
            updates: self.optimizer.steps(),
            states: states.collect(),
            scaler: self.scaler.clone(),
        }
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
        let [steps, updates] = self.before;
        self.optimizer.restore(updates + state.step - skipped, arena);
        self.step = steps + state.step;
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
        self.step_in_parts(&[BatchPart { windows, total }], pace, |_, range| cut(range))
    }

    /// Takes one step along the mean of the gradients of several batches, one after the other in the memory of one, and returns the
    /// mean of their losses. Each counts by the sum of its weights, so that a loss that is a mean is that of all together. `cut` makes the windows of a range of the part of this place; else as [`Engine::step`].
    ///
    /// # Errors
    /// As [`Engine::step`]; the windows of [`NotFinite`] are counted over all parts.
    pub(crate) fn step_in_parts(
        &mut self,
        parts: &[BatchPart],
        pace: impl Into<Pace>,
        cut: impl Fn(usize, Range<usize>) -> Batch + Sync,
    ) -> Result<f64, NotFinite> {
        let all: f64 = parts.iter().map(|part| part.total).sum();
        let (mut mean, mut finite, mut before, mut own) = (0.0, true, 0, 0);
        for (place, &part) in parts.iter().enumerate() {
            let share = if all == 0.0 { 1.0 } else { part.total / all };
            let division = self.divide(part.windows);
            let products = self.multiply_weights(&division);
            self.run_shards(&division, &products, (part.total, place), |range| cut(place, range));
            let sums = match self.sum_losses(&division) {
                Ok(sums) => sums,
                Err(fault) => {
                    let windows = before + fault.windows.start..before + fault.windows.end;
                    return self.skip(&division, NotFinite { windows, ..fault });
                }
            };
            // What a loss is follows from the sums over the whole batch, so its slope is known only now.
            let (value, slope) = self.loss.value_and_slope(sums);
            self.complete_gradients(&division, &products, slope * share);
            // They hold views of the parameters, which are about to change.
            drop(products);
            finite &= self.unscale_gradients(&division);
            mean += value * share;
            (before, own) = (before + part.windows, division.own.len());
            if parts.len() > 1 {
                self.accumulate(own, place == 0);
            }
        }
        if self.scaler.as_mut().is_none_or(|scaler| scaler.update(!finite)) {
            self.change_params(own, parts.len() > 1, pace.into());
        }
        self.step += 1;
        Ok(mean)
    }

    /// Divides a batch, and makes the shards that are missing.
    fn divide(&mut self, windows: usize) -> Division {
        let count = shard_count(windows, self.network.needs, self.low_memory);
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
        (total, place): (f64, usize),
        cut: impl Fn(Range<usize>) -> Batch + Sync,
    ) {
        let &Division { windows, count, ref own, threads, .. } = division;
        let Self { network, loss, workers, ref params, key, step, rounding, low_memory, .. } = *self;
        let values: Vec<Tensor> = products.iter().map(|product| product.value().contiguous()).collect();
        let (step_weights, values) = (self.step_weights.as_ref(), &values[..]);
        let loss_scale = self.scaler.as_ref().map_or(1.0, GradScaler::scale);
        // Threads without a shard of their own share the work of those that have one.
        let inner = (threads / own.len().max(1)).max(1);
        workers.each(&mut self.shards[..own.len()], division.spread, |i, shard| {
            let i = own.start + i;
            let range = shard_range(windows, count, i);
            let key = key.fold(step).fold(((place as u64) << 32) | i as u64);
            for (number, piece) in pieces(range, network.needs, low_memory).enumerate() {
                let batch = cut(piece.clone());
                let key = if number == 0 { key } else { key.fold(number as u64) };
                let cx = match count {
                    1 => Forward::training(params, key),
                    _ => Forward::part(params, key, values),
                };
                let cx = cx.rounding(rounding);
                let cx = if low_memory { cx.in_little_memory() } else { cx };
                let cx = match step_weights {
                    Some(weights) => cx.in_step(weights),
                    None => cx,
                };
                let rows_of_all = batch.windows.batch() * windows / piece.len().max(1);
                let sizes = LossSizes { total, loss_scale, rows_of_all };
                share(inner, || shard.run(cx, (network, loss), &batch, sizes, number == 0));
            }
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

    /// Takes the scale of the loss, if it has one, off the gradients of a part; whether those of all processes are finite numbers.
    fn unscale_gradients(&mut self, division: &Division) -> bool {
        let Some(scaler) = &self.scaler else { return true };
        let shards = &mut self.shards[..division.own.len()];
        // Those of multiplied weights, behind, are written where there are several shards, and else stale.
        let len = self.params.table().arena_len();
        let finite = share(division.threads, || {
            shards.iter_mut().all(|shard| scaler.unscale(&mut shard.gradients[..len]))
        });
        self.reduction.gather(vec![f64::from(finite)]).iter().all(|&finite| finite == 1.0)
    }

    /// Adds the gradients of the first `own` shards and of those of other processes to those of the parts before, if it is not the
    /// first, and applies their updates of running state, on which the next part builds.
    fn accumulate(&mut self, own: usize, is_first: bool) {
        let Self { params, reduction, summed, accumulated, .. } = self;
        let len = params.table().arena_len();
        if accumulated.len() != len {
            *accumulated = Buffer::zeroed(len);
        }
        let gradients: Vec<&[f32]> = self.shards[..own].iter().map(|shard| &shard.gradients[..len]).collect();
        if reduction.processes() == 1 {
            add_in_order(&gradients, !is_first, accumulated);
        } else {
            reduction.sum(&gradients, summed);
            add_in_order(&[&**summed], !is_first, accumulated);
        }
        self.apply_updates(own);
    }

    /// Takes the optimiser's step along the gradients of the first `own` shards and of those of other processes, and applies their
    /// updates of running state; or along the accumulated ones of a step in parts, which have done so.
    fn change_params(&mut self, own: usize, in_parts: bool, pace: Pace) {
        let Self { workers, params, optimizer, reduction, summed, accumulated, .. } = self;
        let threads = workers.threads();
        if in_parts {
            return share(threads, || optimizer.step(params.arena_mut(), &[&**accumulated], pace));
        }
        let len = params.table().arena_len();
        let gradients: Vec<&[f32]> = self.shards[..own].iter().map(|shard| &shard.gradients[..len]).collect();
        if reduction.processes() == 1 {
            share(threads, || optimizer.step(params.arena_mut(), &gradients, pace));
        } else {
            reduction.sum(&gradients, summed);
            share(threads, || optimizer.step(params.arena_mut(), &[&**summed], pace));
        }
        self.apply_updates(own);
    }

    /// Changes the parameters after a step, on the threads of the training.
    pub(crate) fn change_params_by(&mut self, change: impl FnOnce(&mut [f32])) {
        share(self.workers.threads(), || change(self.params.arena_mut()));
    }

    /// Applies the updates of running state of the first `own` shards and of those of other processes.
    fn apply_updates(&mut self, own: usize) {
        let Self { params, reduction, .. } = self;
        let shards = &mut self.shards[..own];
        if reduction.processes() == 1 {
            return shards.iter_mut().for_each(|shard| params.apply(shard.updates.drain(..)));
        }
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
        other => unreachable!("no product is rounded to {other}"),
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

#[cfg(test)]
#[path = "shards_tests.rs"]
mod tests;
