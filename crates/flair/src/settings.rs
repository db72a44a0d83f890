//! Hyper-parameters by name: what each means, and what it may be.

use foretell_data::nearest;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::FlairError;

/// The hyper-parameters of FLAIR.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FlairSettings {
    /// Steps to forecast.
    pub h: usize,
    /// Steps of seasons, of which each series has the one that explains it best, or none; empty for those of the calendar
    /// ([`calendar_seasons`](foretell_data::calendar_seasons)).
    #[serde(deserialize_with = "one_or_several", serialize_with = "null_or_list")]
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

/// One number, several, or null.
#[derive(Deserialize)]
#[serde(untagged)]
enum Seasons {
    None(()),
    One(usize),
    Several(Vec<usize>),
}

fn one_or_several<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<usize>, D::Error> {
    Ok(match Seasons::deserialize(from)? {
        Seasons::None(()) => Vec::new(),
        Seasons::One(season) => vec![season],
        Seasons::Several(seasons) => seasons,
    })
}

fn null_or_list<S: serde::Serializer>(seasons: &Vec<usize>, to: S) -> Result<S::Ok, S::Error> {
    if seasons.is_empty() { to.serialize_none() } else { seasons.serialize(to) }
}

/// One of the hyper-parameters.
struct Setting {
    name: &'static str,
    meaning: &'static str,
    expected: &'static str,
    /// Whether the value is within bounds; its type is that of the setting.
    fits: fn(&FlairSettings) -> bool,
}

/// More steps or paths than anything has use for.
const MOST: usize = 1_000_000;

/// Names of files of 255 bytes are what systems take.
fn fits_a_file(name: &str) -> bool {
    (1..=240).contains(&name.len()) && !name.contains(['/', '\\', '\0']) && !name.starts_with('.')
}

const SETTINGS: &[Setting] = &[
    Setting {
        name: "h",
        meaning: "Steps to forecast.",
        expected: "a whole number between 1 and 1000000",
        fits: |s| (1..=MOST).contains(&s.h),
    },
    Setting {
        name: "season_length",
        meaning: "Steps of a season, or a list such as [24, 168] of which each series has the one that explains it best, or none; \
                  null for those of the calendar.",
        expected: "a whole number between 1 and 1000000, a list of such, or null",
        fits: |s| s.season_length.iter().all(|season| (1..=MOST).contains(season)),
    },
    Setting {
        name: "futr_exog_list",
        meaning: "Columns known in advance that the level depends on.",
        expected: "a list of names of columns",
        fits: |_| true,
    },
    Setting {
        name: "n_samples",
        meaning: "Paths of each forecast: the point forecast is their median, quantiles are theirs.",
        expected: "a whole number between 1 and 1000000",
        fits: |s| (1..=MOST).contains(&s.n_samples),
    },
    Setting {
        name: "random_seed",
        meaning: "What the paths are drawn by.",
        expected: "a whole number of at least 0",
        fits: |_| true,
    },
    Setting {
        name: "alias",
        meaning: "The name of the model's column in forecasts; null for the model's own.",
        expected: "a name fit for a file (without slashes, not starting with a dot), or null",
        fits: |s| s.alias.as_deref().is_none_or(fits_a_file),
    },
];

/// The meaning of the hyper-parameter of this name.
pub(crate) fn meaning(name: &str) -> Option<&'static str> {
    SETTINGS.iter().find(|known| known.name == name).map(|known| known.meaning)
}

impl FlairSettings {
    /// All by name.
    pub(crate) fn table(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(table)) => table,
            other => unreachable!("settings are an object, not {other:?}"),
        }
    }

    /// The settings with another value of this hyper-parameter; null is its default.
    pub(crate) fn with(&self, name: &str, value: &Value) -> Result<Self, FlairError> {
        let names = || SETTINGS.iter().map(|known| known.name);
        let Some(known) = SETTINGS.iter().find(|known| known.name == name) else {
            let hint = match nearest(name, names()) {
                Some(nearest) => format!("did you mean {nearest}?"),
                None => format!("it has {}", names().collect::<Vec<_>>().join(", ")),
            };
            return Err(FlairError::UnknownHyperParameter { found: name.to_owned(), hint });
        };
        let refuse = || FlairError::Value {
            name: name.to_owned(),
            expected: known.expected,
            found: value.to_string(),
        };
        let mut table = self.table();
        if value.is_null() {
            // What the table lacks has its default.
            table.remove(name);
        } else {
            table.insert(name.to_owned(), value.clone());
        }
        let settings: Self = serde_json::from_value(table.into()).map_err(|_| refuse())?;
        if (known.fits)(&settings) { Ok(settings) } else { Err(refuse()) }
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
        assert_eq!(Vec::from_iter(table.keys()), Vec::from_iter(SETTINGS.iter().map(|known| known.name)));
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
