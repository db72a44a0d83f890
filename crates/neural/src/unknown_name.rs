//! Unknown hyper-parameters: the name that was meant, or why there is no such thing.

use foretell_messages::{Setting, nearest};
use serde_json::Value;

/// The names of hyper-parameters in other libraries, or of people in a hurry, and ours.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("batch", "batch_size (series) or windows_batch_size (windows)"),
    ("clip", "gradient_clip_val"),
    ("context_length", "input_size"),
    ("early_stopping", "early_stop_patience_steps"),
    ("epochs", "max_steps"),
    ("grad_clip", "gradient_clip_val"),
    ("hist_exog", "hist_exog_list"),
    ("horizon", "h"),
    ("iterations", "max_steps"),
    ("lookback", "input_size"),
    ("lr", "learning_rate"),
    ("max_epochs", "max_steps"),
    ("n_epochs", "max_steps"),
    ("normalization", "scaler_type"),
    ("num_epochs", "max_steps"),
    ("patience", "early_stop_patience_steps"),
    ("prediction_length", "h"),
    ("scaler", "scaler_type"),
    ("schedule", "lr_scheduler"),
    ("scheduler", "lr_scheduler"),
    ("seed", "random_seed"),
    ("steps", "max_steps"),
    ("training_steps", "max_steps"),
    ("weight_decay", "optimizer_kwargs, as {\"weight_decay\": 0.1} with optimizer = \"AdamW\""),
];

