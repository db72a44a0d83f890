//! Forecasts of many windows, and the validation loss.

use std::fmt;

use foretell_batch::{Batch, Cut};
use foretell_data::{Cutter, Stats, WindowRef, WindowScaler};
use foretell_nn::{Dims, DistributionColumns, Forward, Key, Loss, LossSums, Network, Params, Tensor};
use foretell_threads::Workers;

use crate::ancestral::{Sampling, Window, window_key};
use crate::stepwise::{forecast, mean_of_outputs};

/// The most rows that one thread runs at a time: enough for products of matrices at their best rate, few
/// enough that their activations stay in the cache.
pub const MAX_BLOCK: usize = 128;

/// The most numbers of the windows that one thread runs at a time, unless a single window has more.
const BLOCK_NUMBERS: usize = 1 << 22;

/// The most numbers that a model computes from the windows that one thread runs at a time, likewise.
const MAX_BLOCK_ACTIVATIONS: usize = 1 << 28;

/// How many windows of these sizes one thread runs at a time, for a model that computes `kept` numbers from each: a power of two,
/// so that [`MAX_BLOCK`] neighbouring series are the same blocks among others as alone.
pub fn block_windows(dims: &Dims, kept: usize) -> usize {
    let [by_inputs, by_activations] = [(BLOCK_NUMBERS, window_numbers(dims)), (MAX_BLOCK_ACTIVATIONS, kept)]
        .map(|(all, one)| all / one.max(1));
    1 << by_inputs.min(by_activations).clamp(1, (MAX_BLOCK / dims.n_series).max(1)).ilog2()
}

/// The least parameters with which the products of a single block of windows share the threads: with fewer, entering
/// the pool of threads takes longer than it saves.
const WORTH_SHARING: usize = 1 << 16;

/// Runs `forecast`, for forecasts too few to give each thread a block of windows of its own: its products and
/// recurrent layers share the `workers` if the model has enough parameters. No bit depends on it.
pub fn share_forecast<R: Send>(workers: &Workers, params: &Params, forecast: impl FnOnce() -> R + Send) -> R {
    if params.table().total_len() < WORTH_SHARING || workers.threads() == 1 {
        return forecast();
    }
    workers.enter(|| foretell_threads::share(workers.threads(), forecast))
}

/// The least work of the forecasts of several blocks of windows for which waking the other threads pays, as [`window_work`] counts it.
const WORTH_WAKING: usize = 1 << 23;

/// The cost of the passes over a number that a model computes from a window, in multiplications.
const KEPT_COST: usize = 8;

/// About the work of a window, in multiplications, by a model that would keep this many numbers of it for a backward pass: it is multiplied by
/// each parameter once, and its activations are written and read in a few passes.
pub fn window_work(params: &Params, kept: usize) -> usize {
    params.table().numel().saturating_add(kept.saturating_mul(KEPT_COST))
}

/// The numbers of a window of these sizes, of its inputs, target and forecast, of all its series.
pub fn window_numbers(dims: &Dims) -> usize {
    let Dims { input_size, horizon, hist_exog, futr_exog, stat_exog, outputs, n_series, .. } = *dims;
    let history = input_size.saturating_mul(2 + hist_exog);
    let known = input_size.saturating_add(horizon).saturating_mul(futr_exog);
    let ahead = horizon.saturating_mul(3 + outputs);
    let row = [known, ahead, stat_exog].into_iter().fold(history, usize::saturating_add);
    row.saturating_mul(n_series)
}

/// How windows are put into the batches that a validation loss is a mean over.
#[derive(Clone, Copy, Debug)]
pub struct BatchSizes {
    /// Series of a batch (neuralforecast's `valid_batch_size`).
    pub series: usize,
    /// Windows of a batch, where those of its series are more (`inference_windows_batch_size`); all where it is `None`.
    pub windows: Option<usize>,
}

/// A trained model with the settings of its forecasts.
#[derive(Clone, Copy)]
pub struct Forecasts<'a> {
    /// The model.
    pub network: &'a Network,
    /// Its parameters.
    pub params: &'a Params,
    /// How its windows are cut.
    pub cut: Cut<'a>,
    /// The seed of the random numbers of forecasts that draw some.
    pub random_seed: u64,
    /// The threads to use.
    pub workers: &'a Workers,
    /// About how many numbers the model would keep of a window for a backward pass: blocks of windows go by it.
    pub kept: usize,
}

/// The number folded into the seed for the randomness of forecasts.
const FORECASTS: u64 = 4;

/// The key that all random numbers of forecasts are derived from.
pub fn key(random_seed: u64) -> Key {
    Key::new(random_seed).fold(FORECASTS)
}

impl fmt::Debug for Forecasts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Forecasts");
        shown.field("params", &self.params).field("dims", &self.cut.dims).finish_non_exhaustive()
    }
}

