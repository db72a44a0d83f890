//! Estimates of the memory that work will take, made before the work begins.
//!
//! Tables of parameters, gradients, the optimiser's state, rows of panels and of forecasts are counted exactly;
//! what a model keeps of the windows that it works on is an estimate ([`foretell_nn::Model::saved_activations`]).

use std::fs;
use std::path::{Path, PathBuf};

use foretell_data::{Panel, Vocabulary};
use foretell_infer::{block_windows, window_numbers};
use foretell_nn::{Dims, Network, Table, WeightPrecision};
use foretell_train::{Precision, TrainConfig, shard_count};

use crate::columns::{column_names, outputs};
use crate::conformal::PredictionIntervals;
use crate::cross_validation::ValidationOptions;
use crate::error::Error;
use crate::forecaster::{Fitted, Forecaster};
use crate::memory_limit::{MemoryLimit, shown};
use crate::training::train_config;
use crate::usage_error::UsageError;
use crate::windows::{Purpose, window_dims};

/// The bytes of a 32-bit number.
const NUMBER: u64 = 4;

/// What a row of a table of forecasts takes beside its columns: a reference to its id, and its time.
const ROW: u64 = 16 + 8;

/// What forecasts make of the weights, at most.
const COPIES: &str = "weights as forecasts hold them";

/// What a piece of work will take, part by part.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryEstimate {
    parts: Vec<(String, u64)>,
}

impl MemoryEstimate {
    /// The same and `bytes` for `what`.
    pub(crate) fn and(mut self, what: impl Into<String>, bytes: u64) -> Self {
        self.parts.push((what.into(), bytes));
        self
    }

    /// The same and `count` numbers for `what`.
    pub(crate) fn and_numbers(self, what: impl Into<String>, count: usize) -> Self {
        self.and(what, (count as u64).saturating_mul(NUMBER))
    }

    /// The same and what other work needs meanwhile.
    pub(crate) fn and_all(mut self, other: Self) -> Self {
        self.parts.extend(other.parts);
        self
    }

    pub(crate) fn total(&self) -> u64 {
        self.parts.iter().fold(0, |sum: u64, (_, bytes)| sum.saturating_add(*bytes))
    }

    /// Whether `work` may take so much; `remedy` is what would make it less.
    pub(crate) fn check(self, limit: &MemoryLimit, work: &str, remedy: &'static str) -> Result<(), Error> {
        let total = self.total();
        if total <= limit.bytes() {
            return Ok(());
        }
        let mut parts = self.parts;
        parts.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        // What is a small share does not help to find what to change.
        parts.retain(|(_, bytes)| *bytes >= total / 50);
        let parts: Vec<String> =
            parts.iter().map(|(what, bytes)| format!("{what} {}", shown(*bytes))).collect();
        Err(UsageError::Memory {
            work: work.to_owned(),
            needed: shown(total),
            parts: parts.join(", "),
            limit: Box::new(limit.clone()),
            remedy,
        }
        .into())
    }
}

/// The training of a model: how many windows it takes at a time, on how many threads.
pub(crate) struct Training<'a> {
    pub(crate) network: &'a Network,
    pub(crate) table: &'a Table,
    pub(crate) dims: Dims,
    pub(crate) config: &'a TrainConfig,
    /// Windows of a batch.
    pub(crate) windows: usize,
    pub(crate) threads: usize,
    /// Whether it forecasts windows that it holds out, now and then.
    pub(crate) validates: bool,
    /// Whether its state is kept on disk, for which it is copied.
    pub(crate) is_kept: bool,
}

