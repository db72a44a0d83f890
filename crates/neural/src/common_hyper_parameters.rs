//! The hyper-parameters that every model has: neuralforecast's names, meanings, defaults and ranges.

use std::collections::BTreeMap;

use foretell_data::WindowScaler;
use foretell_estimator::hyper::fits_a_file;
use foretell_messages::nearest;
use foretell_models::{CategoricalColumn, hyper_parameters, rules};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::torch_classes::{OPTIMIZERS, SCHEDULERS};

/// Steps of a window: more than any calendar has use for.
const MAX_STEPS: usize = 1_000_000;

/// Series of a window.
const MAX_SERIES: usize = 1_000_000;

/// Windows of a batch.
const MAX_WINDOWS: usize = 1_000_000;

/// Categories of a column: as many as 32-bit floats can number.
const MAX_CATEGORIES: usize = 1 << 24;

/// Numbers that a category becomes.
const MAX_WIDTH: usize = 10_000;

/// The hyper-parameters of models that embed categorical columns.
pub(crate) const CATEGORICAL: [&str; 3] = ["cat_exog_list", "categorical_cardinalities", "cat_emb_dim"];

/// The hyper-parameter of models whose windows hold all series.
pub(crate) const MULTIVARIATE: &str = "n_series";

hyper_parameters! {
    /// The hyper-parameters that every model has.
    #[derive(Clone, PartialEq)]
    pub(crate) struct Common {
        /// Steps to forecast.
        h: usize = 1 => |h| rules::within(h, 1..=MAX_STEPS),
        /// Steps of history that a window holds; -1 for 3 * h.
        input_size: i64 = -1 => |&size| {
            let steps = usize::try_from(size).is_ok_and(|size| (1..=MAX_STEPS).contains(&size));
            rules::require(size == -1 || steps, "between 1 and 1000000, or -1 for 3 * h")
        },
        /// Series of the panel, all of which a window holds; null for as many as the training data have.
        n_series: Option<usize> = None => |series| {
            let expected = "between 1 and 1000000, or null for as many as the training data have";
            rules::require(series.is_none_or(|series| (1..=MAX_SERIES).contains(&series)), expected)
        },
        /// Columns known for past and future.
        futr_exog_list: Option<Vec<String>> = None,
        /// Columns known for the past only.
        hist_exog_list: Option<Vec<String>> = None,
        /// Columns of the static table.
        stat_exog_list: Option<Vec<String>> = None,
        /// The columns among these that hold categories, which are embedded instead of scaled.
        cat_exog_list: Option<Vec<String>> = None,
        /// The most categories that each of them may have, {column: number}; null for those of the training data.
        categorical_cardinalities: Option<BTreeMap<String, usize>> = None => |columns| {
            let mut counts = columns.iter().flat_map(BTreeMap::values);
            let holds = counts.all(|count| (1..=MAX_CATEGORIES).contains(count));
            rules::require(holds, "numbers between 1 and 16777216")
        },
        /// The numbers that a category becomes: by a rule for the number n of categories, "fastai" (1.6 n^0.56), "sqrt"
        /// or "half", each at most 50, or one number for all columns.
        cat_emb_dim: Value = json!("fastai") => |rule| {
            let holds = CategoricalColumn::width(rule, 1).is_some_and(|width| width <= MAX_WIDTH);
            rules::require(holds, "\"fastai\", \"sqrt\", \"half\", or a number between 1 and 10000")
        },
        /// Whether the target's own history is hidden from the model.
        exclude_insample_y: bool = false,
        /// The loss to minimise: a name, or {name: {argument: value}}.
        loss: Value = json!("MAE"),
        /// The loss that is computed on the validation windows; null for loss.
        valid_loss: Value = Value::Null,
        /// Steps of training, a batch of windows each; 0 keeps the weights that there are.
        max_steps: u64 = 1000,
        /// The optimiser's rate at the first step.
        learning_rate: f64 = 1e-3 => |&rate| rules::require(rate > 0.0 && rate.is_finite(), "above 0"),
        /// Times that the rate is halved, evenly spread over max_steps; -1 for none.
        num_lr_decays: i64 = -1,
        /// PyTorch's class: Adam, AdamW, SGD, RMSprop, RAdam, NAdam, Adamax, Adagrad or Adadelta; null for Adam.
        optimizer: Option<String> = None => |class| known_class(class, "torch.optim", &OPTIMIZERS),
        /// Its arguments without the rate, such as {"weight_decay": 0.1}; null for its defaults.
        optimizer_kwargs: Option<Map<String, Value>> = None,
        /// PyTorch's class: StepLR, MultiStepLR, ExponentialLR, ConstantLR, LinearLR, PolynomialLR, CosineAnnealingLR,
        /// CosineAnnealingWarmRestarts, OneCycleLR or ReduceLROnPlateau, or our CosineWarmup; null for num_lr_decays halvings.
        lr_scheduler: Option<String> = None => |class| known_class(class, "torch.optim.lr_scheduler", &SCHEDULERS),
        /// Its arguments, such as {"step_size": 100}; null for its defaults.
        lr_scheduler_kwargs: Option<Map<String, Value>> = None,
        /// The bound that gradients are clipped to; null or 0 for none.
        gradient_clip_val: Option<f64> = None => |most| {
            let holds = most.is_none_or(|most| most >= 0.0 && most.is_finite());
            rules::require(holds, "at least 0, which bounds nothing, or null")
        },
        /// Whether the bound is on the gradient's "norm" or on each "value" of it; null for norm.
        gradient_clip_algorithm: Option<String> = None => |how| {
            let holds = how.as_deref().is_none_or(|how| ["norm", "value"].contains(&how));
            rules::require(holds, "\"norm\", \"value\", or null for norm")
        },
        /// Checks without a better validation loss after which training ends; -1 for none.
        early_stop_patience_steps: i64 = -1,
        /// The loss that early stopping watches: "ptl/val_loss" or "valid_loss", which are the same.
        val_monitor: String = "ptl/val_loss".to_owned() => |name| {
            let holds = ["ptl/val_loss", "valid_loss"].contains(&name.as_str());
            rules::require(holds, "\"ptl/val_loss\" or \"valid_loss\", which are the same in foretell")
        },
        /// Steps of training between two checks on the validation windows.
        val_check_steps: u64 = 100 => |&steps| rules::require(steps > 0, "at least 1"),
        /// Series that a batch's windows are drawn from.
        batch_size: usize = 32 => |&series| rules::require(series > 0, "at least 1"),
        /// Series checked or forecast at a time; null for batch_size.
        valid_batch_size: Option<usize> = None => |&series| rules::require(series != Some(0), "at least 1, or null for batch_size"),
        /// Windows of a batch; null for all of its series.
        windows_batch_size: Option<usize> = Some(1024) => |count| {
            let holds = count.is_none_or(|count| (1..=MAX_WINDOWS).contains(&count));
            rules::require(holds, "between 1 and 1000000, or null for all windows")
        },
        /// Batches of this many series and windows each whose gradients a step averages, one after the other in the memory of one.
        accumulate_grad_batches: usize = 1 => |batches| rules::within(batches, 1..=1000),
        /// Windows forecast at a time; -1 for all, null for windows_batch_size.
        inference_windows_batch_size: Option<i64> = Some(1024) => |count| {
            let holds = count.is_none_or(|count| count < 0 || (1..=MAX_WINDOWS as i64).contains(&count));
            let expected = "between 1 and 1000000, -1 for all windows, or null for windows_batch_size";
            rules::require(holds, expected)
        },
        /// Whether series are padded with input_size zeros at their start.
        start_padding_enabled: bool = false,
        /// The least share of a training window's steps that hold values: one number, or [history, horizon].
        training_data_availability_threshold: Threshold = Threshold::Both(0.0) => |shares| {
            let holds = shares.each().into_iter().all(|share| (0.0..=1.0).contains(&share));
            rules::require(holds, "between 0 and 1, or a list of two such numbers")
        },
        /// Steps from one training window of a series to the next.
        step_size: usize = 1 => |steps| rules::within(steps, 1..=MAX_STEPS),
        /// How each window is scaled by its history.
        scaler_type: Option<String> = Some("identity".to_owned()) => |name| {
            let known = WindowScaler::ALL.map(WindowScaler::name);
            let holds = name.as_deref().is_none_or(|name| known.contains(&name));
            let expected = format!("one of {}{}", known.join(", "), did_you_mean(name, &known));
            rules::require(holds, expected)
        },
        /// The seed of first weights, draws of windows, dropout and sample paths.
        random_seed: u64 = 1 => |&seed| rules::require(seed <= u64::from(u32::MAX), "below 4294967296"),
        /// Whether training passes over the last batch of series where it is not full.
        drop_last_loader: bool = false,
        /// The name of the model's column in forecasts; null for the model's own.
        alias: Option<String> = None => |name| {
            let expected = "a name fit for a file: 1 to 240 bytes, without slashes, not starting with a dot";
            rules::require(name.as_deref().is_none_or(fits_a_file), expected)
        },
    }
}

/// The rule of a hyper-parameter that names a class of this module of PyTorch.
fn known_class(class: &Option<String>, module: &str, known: &[&str]) -> Result<(), String> {
    let holds = class.as_deref().is_none_or(|class| known.contains(&class));
    let (names, hint) = (known.join(", "), did_you_mean(class, known));
    rules::require(holds, format!("null or a class of {module} that foretell has: {names}{hint}"))
}

/// The nearest of the known words, as a question in brackets.
fn did_you_mean(word: &Option<String>, known: &[&str]) -> String {
    let nearest = word.as_deref().and_then(|word| nearest(word, known.iter().copied()));
    nearest.map(|name| format!(" (did you mean {name}?)")).unwrap_or_default()
}

/// The share of a window that must hold values: one for history and horizon, or one for each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "one number, or a list of two")]
pub(crate) enum Threshold {
    Both(f64),
    Each([f64; 2]),
}

impl Threshold {
    /// `[history, horizon]`.
    pub(crate) fn each(self) -> [f64; 2] {
        match self {
            Self::Both(share) => [share; 2],
            Self::Each(shares) => shares,
        }
    }
}