impl Forecasts<'_> {
    /// The forecasts of whole windows on the data's scale, `[rows, horizon, columns of the loss]`.
    pub fn of(&self, cutter: &Cutter<'_>, windows: &[WindowRef]) -> Vec<f32> {
        let columns = self.cut.loss.columns();
        let per_window = self.cut.dims.horizon * self.columns_per_step(&columns);
        let mut values = vec![0.0; windows.len() * per_window];
        let block = match self.network.needs.forecasts_alone {
            // No bit depends on which of them are made together.
            true => self.rows_at_a_time().min(self.rows_each(windows.len())),
            false => self.rows_at_a_time(),
        };
        let mut blocks: Vec<_> = values.chunks_mut(block * per_window).zip(windows.chunks(block)).collect();
        let run = |values: &mut [f32], windows: &[WindowRef]| {
            let batch = self.cut.batch(cutter, windows);
            match self.network.needs.decoding.paths() {
                Some(paths) => self.sample(cutter, windows, &batch, paths, &columns, values),
                None => self.write_forecasts(cutter, &batch, Some(&columns), values),
            }
        };
        match &mut blocks[..] {
            [(values, windows)] => share_forecast(self.workers, self.params, || run(values, windows)),
            _ => {
                let spread = self.is_worth_waking(windows.len());
                self.workers.each(&mut blocks, spread, |_, (values, windows)| run(values, windows));
            }
        }
        values
    }

    /// Whether forecasts of this many rows of windows are worth waking the other threads for. No bit depends on it.
    fn is_worth_waking(&self, rows: usize) -> bool {
        let windows = rows / self.cut.dims.n_series.max(1);
        let paths = self.network.needs.decoding.paths().unwrap_or(1).max(1);
        let work = window_work(self.params, self.kept).saturating_mul(windows).saturating_mul(paths);
        work >= WORTH_WAKING
    }

    /// Rows of the whole windows that one thread runs at a time.
    pub(crate) fn rows_at_a_time(&self) -> usize {
        let Dims { n_series, .. } = self.cut.dims;
        block_windows(&self.cut.dims, self.kept) * n_series
    }

    /// Rows of whole windows for each thread.
    fn rows_each(&self, rows: usize) -> usize {
        let n_series = self.cut.dims.n_series.max(1);
        (rows / n_series).div_ceil(self.workers.threads()).max(1) * n_series
    }

    /// How many columns a forecast has.
    fn columns_per_step(&self, columns: &DistributionColumns) -> usize {
        let of_outputs = self.cut.loss.is_distribution() || self.cut.loss.implicit().is_some();
        if of_outputs { columns.count() } else { self.cut.dims.outputs }
    }

    /// The key that all random numbers of forecasts are derived from.
    pub(crate) fn key(&self) -> Key {
        key(self.random_seed)
    }

    /// Shift and scale that bring a model's outputs to the scale of the data, for a window scaled by `stats`.
    pub(crate) fn output_scaling(&self, stats: Stats) -> Stats {
        self.params.revin().map_or(stats, |affine| stats.corrected(affine))
    }

    /// Writes the forecasts of the windows by sample paths.
    fn sample(
        &self,
        cutter: &Cutter<'_>,
        windows: &[WindowRef],
        batch: &Batch,
        paths: usize,
        columns: &DistributionColumns,
        values: &mut [f32],
    ) {
        let each = self.sampled_windows(cutter, windows, batch, self.key());
        let cx = Forward::inference(self.params).with_key(self.key());
        self.sampling(cutter, paths).forecast(&cx, &batch.windows, &each, columns, values);
    }

    /// Sample paths of whole windows of a model that forecasts distributions step by step, on the data's scale, `[rows, paths,
    /// horizon]`. `seed` and the model's own decide the draws.
    ///
    /// # Panics
    /// If the model does not forecast step by step, or its loss is of no distribution.
    #[track_caller]
    pub fn paths(&self, cutter: &Cutter<'_>, windows: &[WindowRef], paths: usize, seed: u64) -> Vec<f32> {
        assert!(self.cut.step_by_step && self.cut.loss.is_distribution(), "a model without sample paths");
        let per_window = self.cut.dims.horizon * paths;
        let mut values = vec![0.0; windows.len() * per_window];
        let block = self.rows_at_a_time();
        let mut blocks: Vec<_> = values.chunks_mut(block * per_window).zip(windows.chunks(block)).collect();
        self.workers.each(&mut blocks, true, |_, (values, windows)| {
            let batch = self.cut.batch(cutter, windows);
            let each = self.sampled_windows(cutter, windows, &batch, self.key().fold(seed));
            let cx = Forward::inference(self.params).with_key(self.key());
            self.sampling(cutter, paths).paths(&cx, &batch.windows, &each, values);
        });
        values
    }

    /// The settings of this many sample paths of each window.
    fn sampling(&self, cutter: &Cutter<'_>, paths: usize) -> Sampling<'_> {
        let (horizon, scaler) = (self.cut.dims.horizon, cutter.scaler());
        Sampling { model: &*self.network.model, loss: self.cut.loss, scaler, horizon, paths }
    }

    /// The scalings of windows, and the keys of their draws.
    fn sampled_windows(
        &self,
        cutter: &Cutter<'_>,
        windows: &[WindowRef],
        batch: &Batch,
        key: Key,
    ) -> Vec<Window> {
        let stats = batch.loc.values().iter().zip(batch.scale.values());
        let window = |((&loc, &scale), &window): ((&f32, &f32), &WindowRef)| {
            let input_scaling = Stats { loc, scale };
            let output_scaling = self.output_scaling(input_scaling);
            Window { key: window_key(key, cutter, window), input_scaling, output_scaling }
        };
        stats.zip(windows).map(window).collect()
    }

    /// Writes the forecasts of the windows on the data's scale; without columns the outputs of the model.
    fn write_forecasts(
        &self,
        cutter: &Cutter<'_>,
        batch: &Batch,
        columns: Option<&DistributionColumns>,
        values: &mut [f32],
    ) {
        let (loss, steps) = (self.cut.loss, self.cut.dims.horizon);
        let scaler = cutter.scaler();
        let is_implicit = loss.implicit().is_some();
        let fed_back = |last: &Tensor| match loss.is_distribution() {
            true => self.scaled_means(cutter.scaler(), last, batch),
            false if is_implicit => last.narrow(2, last.shape()[2] - 1, 1).reshape([last.shape()[0], 1]),
            false => mean_of_outputs(last),
        };
        // The median last: a model that forecasts step by step reads it, whichever quantiles are asked for.
        let quantiles: Vec<f32> =
            columns.iter().flat_map(|columns| columns.quantiles()).chain([0.5]).collect();
        let cx = Forward::inference(self.params).with_key(self.key()).at_quantiles(&quantiles);
        let output = forecast(self.network, &cx, &batch.windows, steps, &fed_back);
        let Some(columns) = columns else { return values.copy_from_slice(output.values()) };
        let rows = values
            .chunks_exact_mut(steps * self.columns_per_step(columns))
            .zip(output.values().chunks_exact(steps * output.shape()[2]));
        for ((row, output), (&loc, &scale)) in rows.zip(batch.loc.values().iter().zip(batch.scale.values())) {
            let stats = self.output_scaling(Stats { loc, scale });
            if loss.is_distribution() {
                loss.forecast(columns, output, stats.loc, stats.scale, row);
            } else if is_implicit {
                let of_steps = row.chunks_exact_mut(quantiles.len() - 1);
                for (row, output) in of_steps.zip(output.chunks_exact(quantiles.len())) {
                    row.copy_from_slice(&output[..row.len()]);
                }
                scaler.inverse(stats, row);
            } else {
                row.copy_from_slice(output);
                scaler.inverse(stats, row);
            }
        }
    }

    /// The losses on the data's scale of batches of windows, which together are all windows of `valid`: of each batch the loss times
    /// its windows, and its windows. As neuralforecast reports it, the loss is the sum of the former divided by that of the latter.
    /// Batches are numbered, and those that `runs` leaves out are zeros.
    pub fn batch_losses(
        &self,
        valid: &Cutter<'_>,
        loss: &Loss,
        sizes: BatchSizes,
        runs: impl Fn(usize) -> bool,
    ) -> Vec<[f64; 2]> {
        let loss = &loss.of_validation();
        let mut losses = Vec::new();
        let rows_per_window = valid.rows_per_window();
        let series = valid.series_with_windows();
        // A window of all series is in one batch, whatever `BatchSizes::series` says.
        let batches = match rows_per_window {
            1 => series.chunks(sizes.series),
            _ => series.chunks(series.len().max(1)),
        };
        for series in batches {
            let windows: Vec<WindowRef> = match rows_per_window {
                1 => series.iter().flat_map(|&series| valid.all(series as usize)).collect(),
                _ => valid.rows(),
            };
            let size = sizes.windows.map_or(windows.len(), |size| size * rows_per_window);
            for windows in windows.chunks(size) {
                let count = windows.len() as f64;
                losses.push(match runs(losses.len()) {
                    true => [self.batch_loss(valid, windows, loss) * count, count],
                    false => [0.0; 2],
                });
            }
        }
        losses
    }

    /// The loss of one batch of windows.
    fn batch_loss(&self, valid: &Cutter<'_>, windows: &[WindowRef], loss: &Loss) -> f64 {
        // Likelihoods are computed from the model's outputs.
        let columns = (!loss.is_distribution()).then(|| loss.columns());
        let per_step =
            columns.as_ref().map_or(self.cut.dims.outputs, |columns| self.columns_per_step(columns));
        // Weights and error scales are those of the validation loss.
        let cut = Cut { loss, ..self.cut };
        let block = self.rows_at_a_time();
        let mut blocks: Vec<_> =
            windows.chunks(block).map(|windows| (windows, (LossSums::default(), 0.0))).collect();
        self.workers.each(&mut blocks, self.is_worth_waking(windows.len()), |_, (windows, sums)| {
            let batch = cut.batch_of_data(valid, windows);
            let mut values = vec![0.0; windows.len() * self.cut.dims.horizon * per_step];
            self.write_forecasts(valid, &batch, columns.as_ref(), &mut values);
            let truth = batch.truth();
            let total = truth.weights.iter().map(|&weight| f64::from(weight)).sum();
            *sums = (loss.sums(&values, truth), total);
        });
        let (mut sums, mut total) = (LossSums::default(), 0.0);
        for (_, (part, weight)) in blocks {
            sums += part;
            total += weight;
        }
        loss.value_and_slope(sums.divided_by(total)).0
    }

    /// The means of the distributions of a step, `[batch, 1]`, on the windows' scale, from `outputs [batch, 1, outputs]`: the
    /// target that a model which forecasts step by step reads of its own forecast.
    fn scaled_means(&self, scaler: WindowScaler, outputs: &Tensor, batch: &Batch) -> Tensor {
        let (mean, outputs, loss) = (DistributionColumns::mean(), outputs.contiguous(), self.cut.loss);
        let rows = outputs.values().chunks_exact(loss.outputs());
        let scaling = batch.loc.values().iter().zip(batch.scale.values());
        Tensor::build([outputs.shape()[0], 1], |means| {
            for (into, (row, (&loc, &scale))) in means.chunks_exact_mut(1).zip(rows.zip(scaling)) {
                loss.forecast(&mean, row, loc, scale, into);
                into[0] = scaler.forward(Stats { loc, scale }, into[0]);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Mutex;
    use std::thread::{ThreadId, current};

    use foretell_calendar::Freq;
    use foretell_data::{Panel, Span, WindowSpec};
    use foretell_nn::{Inputs, Model, Table, Var};

    use super::*;

    /// Forecasts the last value, and keeps the threads that it runs on.
    struct Last(&'static Mutex<HashSet<ThreadId>>);

    impl Model for Last {
        fn forward(&self, _: &Forward<'_>, windows: &Inputs) -> Var {
            self.0.lock().unwrap().insert(current().id());
            windows.insample_y.narrow(1, 1, 1).reshape([windows.batch(), 1, 1])
        }
    }

    #[test]
    fn threads_are_woken_where_the_work_pays_for_it() {
        let ran: &'static Mutex<HashSet<ThreadId>> = Box::leak(Box::default());
        let y: Vec<f32> = (0..600).map(|row| (row % 7) as f32).collect();
        let panel = Panel::from_series(Freq::parse("1").unwrap(), [("a", 0, &y)]).unwrap();
        let span = Span::Test { test_size: 512, step_size: 1 };
        let cutter = Cutter::new(&panel, &WindowSpec::new(2, 1), span).unwrap();
        let (network, loss, params) = (Network::from(Last(ran)), Loss::mae(), Table::default().initialise(0));
        let workers = Workers::new(2).unwrap();
        let cut = Cut {
            dims: Dims::new(2, 1),
            loss: &loss,
            exclude_insample_y: false,
            step_by_step: false,
            preparation: None,
        };
        let windows = cutter.rows();
        // Of 512 windows in four blocks.
        let enough = WORTH_WAKING / KEPT_COST / 512;
        for (kept, threads) in [(1, 1), (enough - 1, 1), (enough, workers.threads())] {
            ran.lock().unwrap().clear();
            let forecasts = Forecasts {
                network: &network,
                params: &params,
                cut,
                random_seed: 1,
                workers: &workers,
                kept,
            };
            assert_eq!(forecasts.of(&cutter, &windows), y[87..599], "{kept}");
            assert_eq!(ran.lock().unwrap().len(), threads, "{kept}");
        }
    }

    #[test]
    fn blocks_divide_the_largest_one() {
        for input_size in [1, 24, 1000, 20_011, 300_000, 1 << 23] {
            let dims = Dims::new(input_size, 7);
            for kept in [1, 3_000_000, usize::MAX] {
                let block = block_windows(&dims, kept);
                assert!(MAX_BLOCK.is_multiple_of(block), "{input_size} {kept}: {block}");
            }
        }
    }
}
