//! Hyper-parameters by name: what each means, and what it may be.

use foretell_estimator::hyper::{self, HyperParameter, RefusedHyperParameter};
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

const TABLE: &[HyperParameter<FlairSettings>] = &[
    HyperParameter {
        name: "h",
        meaning: "Steps to forecast.",
        expected: hyper::STEPS,
        get: |s| s.h.into(),
        set: |s, value| {
            s.h = hyper::steps(value)?;
            Some(())
        },
    },
    HyperParameter {
        name: "season_length",
        meaning: "Steps of a season, or a list such as [24, 168] of which each series has the one that explains it best, or none; \
                  null for those of the calendar.",
        expected: "a whole number between 1 and 1000000, a list of such, or null",
        get: |s| if s.season_length.is_empty() { Value::Null } else { s.season_length.clone().into() },
        set: |s, value| {
            s.season_length = match value {
                Value::Null => Vec::new(),
                Value::Array(seasons) => seasons.iter().map(hyper::steps).collect::<Option<_>>()?,
                season => vec![hyper::steps(season)?],
            };
            Some(())
        },
    },
    HyperParameter {
        name: "futr_exog_list",
        meaning: "Columns known in advance that the level depends on.",
        expected: "a list of names of columns",
        get: |s| s.futr_exog_list.clone().into(),
        set: |s, value| {
            let names = value.as_array()?.iter().map(|name| name.as_str().map(str::to_owned));
            s.futr_exog_list = names.collect::<Option<_>>()?;
            Some(())
        },
    },
    HyperParameter {
        name: "n_samples",
        meaning: "Paths of each forecast: the point forecast is their median, quantiles are theirs.",
        expected: hyper::STEPS,
        get: |s| s.n_samples.into(),
        set: |s, value| {
            s.n_samples = hyper::steps(value)?;
            Some(())
        },
    },
    HyperParameter {
        name: "random_seed",
        meaning: "What the paths are drawn by.",
        expected: "a whole number of at least 0",
        get: |s| s.random_seed.into(),
        set: |s, value| {
            s.random_seed = value.as_u64()?;
            Some(())
        },
    },
    HyperParameter {
        name: "alias",
        meaning: "The name of the model's column in forecasts; null for the model's own.",
        expected: hyper::ALIAS,
        get: |s| s.alias.clone().into(),
        set: |s, value| {
            s.alias = hyper::alias(value)?;
            Some(())
        },
    },
];

/// The meaning of the hyper-parameter of this name.
pub(crate) fn meaning(name: &str) -> Option<&'static str> {
    HyperParameter::find(TABLE, name).map(|known| known.meaning)
}

impl FlairSettings {
    /// All by name.
    pub(crate) fn table(&self) -> Map<String, Value> {
        TABLE.iter().map(|known| (known.name.to_owned(), (known.get)(self))).collect()
    }

    /// The settings with another value of this hyper-parameter; null is its default.
    pub(crate) fn with(&self, name: &str, value: &Value) -> Result<Self, RefusedHyperParameter> {
        let Some(known) = HyperParameter::find(TABLE, name) else {
            return Err(RefusedHyperParameter::unknown("FLAIR", name, TABLE.iter().map(|known| known.name)));
        };
        let default = if value.is_null() { (known.get)(&Self::default()) } else { value.clone() };
        let mut settings = self.clone();
        let refuse = || RefusedHyperParameter::value("FLAIR", name, known.expected, value);
        (known.set)(&mut settings, &default).ok_or_else(refuse)?;
        Ok(settings)
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
