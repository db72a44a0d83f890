//! What an automatic forecast is told.

use foretell::own_estimator::hyper;
use foretell::{Map, Value};
use serde_json::json;

use crate::budget::Budget;
use crate::error::AutoError;
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

/// Names and meanings of the hyper-parameters.
const MEANINGS: [(&str, &str); 12] = [
    ("h", "Steps to forecast."),
    ("alias", "The name of the column in forecasts; null for Auto."),
    (
        "season_length",
        "Steps of the seasons, the main one first, or of the only one; null to find them in the data.",
    ),
    (
        "models",
        "The models to try, by their names or with hyper-parameters; null for those that suit the data.",
    ),
    (
        "budget",
        "Time for all of the work, as 30s or 2m, or steps of networks, as 600steps; 0 for what needs no training.",
    ),
    ("metric", "What weights are chosen by: balanced, mase, scaled_crps or mae."),
    ("ensemble", "Whether models are combined; else the best one forecasts alone."),
    (
        "below_zero",
        "Whether forecasts of a series may be below zero although none of its values is; else they stop there.",
    ),
    ("hist_exog_list", "Columns known for the past only."),
    ("futr_exog_list", "Columns known for past and future."),
    ("stat_exog_list", "Static columns."),
    ("cat_exog_list", "Those of these columns that hold categories."),
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
        MEANINGS.iter().find(|(known, _)| *known == name).map(|(_, meaning)| *meaning)
    }

    pub(crate) fn to_map(&self) -> Map<String, Value> {
        let list = |list: &[String]| json!(list);
        let seasons = match self.seasons.as_slice() {
            [] => Value::Null,
            seasons => json!(seasons),
        };
        let values = [
            json!(self.h),
            json!(self.alias),
            seasons,
            json!(self.models),
            json!(self.budget.to_string()),
            json!(self.criterion.name()),
            json!(self.ensemble),
            json!(self.below_zero),
            list(&self.hist),
            list(&self.futr),
            list(&self.stat),
            list(&self.cat),
        ];
        MEANINGS.iter().map(|(name, _)| (*name).to_owned()).zip(values).collect()
    }

    pub(crate) fn set(&mut self, name: &str, value: &Value) -> Result<(), AutoError> {
        let refuse =
            |expected| AutoError::Value { name: name.to_owned(), expected, found: value.to_string() };
        const NAMES: &str = "a list of names";
        const MODELS: &str = "a list of names of models, or of models with all hyper-parameters";
        match name {
            "h" => self.h = hyper::steps(value).ok_or_else(|| refuse(hyper::STEPS))?,
            "alias" => self.alias = hyper::alias(value).ok_or_else(|| refuse(hyper::ALIAS))?,
            "season_length" => {
                let seasons = match value {
                    Value::Null => Some(Vec::new()),
                    Value::Array(seasons) => seasons.iter().map(hyper::steps).collect(),
                    season => hyper::steps(season).map(|season| vec![season]),
                };
                let expected = "a whole number between 1 and 1000000, a list of such, or null";
                self.seasons = seasons.ok_or_else(|| refuse(expected))?;
            }
            "models" => {
                self.models = match value {
                    Value::Null => None,
                    value => Some(Wanted::list(value).ok_or_else(|| refuse(MODELS))?),
                };
            }
            "budget" => {
                self.budget = match value {
                    Value::String(text) => text.parse()?,
                    value => {
                        value.to_string().parse().map_err(|_| refuse("a time such as 30s, or 600steps"))?
                    }
                };
            }
            "metric" => {
                self.criterion = value
                    .as_str()
                    .unwrap_or_default()
                    .parse()
                    .map_err(|_| refuse("balanced, mase, scaled_crps or mae"))?;
            }
            "ensemble" => self.ensemble = value.as_bool().ok_or_else(|| refuse("true or false"))?,
            "below_zero" => self.below_zero = value.as_bool().ok_or_else(|| refuse("true or false"))?,
            "hist_exog_list" => self.hist = texts(value).ok_or_else(|| refuse(NAMES))?,
            "futr_exog_list" => self.futr = texts(value).ok_or_else(|| refuse(NAMES))?,
            "stat_exog_list" => self.stat = texts(value).ok_or_else(|| refuse(NAMES))?,
            "cat_exog_list" => self.cat = texts(value).ok_or_else(|| refuse(NAMES))?,
            _ => {
                let names = || MEANINGS.iter().map(|(name, _)| *name);
                let hint = hyper::hint(name, names());
                return Err(AutoError::UnknownHyperParameter { found: name.to_owned(), hint });
            }
        }
        Ok(())
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
        assert!(refused("h", json!(0)).contains("between 1 and 1000000"));
    }
}
