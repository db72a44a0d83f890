//! Estimates of the memory that training and forecasts of a network will take.
//!
//! Tables of parameters, gradients, the optimiser's state are counted exactly; what a model keeps of the windows that it works
//! on is measured on small ones ([`KeptNumbers`]).

use std::cell::LazyCell;

use foretell_estimator::{MemoryEstimate, MemoryLimit, TooMuchMemory, TrainingSize};
use foretell_infer::{block_windows, window_numbers};
use foretell_messages::Setting;
use foretell_nn::{Dims, Network, Table, WeightPrecision};
use foretell_train::{Precision, TrainConfig, shard_count, windows_at_a_time};

use crate::kept_numbers::KeptNumbers;
use crate::spec::NetworkSpec;
use crate::spec_error::SpecError;
use crate::train_config::train_config;
use crate::windows::{Purpose, window_dims};

/// The parameters that are drawn in any case to measure what a model keeps of a window: 64 MB.
const FEW_PARAMETERS: usize = 1 << 24;

/// Weights that nothing trains.
const FROZEN: &str = "frozen weights";

/// The name of the copies of weights that forecasts hold.
const COPIES: &str = "weights as forecasts hold them";

/// The parameters of a network, and the memory that its training on a panel takes.
pub(crate) fn training_memory(
    spec: &NetworkSpec,
    size: &TrainingSize<'_>,
) -> Result<(usize, MemoryEstimate), SpecError> {
    let panel = size.panel;
    let mut table = Table::default();
    let network = spec.build(&mut table)?;
    let config = train_config(spec, size.step)?;
    let dims = window_dims(spec, network.needs, Purpose::Train);
    let windows = config.windows_batch_size.unwrap_or_else(|| {
        let padding = if spec.common().start_padding_enabled { dims.input_size } else { 0 };
        let room = (panel.max_len() + padding).saturating_sub(size.held_out.rows() + dims.input_size);
        let series = if spec.is_multivariate() { 1 } else { config.batch_size.min(panel.n_series()) };
        series.saturating_mul(room / spec.common().step_size + 1)
    });
    let training = Training {
        network: &network,
        table: &table,
        dims,
        config: &config,
        windows,
        threads: size.threads,
        validates: size.held_out.validation > 0,
        is_kept: size.is_kept,
        kept: KeptNumbers::default(),
    };
    let needs = training.measured(spec, size.limit).needs();
    // The mask, and the magnitudes that it is chosen by.
    let masked = if size.is_pruned { table.arena_len().saturating_mul(2) } else { 0 };
    Ok((table.total_len(), needs.and_numbers("the mask of weights that become zero", masked)))
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
    /// The numbers that it keeps of windows.
    pub(crate) kept: KeptNumbers,
}

