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

#[cfg(test)]
mod tests {
    use foretell_estimator::Precision;
    use serde_json::json;

    use super::*;

    /// The text of each field, with its name.
    fn fields(config: &TrainConfig) -> Vec<String> {
        let mut fields: Vec<String> = Vec::new();
        for line in format!("{config:#?}").lines() {
            let own = line.strip_prefix("    ").unwrap_or_default();
            if own.starts_with(|c: char| c.is_ascii_lowercase()) {
                fields.push(own.to_owned());
            } else if let Some(last) = fields.last_mut() {
                last.push_str(own);
            }
        }
        fields
    }

    #[test]
    fn every_setting_of_training_comes_from_the_hyper_parameters() {
        let mut spec = NetworkSpec::new("NLinear", 4, 8).expect("a model");
        spec.restore_best = false;
        for (name, value) in [
            ("max_steps", json!(7)),
            ("optimizer", json!("SGD")),
            ("learning_rate", json!(0.5)),
            ("gradient_clip_val", json!(1.0)),
            ("early_stop_patience_steps", json!(3)),
            ("val_check_steps", json!(9)),
            ("batch_size", json!(5)),
            ("valid_batch_size", json!(6)),
            ("windows_batch_size", json!(11)),
            ("accumulate_grad_batches", json!(2)),
            ("inference_windows_batch_size", json!(13)),
            ("drop_last_loader", json!(true)),
            ("random_seed", json!(42)),
        ] {
            spec = spec.set(name, value).expect(name);
        }
        let step = StepSettings { precision: Precision::Bf16, low_memory: true };
        let found = fields(&train_config(&spec, step).expect("a configuration"));
        let usual = fields(&TrainConfig::default());
        assert!(usual.len() >= 15 && found.len() == usual.len(), "{found:?}");
        let kept: Vec<&String> = found.iter().filter(|field| usual.contains(field)).collect();
        assert!(kept.is_empty(), "left at the default: {kept:?}");
    }
}
