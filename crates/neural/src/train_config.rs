//! How the hyper-parameters of a network say that it is trained.

use foretell_estimator::StepSettings;
use foretell_train::TrainConfig;

use crate::optimizer_settings::OptimizerSettings;
use crate::spec::NetworkSpec;
use crate::spec_error::SpecError;

/// The steps of its training are computed as `step` says.
///
/// # Errors
/// If the hyper-parameters of the optimiser do not fit together.
pub(crate) fn train_config(spec: &NetworkSpec, step: StepSettings) -> Result<TrainConfig, SpecError> {
    let common = spec.common();
    // A negative number stands for all windows, none for as many as in training.
    let inference = match common.inference_windows_batch_size {
        None => common.windows_batch_size,
        Some(size) => usize::try_from(size).ok(),
    };
    let OptimizerSettings { rule, schedule, clip } = spec.optimizer_settings()?;
    Ok(TrainConfig::default()
        .max_steps(common.max_steps)
        .optimizer(rule)
        .schedule(schedule)
        .clip(clip)
        .early_stop_patience_steps(common.early_stop_patience_steps)
        .restore_best(spec.restore_best)
        .val_check_steps(common.val_check_steps)
        .batch_size(common.batch_size)
        .valid_batch_size(common.valid_batch_size.unwrap_or(common.batch_size))
        .windows_batch_size(common.windows_batch_size)
        .accumulate_grad_batches(common.accumulate_grad_batches)
        .inference_windows_batch_size(inference)
        .drop_last_loader(common.drop_last_loader)
        .random_seed(common.random_seed)
        .step(step))
}