impl Training<'_> {
    /// The same with what the model keeps of windows; nothing is measured where the rest is above the limit and a trial would draw
    /// many parameters.
    pub(crate) fn measured(self, spec: &NetworkSpec, limit: &MemoryLimit) -> Self {
        if self.table.total_len() > FEW_PARAMETERS && self.needs().total() > limit.bytes() {
            return self;
        }
        let params = LazyCell::new(|| self.table.clone().initialise(0));
        let kept = KeptNumbers::measure(spec, self.network, params, self.config.step.low_memory);
        Self { kept, ..self }
    }

    pub(crate) fn shards(&self) -> usize {
        shard_count(self.windows, self.network.needs, self.config.step.low_memory)
    }

    pub(crate) fn needs(&self) -> MemoryEstimate {
        let (table, shards) = (self.table, self.shards());
        let states = self.config.optimizer.state_names().len();
        let best = usize::from(self.config.early_stop_patience_steps > 0 && self.config.restore_best);
        let accumulated = usize::from(self.config.accumulate_grad_batches > 1);
        // A shard that is alone has all windows, else each thread works on one; in little memory on a piece of it.
        let of_shard = self.windows.div_ceil(shards);
        let at_a_time = windows_at_a_time(of_shard, self.network.needs, self.config.step.low_memory);
        let windows = at_a_time.saturating_mul(shards.min(self.threads));
        let arena = |count: usize| table.arena_len().saturating_mul(count);
        // Of two bytes, packed for the products of both directions.
        let rounded = usize::from(self.config.step.precision == Precision::Bf16);
        let needs = MemoryEstimate::default()
            .and_numbers("parameters", table.total_len())
            .and(FROZEN, self.network.model.frozen_bytes())
            .and_numbers(
                format!("gradients of {shards} shards"),
                table.gradients_len().saturating_mul(shards),
            )
            .and_numbers("the optimiser's state", arena(states))
            .and_numbers("gradients of the parts of a step", arena(accumulated))
            .and_numbers("the best weights", arena(best))
            .and_numbers("weights in bfloat16", arena(rounded))
            .and_numbers("windows", windows.saturating_mul(window_numbers(&self.dims)))
            .and_numbers("activations, roughly,", windows.saturating_mul(self.kept.of(&self.dims)));
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

/// The forecast of windows of these sizes, of which this many numbers are kept each, by a model on this many threads; without the
/// forecasts.
pub(crate) fn forecasting(
    network: &Network,
    kept: usize,
    dims: &Dims,
    windows: usize,
    threads: usize,
) -> MemoryEstimate {
    let paths = network.needs.decoding.paths().unwrap_or(0);
    let block = block_windows(dims, kept);
    let windows = windows.min(block.saturating_mul(threads));
    MemoryEstimate::default()
        .and_numbers("windows", windows.saturating_mul(window_numbers(dims)))
        .and_numbers("activations, roughly,", windows.saturating_mul(kept))
        .and_numbers("sample paths", dims.horizon.saturating_mul(paths).saturating_mul(threads))
}

/// Whether a model can be measured on this many windows, its forecasts with weights in this format.
pub(crate) fn check_bench(
    training: &Training<'_>,
    ahead: &Dims,
    weights: WeightPrecision,
    limit: &MemoryLimit,
) -> Result<(), TooMuchMemory> {
    let kept = training.kept.of(ahead);
    let forward = forecasting(training.network, kept, ahead, training.windows, training.threads);
    let copies = training.table.held_copies_bytes(weights) as u64;
    // All windows of the batch are cut before, for the step and for the forecasts.
    let numbers = window_numbers(&training.dims).saturating_add(window_numbers(ahead));
    let needs = training.needs().and_all(forward).and(COPIES, copies);
    needs.and_numbers("windows of the whole batch", training.windows.saturating_mul(numbers)).check(
        limit,
        "the bench",
        format!("choose smaller layers, or lower h, input_size or {}", Setting::Batch),
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use foretell_estimator::StepSettings;
    use foretell_models::find;
    use foretell_nn::{Forward, Inputs, Model, Var};
    use serde_json::Value;

    use super::*;

    /// A model that holds nothing.
    struct Empty;

    impl Model for Empty {
        fn forward(&self, _: &Forward<'_>, windows: &Inputs) -> Var {
            windows.insample_y.clone()
        }
    }

    #[test]
    fn a_training_holds_the_frozen_weights_of_its_language_model() {
        let entry = find("TimeLLM").expect("a model");
        let spec = NetworkSpec::new("TimeLLM", 4, 24).expect("a model");
        let set =
            |spec: NetworkSpec, (name, value): (String, Value)| spec.set(&name, value).expect("a setting");
        let spec = entry.small().swap_remove(0).into_iter().fold(spec, set);
        let mut table = Table::default();
        let network = spec.build(&mut table).expect("a model");
        let config = train_config(&spec, StepSettings::default()).expect("a configuration");
        let needed_by = |network: &Network| {
            let training = Training {
                network,
                table: &table,
                dims: window_dims(&spec, network.needs, Purpose::Train),
                config: &config,
                windows: 8,
                threads: 2,
                validates: false,
                is_kept: false,
                kept: KeptNumbers::default(),
            };
            training.needs().total()
        };
        let without = Network { needs: network.needs, model: Arc::new(Empty) };
        // All tensors of model.safetensors, behind its header.
        let file =
            std::fs::read("../language/tests/gpt2/model.safetensors").expect("the small language model");
        let (length, rest) = file.split_first_chunk().expect("the length of the header");
        let tensors = rest.len() as u64 - u64::from_le_bytes(*length);
        assert_eq!(needed_by(&network) - needed_by(&without), tensors);
    }
}
