//! Hyper-parameters by name: what each means, and what it may be.

use foretell_estimator::hyper::{self, HyperParameter, RefusedHyperParameter};
use foretell_estimator::hyper_field;
use serde_json::{Map, Value};

/// The hyper-parameters of FLAIR.
#[derive(Clone, Debug, PartialEq)]
pub struct FlairSettings {
    /// Steps to forecast.
    pub h: usize,
    /// Steps of seasons, of which each series has the one that explains it best, or none; empty for those of the calendar
    /// ([`calendar_seasons`](foretell_calendar::calendar_seasons)).
    pub season_length: Vec<usize>,
    /// Columns known in advance that the level depends on.
    pub futr_exog_list: Vec<String>,
    /// Paths of each forecast, of which the point forecast is the median.
    pub n_samples: usize,
    /// What the paths are drawn by.
    pub random_seed: u64,
    /// The name of the model's column; `None` for `FLAIR`.
    pub alias: Option<String>,
}

impl Default for FlairSettings {
    fn default() -> Self {
        Self {
            h: 1,
            season_length: Vec::new(),
            futr_exog_list: Vec::new(),
            n_samples: 400,
            random_seed: 1,
            alias: None,
        }
    }
}

#[rustfmt::skip]
const TABLE: &[HyperParameter<FlairSettings>] = &[
    hyper_field!("h", "Steps to forecast.", hyper::STEPS, hyper::steps, h),
    hyper_field!("season_length", "Steps of a season, or a list such as [24, 168] of which each series has the one that explains it best, \
        or none; null for those of the calendar.", hyper::SEASONS, hyper::seasons => hyper::seasons_value, season_length),
    hyper_field!("futr_exog_list", "Columns known in advance that the level depends on.",
        hyper::COLUMNS, hyper::columns, futr_exog_list),
    hyper_field!("n_samples", "Paths of each forecast: the point forecast is their median, quantiles are theirs.",
        hyper::STEPS, hyper::steps, n_samples),
    hyper_field!("random_seed", "What the paths are drawn by.",
        "a whole number of at least 0", Value::as_u64, random_seed),
    hyper_field!("alias", "The name of the model's column in forecasts; null for the model's own.",
        hyper::ALIAS, hyper::alias, alias),
];

/// The meaning of the hyper-parameter of this name.
pub(crate) fn meaning(name: &str) -> Option<&'static str> {
    HyperParameter::find(TABLE, name).map(|known| known.meaning)
}

impl FlairSettings {
    /// All by name.
    pub(crate) fn table(&self) -> Map<String, Value> {
        HyperParameter::values(TABLE, self)
    }

    /// The settings with another value of this hyper-parameter; null is its default.
    pub(crate) fn with(&self, name: &str, value: &Value) -> Result<Self, RefusedHyperParameter> {
        HyperParameter::changed(TABLE, "FLAIR", self, name, value)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_setting_has_a_line_and_keeps_its_default() {
        let settings = FlairSettings::default();
        let table = settings.table();
        for (name, value) in &table {
            assert_eq!(settings.with(name, value).as_ref(), Ok(&settings), "{name}");
            assert_eq!(settings.with(name, &Value::Null).as_ref(), Ok(&settings), "{name}");
        }
    }

    #[test]
    fn a_season_is_a_number_or_several() {
        let season = |value: Value| {
            FlairSettings::default().with("season_length", &value).map(|settings| settings.season_length)
        };
        assert_eq!(season(json!(12)), Ok(vec![12]));
        assert_eq!(season(json!([24, 168])), Ok(vec![24, 168]));
        let error = season(json!([24, 0])).unwrap_err().to_string();
        assert_eq!(
            error,
            "FLAIR: season_length must be a whole number between 1 and 1000000, a list of such, or null, found [24,0]"
        );
    }

    #[test]
    fn slips_are_named() {
        let slip =
            |name: &str, value: Value| FlairSettings::default().with(name, &value).unwrap_err().to_string();
        assert_eq!(
            slip("colour", json!(7)),
            "FLAIR has no hyper-parameter colour; it has h, season_length, futr_exog_list, n_samples, random_seed, alias"
        );
        assert!(slip("seasn_length", json!(7)).ends_with("did you mean season_length?"));
        for (name, value) in [("h", json!(0)), ("n_samples", json!(-1)), ("alias", json!("a/b"))] {
            assert!(slip(name, value.clone()).ends_with(&format!("found {value}")));
        }
    }
}