impl Training<'_> {
    pub(crate) fn shards(&self) -> usize {
        shard_count(self.windows, self.network.needs)
    }

    pub(crate) fn needs(&self) -> MemoryEstimate {
        let (table, shards) = (self.table, self.shards());
        let states = self.config.optimizer.state_names().len();
        let best = usize::from(self.config.early_stop_patience_steps > 0 && self.config.restore_best);
        // A shard that is alone has all windows, else each thread works on one.
        let windows = self.windows.div_ceil(shards).saturating_mul(shards.min(self.threads));
        let arena = |count: usize| table.arena_len().saturating_mul(count);
        // Of two bytes, packed for the products of both directions.
        let rounded = usize::from(self.config.precision == Precision::Bf16);
        let needs = MemoryEstimate::default()
            .and_numbers("parameters", table.total_len())
            .and_numbers(
                format!("gradients of {shards} shards"),
                table.gradients_len().saturating_mul(shards),
            )
            .and_numbers("the optimiser's state", arena(states))
            .and_numbers("the best weights", arena(best))
            .and_numbers("weights in bfloat16", arena(rounded))
            .and_numbers("windows", windows.saturating_mul(window_numbers(&self.dims)))
            .and_numbers(
                "activations, roughly,",
                windows.saturating_mul(self.network.model.saved_activations(table)),
            );
        let needs = match self.validates {
            true => needs.and(COPIES, table.held_copies_bytes(WeightPrecision::F32) as u64),
            false => needs,
        };
        match self.is_kept {
            true => needs.and_numbers("the state to be kept", arena(1 + states + best)),
            false => needs,
        }
    }
}

/// The forecast of windows of these sizes by a model on so many threads, without the forecasts.
pub(crate) fn forecasting(
    network: &Network,
    table: &Table,
    dims: &Dims,
    windows: usize,
    threads: usize,
) -> MemoryEstimate {
    let (kept, paths) = (network.model.saved_activations(table), network.needs.decoding.paths().unwrap_or(0));
    let block = block_windows(dims, kept);
    let windows = windows.min(block.saturating_mul(threads));
    MemoryEstimate::default()
        .and_numbers("windows", windows.saturating_mul(window_numbers(dims)))
        .and_numbers("activations, roughly,", windows.saturating_mul(kept))
        .and_numbers("sample paths", dims.horizon.saturating_mul(paths).saturating_mul(threads))
}

/// The rows of a table of forecasts with so many columns.
pub(crate) fn forecasts(rows: usize, columns: usize) -> MemoryEstimate {
    let row = ROW + NUMBER * columns as u64;
    MemoryEstimate::default().and("forecasts", (rows as u64).saturating_mul(row))
}

/// A panel, and how often its columns are copied.
pub(crate) fn panels(panel: &Panel, copies: u64) -> MemoryEstimate {
    MemoryEstimate::default().and("the panel", (panel.bytes() as u64).saturating_mul(1 + copies))
}

/// What would make a training smaller.
pub(crate) const SMALLER: &str = "choose smaller layers, or lower h, input_size or windows_batch_size";

impl Forecaster {
    /// Has work that would take more memory than this refused before it takes it, as far as that can be foreseen:
    /// parameters, gradients, the optimiser's state, windows, panels and forecasts; what models keep of their
    /// windows is estimated. By default [`MemoryLimit::of_machine`]; the [`Fitted`] that comes of the training has
    /// the same limit.
    pub fn max_memory(mut self, bytes: u64) -> Self {
        self.memory = MemoryLimit::of_bytes(bytes);
        self
    }