/// The replacement of an argument of the trainer.
#[derive(Clone, Copy)]
enum Instead {
    /// Nothing, for this reason.
    Nothing(&'static str),
    /// A setting, and its effect in words.
    Setting(&'static str, Setting),
}

const CPU_ONLY: Instead =
    Instead::Setting("foretell computes on CPUs, on as many threads as it is given", Setting::Threads);
const LOG: Instead = Instead::Setting("what is told of the training is chosen by the host", Setting::Log);
const CHECKPOINT: Instead =
    Instead::Setting("the state of training is kept where it is asked for", Setting::Checkpoint);
const TRAINER: Instead = Instead::Nothing(
    "it is an argument of PyTorch Lightning's trainer, which foretell does without; leave it out",
);

/// Arguments that neuralforecast passes on to PyTorch Lightning's trainer, and their replacements.
const TRAINER_ARGUMENTS: &[(&str, Instead)] = &[
    ("accelerator", CPU_ONLY),
    ("barebones", TRAINER),
    ("benchmark", TRAINER),
    ("callbacks", TRAINER),
    ("check_val_every_n_epoch", Instead::Nothing("checks come every val_check_steps steps")),
    ("default_root_dir", CHECKPOINT),
    (
        "detect_anomaly",
        Instead::Nothing("a loss that is not a number always ends the training with an error; leave it out"),
    ),
    ("deterministic", Instead::Nothing("training is always reproducible to the last bit; leave it out")),
    ("devices", CPU_ONLY),
    ("enable_checkpointing", CHECKPOINT),
    ("enable_model_summary", LOG),
    ("enable_progress_bar", LOG),
    ("fast_dev_run", Instead::Nothing("did you mean max_steps?")),
    ("inference_mode", TRAINER),
    ("limit_predict_batches", TRAINER),
    ("limit_test_batches", TRAINER),
    ("limit_train_batches", TRAINER),
    ("limit_val_batches", TRAINER),
    ("log_every_n_steps", LOG),
    ("logger", LOG),
    (
        "max_time",
        Instead::Nothing(
            "a training can be stopped at any time, which keeps the partly trained models; or set max_steps",
        ),
    ),
    ("min_steps", TRAINER),
    ("num_nodes", CPU_ONLY),
    ("num_sanity_val_steps", TRAINER),
    ("num_workers_loader", Instead::Setting("windows are cut on the threads that train", Setting::Threads)),
    ("overfit_batches", TRAINER),
    ("plugins", TRAINER),
    (
        "precision",
        Instead::Setting("it is no hyper-parameter but holds for the whole training", Setting::Precision),
    ),
    ("profiler", TRAINER),
    ("strategy", CPU_ONLY),
    ("sync_batchnorm", CPU_ONLY),
    ("use_distributed_sampler", CPU_ONLY),
];

/// The arguments for where training computes, which reports it writes and which files it keeps, none of which changes a
/// forecast.
const WITHOUT_EFFECT: &[&str] = &[
    "accelerator", "barebones", "benchmark", "default_root_dir", "detect_anomaly", "deterministic",
    "devices", "enable_checkpointing", "enable_model_summary", "enable_progress_bar", "inference_mode",
    "log_every_n_steps", "logger", "num_nodes", "num_sanity_val_steps", "num_workers_loader", "plugins",
    "profiler", "strategy", "sync_batchnorm", "use_distributed_sampler",
];

/// Values, as JSON, with which others change no forecast; nor do they as null.
const NEUTRAL_VALUES: &[(&str, &[&str])] = &[
    ("callbacks", &["[]"]),
    ("fast_dev_run", &["false"]),
    ("limit_predict_batches", &["1.0"]),
    ("limit_test_batches", &["1.0"]),
    ("limit_train_batches", &["1.0"]),
    ("limit_val_batches", &["1.0"]),
    ("overfit_batches", &["0", "0.0"]),
    ("precision", &["32", "\"32\"", "\"32-true\""]),
];

/// Whether it is an argument of the trainer that changes no forecast, so that it can be passed over.
pub(crate) fn changes_nothing(name: &str, value: &Value) -> bool {
    let neutral = || NEUTRAL_VALUES.iter().find(|(argument, _)| *argument == name);
    let is_neutral = || neutral().is_some_and(|(_, values)| values.contains(&&*value.to_string()));
    is_trainer_argument(name) && (value.is_null() || WITHOUT_EFFECT.contains(&name) || is_neutral())
}

/// Whether neuralforecast passes this argument on to PyTorch Lightning's trainer.
pub(crate) fn is_trainer_argument(name: &str) -> bool {
    TRAINER_ARGUMENTS.iter().any(|(argument, _)| *argument == name)
}

/// The hint for a name that is not among the `known` ones.
pub(crate) fn hint<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let key = name.to_lowercase().replace('-', "_");
    if let Some((_, meant)) = OTHER_NAMES.iter().find(|(other, _)| *other == key) {
        return format!("did you mean {meant}?");
    }
    match TRAINER_ARGUMENTS.iter().find(|(argument, _)| *argument == key) {
        Some((_, Instead::Nothing(reason))) => (*reason).to_owned(),
        Some((_, Instead::Setting(what, setting))) => format!("{what} ({setting}); leave it out"),
        None => match nearest(name, known) {
            Some(name) => format!("did you mean {name}?"),
            None => format!("{} lists them", Setting::HyperParameters),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::spec::NetworkSpec;

    fn message(name: &str) -> String {
        NetworkSpec::new("NHITS", 1, 2).unwrap().set(name, 1).unwrap_err().to_string()
    }

    #[test]
    fn the_hint_is_what_was_meant_or_why_it_is_not_there() {
        for (name, part) in [
            ("lr", "did you mean learning_rate?"),
            ("LR", "did you mean learning_rate?"),
            ("steps", "did you mean max_steps?"),
            ("max-epochs", "did you mean max_steps?"),
            ("batch", "batch_size (series) or windows_batch_size (windows)"),
            ("callbacks", "an argument of PyTorch Lightning's trainer"),
            ("precision", "`Forecaster::precision`"),
            ("max_step", "did you mean max_steps?"),
            ("xylophone", "lists them"),
        ] {
            let message = message(name);
            assert!(message.contains(part) && message.contains(name), "{name}: {message}");
        }
    }

    #[test]
    fn what_changes_no_forecast_is_passed_over() {
        let set = |name: &str, value: Value| NetworkSpec::new("NHITS", 1, 2).unwrap().set(name, value);
        let plain = NetworkSpec::new("NHITS", 1, 2).unwrap();
        for (name, value) in [
            ("accelerator", json!("gpu")),
            ("devices", json!([0])),
            ("enable_progress_bar", json!(false)),
            ("logger", json!(false)),
            ("callbacks", json!([])),
            ("callbacks", json!(null)),
            ("precision", json!("32-true")),
            ("limit_train_batches", json!(1.0)),
        ] {
            let spec = set(name, value).unwrap();
            assert_eq!((spec.passed_over(), &spec), (&[name.to_owned()][..], &plain));
        }
        for (name, value) in [
            ("callbacks", json!(["EarlyStopping"])),
            ("precision", json!("16-mixed")),
            ("limit_train_batches", json!(1)),
            ("max_time", json!("00:01:00")),
        ] {
            assert!(set(name, value).is_err(), "{name}");
        }
        let known = |name: &&str| super::is_trainer_argument(name);
        assert!(super::WITHOUT_EFFECT.iter().all(known));
        assert!(super::NEUTRAL_VALUES.iter().map(|(name, _)| name).all(known));
    }

    #[test]
    fn what_others_call_it_is_no_name_of_ours() {
        let known = NetworkSpec::common_defaults();
        for (name, meant) in super::OTHER_NAMES {
            let meant = meant.split([' ', ',']).next().unwrap();
            assert!(!known.contains_key(*name) && known.contains_key(meant), "{name}: {meant}");
        }
        assert!(super::TRAINER_ARGUMENTS.iter().all(|(name, _)| !known.contains_key(*name)));
    }
}
