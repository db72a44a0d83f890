//! The hyper-parameters that every model has: neuralforecast's names, defaults and ranges.

use std::collections::BTreeMap;

use foretell_models::Category;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

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

/// Those that only models have that embed categorical columns.
pub(crate) const CATEGORICAL: [&str; 3] = ["cat_exog_list", "categorical_cardinalities", "cat_emb_dim"];

/// That of models whose windows hold all series.
pub(crate) const MULTIVARIATE: &str = "n_series";

/// The hyper-parameters that every model has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Common {
    pub(crate) h: usize,
    pub(crate) input_size: i64,
    pub(crate) n_series: Option<usize>,
    pub(crate) futr_exog_list: Option<Vec<String>>,
    pub(crate) hist_exog_list: Option<Vec<String>>,
    pub(crate) stat_exog_list: Option<Vec<String>>,
    pub(crate) cat_exog_list: Option<Vec<String>>,
    pub(crate) categorical_cardinalities: Option<BTreeMap<String, usize>>,
    pub(crate) cat_emb_dim: Value,
    pub(crate) exclude_insample_y: bool,
    pub(crate) loss: Value,
    pub(crate) valid_loss: Value,
    pub(crate) max_steps: u64,
    pub(crate) learning_rate: f64,
    pub(crate) num_lr_decays: i64,
    pub(crate) optimizer: Option<String>,
    pub(crate) optimizer_kwargs: Option<Map<String, Value>>,
    pub(crate) lr_scheduler: Option<String>,
    pub(crate) lr_scheduler_kwargs: Option<Map<String, Value>>,
    pub(crate) gradient_clip_val: Option<f64>,
    pub(crate) gradient_clip_algorithm: Option<String>,
    pub(crate) early_stop_patience_steps: i64,
    pub(crate) val_monitor: String,
    pub(crate) val_check_steps: u64,
    pub(crate) batch_size: usize,
    pub(crate) valid_batch_size: Option<usize>,
    pub(crate) windows_batch_size: Option<usize>,
    pub(crate) inference_windows_batch_size: Option<i64>,
    pub(crate) start_padding_enabled: bool,
    pub(crate) training_data_availability_threshold: Threshold,
    pub(crate) step_size: usize,
    pub(crate) scaler_type: Option<String>,
    pub(crate) random_seed: u64,
    pub(crate) drop_last_loader: bool,
    pub(crate) alias: Option<String>,
}

/// The share of a window that must hold values: one for history and horizon, or one for each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
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

impl Default for Common {
    fn default() -> Self {
        Self {
            h: 1,
            input_size: -1,
            n_series: None,
            futr_exog_list: None,
            hist_exog_list: None,
            stat_exog_list: None,
            cat_exog_list: None,
            categorical_cardinalities: None,
            cat_emb_dim: json!("fastai"),
            exclude_insample_y: false,
            loss: json!("MAE"),
            valid_loss: Value::Null,
            max_steps: 1000,
            learning_rate: 1e-3,
            num_lr_decays: -1,
            optimizer: None,
            optimizer_kwargs: None,
            lr_scheduler: None,
            lr_scheduler_kwargs: None,
            gradient_clip_val: None,
            gradient_clip_algorithm: None,
            early_stop_patience_steps: -1,
            val_monitor: "ptl/val_loss".to_owned(),
            val_check_steps: 100,
            batch_size: 32,
            valid_batch_size: None,
            windows_batch_size: Some(1024),
            inference_windows_batch_size: Some(1024),
            start_padding_enabled: false,
            training_data_availability_threshold: Threshold::Both(0.0),
            step_size: 1,
            scaler_type: Some("identity".to_owned()),
            random_seed: 1,
            drop_last_loader: false,
            alias: None,
        }
    }
}

impl Common {
    pub(crate) fn to_map(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(map)) => map,
            _ => unreachable!("hyper-parameters are a JSON object"),
        }
    }

    /// The first rule that is broken: the name and what it must be.
    pub(crate) fn broken_rule(&self) -> Option<(&'static str, &'static str)> {
        let share = |share: f64| (0.0..=1.0).contains(&share);
        let count = |count: usize| (1..=MAX_WINDOWS).contains(&count);
        let optional = |number: Option<usize>| number.is_none_or(count);
        let alias =
            |alias: &str| !alias.is_empty() && !alias.contains(['/', '\\', '\0']) && !alias.starts_with('.');
        let inference = |size: i64| size < 0 || usize::try_from(size).is_ok_and(count);
        let cardinalities = self.categorical_cardinalities.iter().flat_map(BTreeMap::values);
        let width = Category::width(&self.cat_emb_dim, 1);
        let rules = [
            ("h", (1..=MAX_STEPS).contains(&self.h), "between 1 and 1000000"),
            (
                "input_size",
                self.input_size == -1 || (1..=MAX_STEPS as i64).contains(&self.input_size),
                "between 1 and 1000000, or -1 for 3 * h",
            ),
            (
                "n_series",
                self.n_series.is_none_or(|series| (1..=MAX_SERIES).contains(&series)),
                "between 1 and 1000000, or null for as many as the training data have",
            ),
            (
                "categorical_cardinalities",
                cardinalities.into_iter().all(|count| (1..=MAX_CATEGORIES).contains(count)),
                "numbers between 1 and 16777216",
            ),
            (
                "cat_emb_dim",
                width.is_some_and(|width| width <= MAX_WIDTH),
                "\"fastai\", \"sqrt\", \"half\", or a number between 1 and 10000",
            ),
            ("max_steps", self.max_steps > 0, "at least 1"),
            ("learning_rate", self.learning_rate > 0.0 && self.learning_rate.is_finite(), "above 0"),
            (
                "gradient_clip_val",
                self.gradient_clip_val.is_none_or(|most| most >= 0.0 && most.is_finite()),
                "at least 0, which bounds nothing, or null",
            ),
            (
                "gradient_clip_algorithm",
                self.gradient_clip_algorithm.as_deref().is_none_or(|how| ["norm", "value"].contains(&how)),
                "\"norm\", \"value\", or null for norm",
            ),
            ("val_check_steps", self.val_check_steps > 0, "at least 1"),
            ("batch_size", self.batch_size > 0, "at least 1"),
            ("valid_batch_size", self.valid_batch_size != Some(0), "at least 1, or null for batch_size"),
            (
                "windows_batch_size",
                optional(self.windows_batch_size),
                "between 1 and 1000000, or null for all windows",
            ),
            (
                "inference_windows_batch_size",
                self.inference_windows_batch_size.is_none_or(inference),
                "between 1 and 1000000, -1 for all windows, or null for windows_batch_size",
            ),
            ("step_size", (1..=MAX_STEPS).contains(&self.step_size), "between 1 and 1000000"),
            ("random_seed", self.random_seed <= u64::from(u32::MAX), "below 4294967296"),
            (
                "alias",
                self.alias.as_deref().is_none_or(alias),
                "a name fit for a file: not empty, without slashes, not starting with a dot",
            ),
            (
                "training_data_availability_threshold",
                self.training_data_availability_threshold.each().into_iter().all(share),
                "between 0 and 1, or a list of two such numbers",
            ),
            (
                "val_monitor",
                ["ptl/val_loss", "valid_loss"].contains(&self.val_monitor.as_str()),
                "\"ptl/val_loss\" or \"valid_loss\", which are the same here",
            ),
        ];
        rules.into_iter().find(|(_, holds, _)| !holds).map(|(name, _, expected)| (name, expected))
    }
}