    /// Whether the models can be trained on the panel without its last `held_out` rows.
    pub(crate) fn check_training(
        &self,
        panel: &Panel,
        held_out: usize,
        vocabulary: &Vocabulary,
        threads: usize,
    ) -> Result<(), Error> {
        let copies = u64::from(self.local_scalers.series.is_some()) + u64::from(!vocabulary.is_empty());
        let mut all = 0_usize;
        let (mut alone, mut beside) = (Vec::new(), Vec::new());
        for (spec, name) in self.specs.iter().zip(column_names(&self.specs)) {
            let spec = spec.clone().with_cardinalities(vocabulary).with_n_series(panel.n_series());
            let mut table = Table::default();
            let network = spec.build(&mut table)?;
            let (restore_best, precision) = (self.restore_best, self.precision);
            let config = TrainConfig { restore_best, precision, ..train_config(&spec) };
            let dims = window_dims(&spec, network.needs, Purpose::Train);
            let windows = config.windows_batch_size.unwrap_or_else(|| {
                let padding = if spec.common().start_padding_enabled { dims.input_size } else { 0 };
                let room = (panel.max_len() + padding).saturating_sub(held_out + dims.input_size);
                let series = if spec.is_multivariate() { 1 } else { config.batch_size.min(panel.n_series()) };
                series.saturating_mul(room / spec.common().step_size + 1)
            });
            let training = Training {
                network: &network,
                table: &table,
                dims,
                config: &config,
                windows,
                threads,
                validates: self.val_size > 0,
                is_kept: self.checkpointing.is_some(),
            };
            all = all.saturating_add(table.total_len());
            let jobs = if training.shards() > 1 { &mut alone } else { &mut beside };
            jobs.push((name, training.needs(), table.total_len()));
        }
        // Those of a single shard are trained as many at a time as there are threads.
        beside.sort_by_key(|(_, needs, _)| std::cmp::Reverse(needs.total()));
        beside.truncate(threads);
        let together = alone.into_iter().map(|job| vec![job]).chain([beside]);
        for jobs in together {
            let (mut needs, mut others, mut names) = (panels(panel, copies), all, Vec::new());
            for (name, own, parameters) in jobs {
                needs = needs.and_all(own);
                others -= parameters.min(others);
                names.push(name);
            }
            let needs = needs.and_numbers("parameters of the other models", others);
            needs.check(&self.memory, &format!("training {}", names.join(" and ")), SMALLER)?;
        }
        Ok(())
    }

    /// Whether so many forecasts of each series can be held in memory: by all models, beside the truth.
    pub(crate) fn check_validation(
        &self,
        panel: &Panel,
        options: &ValidationOptions<'_>,
    ) -> Result<(), Error> {
        let columns: usize = self.specs.iter().map(|spec| outputs(&spec.loss()).len()).sum();
        let columns = columns + self.specs.len() * 2 * options.level.len();
        let rows = held_rows(panel, options.n_windows, self.h());
        // As they are made, as columns, and in the table with their truth and cutoffs.
        let needs = panels(panel, 0).and_all(forecasts(rows, 2 * columns + 3));
        needs.check(&self.memory, "cross-validation", "lower h or n_windows, or leave series out")
    }
}

impl Fitted {
    /// Has forecasts refused that would take more memory than this, as [`Forecaster::max_memory`].
    pub fn max_memory(mut self, bytes: u64) -> Self {
        self.memory = MemoryLimit::of_bytes(bytes);
        self
    }

    /// Whether `rows` rows of forecasts of steps like these can be held in memory beside what forecasting takes.
    pub(crate) fn check_forecast(
        &self,
        panel: &Panel,
        (windows, h): (usize, usize),
        rows: usize,
        level: &[f64],
        remedy: &'static str,
    ) -> Result<(), Error> {
        let (mut parameters, mut copies, mut columns) = (0_usize, 0_usize, 0);
        let mut largest = MemoryEstimate::default();
        for (model, name) in self.models.iter().zip(self.column_names()) {
            let table = model.params.table();
            let dims = window_dims(&model.spec, model.network.needs, Purpose::Forecast);
            let horizon = if model.network.needs.decoding.is_step_by_step() { h } else { dims.horizon };
            let dims = Dims { horizon, ..dims };
            let windows = windows.div_ceil(dims.n_series);
            let needs = forecasting(&model.network, table, &dims, windows, self.workers.threads());
            if needs.total() > largest.total() {
                largest = needs;
            }
            parameters = parameters.saturating_add(table.total_len());
            copies = copies.saturating_add(table.held_copies_bytes(model.weight_precision()));
            columns += self.recipe(model, &name, level)?.outputs.len();
        }
        // Values are told for a model, and then stand in columns.
        let needs = panels(panel, 0).and_numbers("parameters", parameters).and(COPIES, copies as u64);
        let needs = needs.and_all(largest);
        needs.and_all(forecasts(rows, 2 * columns)).check(&self.memory, "forecasting", remedy)
    }

