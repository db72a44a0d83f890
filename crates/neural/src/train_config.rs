//! How the hyper-parameters of a network say that it is trained.

use foretell_train::{Precision, TrainConfig};

use crate::optimizer_settings::OptimizerSettings;
use crate::spec::NetworkSpec;
use crate::spec_error::SpecError;

impl NetworkSpec {
    /// The type that the products of its training round their operands to: `f32`, the default, not at all.
    #[must_use]
    pub fn precision(mut self, precision: Precision) -> Self {
        self.precision = precision;
        self
    }

    /// Whether it is trained in the least memory in place of the least time: see [`TrainConfig::low_memory`].
    #[must_use]
    pub fn low_memory(mut self, low_memory: bool) -> Self {
        self.low_memory = low_memory;
        self
    }
}

/// # Errors
/// If the hyper-parameters of the optimiser do not fit together.
pub(crate) fn train_config(spec: &NetworkSpec) -> Result<TrainConfig, SpecError> {
    let common = spec.common();
    // A negative number stands for all windows, none for as many as in training.
    let inference = match common.inference_windows_batch_size {
        None => common.windows_batch_size,
        Some(size) => usize::try_from(size).ok(),
    };
    let OptimizerSettings { rule, schedule, clip } = spec.optimizer_settings()?;
    Ok(TrainConfig {
        max_steps: common.max_steps,
        optimizer: rule,
        schedule,
        clip,
        early_stop_patience_steps: common.early_stop_patience_steps,
        restore_best: spec.restore_best,
        val_check_steps: common.val_check_steps,
        batch_size: common.batch_size,
        valid_batch_size: common.valid_batch_size.unwrap_or(common.batch_size),
        windows_batch_size: common.windows_batch_size,
        accumulate_grad_batches: common.accumulate_grad_batches,
        inference_windows_batch_size: inference,
        drop_last_loader: common.drop_last_loader,
        random_seed: common.random_seed,
        precision: spec.precision,
        low_memory: spec.low_memory,
    })
}
