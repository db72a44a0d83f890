//! What an automatic forecast is told.

use foretell::own_estimator::hyper::{self, HyperParameter, RefusedHyperParameter};
use foretell::own_estimator::hyper_field;
use foretell::{Map, Value};
use serde_json::json;

use crate::board::AUTO;
use crate::budget::Budget;
use crate::loss::Criterion;
use crate::wanted::Wanted;

/// What an automatic forecast is told: its hyper-parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) h: usize,
    pub(crate) alias: Option<String>,
    /// The seasons, the main one first; none for those that are found.
    pub(crate) seasons: Vec<usize>,
    /// The models to try; nothing for those that suit the panel.
    pub(crate) models: Option<Vec<Wanted>>,
    pub(crate) budget: Budget,
    pub(crate) criterion: Criterion,
    /// Whether models are combined; else the best one forecasts alone.
    pub(crate) ensemble: bool,
    /// Whether forecasts of what was never below zero may be.
    pub(crate) below_zero: bool,
    pub(crate) hist: Vec<String>,
    pub(crate) futr: Vec<String>,
    pub(crate) stat: Vec<String>,
    pub(crate) cat: Vec<String>,
}

/// What lists of columns may be, in words.
const NAMES: &str = "a list of names";

#[rustfmt::skip]
const TABLE: &[HyperParameter<Settings>] = &[
    hyper_field!("h", "Steps to forecast.", hyper::STEPS, hyper::steps, h),
    hyper_field!("alias", "The name of the column in forecasts; null for Auto.",
        hyper::ALIAS, hyper::alias, alias),
    hyper_field!("season_length", "Steps of the seasons, the main one first, or of the only one; null to find them in the data.",
        hyper::SEASONS, hyper::seasons => hyper::seasons_value, seasons),
    HyperParameter {
        name: "models",
        meaning: "The models to try, by their names or with hyper-parameters; null for those that suit the data.",
        expected: "a list of names of models, or of models with all hyper-parameters",
        get: |s| json!(s.models),
        set: |s, value| hyper::store(&mut s.models, hyper::or_null(value, Wanted::list)),
    },
    HyperParameter {
        name: "budget",
        meaning: "Time for all of the work, as 30s or 2m, or steps of networks, as 600steps; 0 for what needs no training.",
        expected: "0, 30s, 2m, 1h or 600steps",
        get: |s| s.budget.to_string().into(),
        set: |s, value| {
            // A number is one of seconds.
            let written = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            hyper::store(&mut s.budget, written.parse().ok())
        },
    },
    HyperParameter {
        name: "metric",
        meaning: "What weights are chosen by.",
        expected: Criterion::EXPECTED,
        get: |s| s.criterion.name().into(),
        set: |s, value| hyper::store(&mut s.criterion, value.as_str().and_then(|name| name.parse().ok())),
    },
    hyper_field!("ensemble", "Whether models are combined; else the best one forecasts alone.",
        "true or false", Value::as_bool, ensemble),
    hyper_field!("below_zero", "Whether forecasts of a series may be below zero although none of its values is; else they stop there.",
        "true or false", Value::as_bool, below_zero),
    hyper_field!("hist_exog_list", "Columns known for the past only.", NAMES, texts, hist),
    hyper_field!("futr_exog_list", "Columns known for past and future.", NAMES, texts, futr),
    hyper_field!("stat_exog_list", "Static columns.", NAMES, texts, stat),
    hyper_field!("cat_exog_list", "Those of these columns that hold categories.", NAMES, texts, cat),
];

/// Texts, or nothing.
fn texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Null => Some(Vec::new()),
        Value::Array(texts) => texts.iter().map(|text| text.as_str().map(str::to_owned)).collect(),
        Value::String(text) => Some(vec![text.clone()]),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

impl Settings {
    pub(crate) fn new(h: usize) -> Self {
        Self {
            h,
            alias: None,
            seasons: Vec::new(),
            models: None,
            budget: Budget::Quick,
            criterion: Criterion::default(),
            ensemble: true,
            below_zero: false,
            hist: Vec::new(),
            futr: Vec::new(),
            stat: Vec::new(),
            cat: Vec::new(),
        }
    }

    /// The meaning of a hyper-parameter.
    pub(crate) fn meaning(name: &str) -> Option<&'static str> {
        HyperParameter::find(TABLE, name).map(|known| known.meaning)
    }

    pub(crate) fn to_map(&self) -> Map<String, Value> {
        HyperParameter::values(TABLE, self)
    }

    pub(crate) fn set(&mut self, name: &str, value: &Value) -> Result<(), RefusedHyperParameter> {
        let Some(known) = HyperParameter::find(TABLE, name) else {
            return Err(RefusedHyperParameter::unknown(AUTO, name, TABLE.iter().map(|known| known.name)));
        };
        known.put(AUTO, self, value)
    }

    /// Whether the data have columns beside the target that members may read.
    pub(crate) fn has_columns(&self) -> bool {
        !self.futr.is_empty()
    }

    /// The columns by the names of the hyper-parameters under which models read them.
    pub(crate) fn columns(&self) -> Vec<(&'static str, Vec<String>)> {
        vec![
            ("hist_exog_list", self.hist.clone()),
            ("futr_exog_list", self.futr.clone()),
            ("stat_exog_list", self.stat.clone()),
            ("cat_exog_list", self.cat.clone()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_what_they_were_set_to() {
        let mut settings = Settings::new(1);
        for (name, value) in [
            ("h", json!(12)),
            ("alias", json!("mine")),
            ("season_length", json!([24, 168])),
            ("models", json!(["AutoETS", "NHITS"])),
            ("budget", json!("90s")),
            ("metric", json!("mase")),
            ("ensemble", json!(false)),
            ("futr_exog_list", json!(["price"])),
        ] {
            settings.set(name, &value).unwrap();
            assert_eq!(settings.to_map()[name], value, "{name}");
        }
        let mut again = Settings::new(1);
        settings.to_map().iter().for_each(|(name, value)| again.set(name, value).unwrap());
        assert_eq!(again, settings);
        settings.set("season_length", &json!(7)).unwrap();
        settings.set("budget", &json!(30)).unwrap();
        assert_eq!((settings.seasons.clone(), settings.budget.to_string()), (vec![7], "30s".to_owned()));
    }

    #[test]
    fn what_is_wrong_is_told_with_what_it_may_be() {
        let refused = |name: &str, value: Value| Settings::new(1).set(name, &value).unwrap_err().to_string();
        assert_eq!(refused("metrics", json!(1)), "Auto has no hyper-parameter metrics; did you mean metric?");
        assert!(refused("metric", json!("mse")).contains("balanced, mase"));
        assert!(refused("budget", json!("soon")).contains("30s, 2m"));
        assert!(refused("models", json!([])).contains("a list of names of models"));
        assert_eq!(refused("h", json!(0)), "Auto: h must be a whole number between 1 and 1000000, found 0");
    }
}