    /// Whether the errors that intervals are calibrated by can be held in memory.
    pub(crate) fn check_calibration(
        memory: &MemoryLimit,
        panel: &Panel,
        intervals: PredictionIntervals,
        (models, h): (usize, usize),
    ) -> Result<(), Error> {
        /// An id as a text, times, a cutoff, the truth.
        const OWN_ROW: u64 = 24 + 16 + 3 * 8;
        let rows = held_rows(panel, intervals.n_windows, h);
        let errors = (rows as u64).saturating_mul(OWN_ROW + 8 * models as u64);
        let needs = panels(panel, 0).and("errors of forecasts", errors).and_all(forecasts(rows, 2 * models));
        needs.check(memory, "calibrating intervals", "lower h or the windows of the intervals")
    }
}

/// Rows of so many forecasts of each series that has them.
fn held_rows(panel: &Panel, n_windows: usize, h: usize) -> usize {
    panel.n_series().saturating_mul(n_windows.min(panel.max_len())).saturating_mul(h)
}

/// Whether a model directory can be loaded: its tensors are read, taken apart, and put into their arenas.
pub(crate) fn check_load(dir: &Path, limit: &MemoryLimit) -> Result<(), Error> {
    // What cannot be read is told by whoever reads it.
    let paths = fs::read_dir(dir).into_iter().flatten().flatten().map(|file| file.path());
    let tensors = paths.filter(|path| path.extension().is_some_and(|ending| ending == "safetensors"));
    let bytes = total_size(tensors);
    let needs = MemoryEstimate::default()
        .and("its files", bytes)
        .and("their tensors", bytes)
        .and("parameters", bytes);
    needs.check(limit, &format!("loading {}", dir.display()), "load a smaller model")
}

/// Whether files of PyTorch's may be read; `paths` are those of the models.
#[cfg(feature = "pickle")]
pub(crate) fn check_import(from: &Path, paths: &[PathBuf], limit: &MemoryLimit) -> Result<(), Error> {
    let bytes = total_size(paths.iter().cloned());
    let largest = paths.iter().map(|path| total_size([path.clone()].into_iter())).max().unwrap_or(0);
    let needs = MemoryEstimate::default()
        .and("parameters", bytes)
        .and("the largest file, its storages and its tensors", largest.saturating_mul(3));
    needs.check(limit, &format!("importing {}", from.display()), "import a smaller model")
}

fn total_size(paths: impl Iterator<Item = PathBuf>) -> u64 {
    paths.filter_map(|path| Some(fs::metadata(path).ok()?.len())).fold(0, u64::saturating_add)
}

/// Whether a model can be measured on so many windows, its forecasts with weights in this format.
pub(crate) fn check_bench(
    training: &Training<'_>,
    ahead: &Dims,
    weights: WeightPrecision,
    limit: &MemoryLimit,
) -> Result<(), Error> {
    let forward = forecasting(training.network, training.table, ahead, training.windows, training.threads);
    let copies = training.table.held_copies_bytes(weights) as u64;
    // All windows of the batch are cut before, for the step and for the forecasts.
    let numbers = window_numbers(&training.dims).saturating_add(window_numbers(ahead));
    let needs = training.needs().and_all(forward).and(COPIES, copies);
    needs.and_numbers("windows of the whole batch", training.windows.saturating_mul(numbers)).check(
        limit,
        "the bench",
        "choose smaller layers, or lower h, input_size or --batch",
    )
}
