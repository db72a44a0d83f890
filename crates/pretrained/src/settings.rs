//! Hyper-parameters by name: what each means, and what it may be.

use std::path::PathBuf;

use foretell_messages::nearest;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::PretrainedError;

/// The hyper-parameters of a pretrained network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PretrainedSettings {
    /// Steps to forecast.
    pub h: usize,
    /// The folder of `config.json` and `model.safetensors`.
    pub folder: Option<PathBuf>,
    /// Columns known for the past alone that the network reads, if it [reads any](crate::PretrainedNetwork::reads_columns).
    pub hist_exog_list: Vec<String>,
    /// Columns known ahead that it reads.
    pub futr_exog_list: Vec<String>,
    /// The name of the model's column; `None` for the name of the folder.
    pub alias: Option<String>,
}

impl Default for PretrainedSettings {
    fn default() -> Self {
        Self { h: 1, folder: None, hist_exog_list: Vec::new(), futr_exog_list: Vec::new(), alias: None }
    }
}

/// One of the hyper-parameters.
struct Setting {
    name: &'static str,
    meaning: &'static str,
    expected: &'static str,
    /// Whether the value is within bounds; its type is that of the setting.
    fits: fn(&PretrainedSettings) -> bool,
}

/// More steps than anything has use for.
const MOST: usize = 1_000_000;

/// Names of files of 255 bytes are what systems take.
fn fits_a_file(name: &str) -> bool {
    (1..=240).contains(&name.len()) && !name.contains(['/', '\\', '\0']) && !name.starts_with('.')
}

const COLUMNS: &str = "a list of names of columns";

const SETTINGS: &[Setting] = &[
    Setting {
        name: "h",
        meaning: "Steps to forecast.",
        expected: "a whole number between 1 and 1000000",
        fits: |s| (1..=MOST).contains(&s.h),
    },
    Setting {
        name: "folder",
        meaning: "Folder of the weights in Hugging Face's layout: config.json and model.safetensors.",
        expected: "the path of a folder",
        fits: |s| s.folder.as_ref().is_none_or(|folder| !folder.as_os_str().is_empty()),
    },
    Setting {
        name: "hist_exog_list",
        meaning: "Columns known for the past alone that the network reads.",
        expected: COLUMNS,
        fits: |_| true,
    },
    Setting {
        name: "futr_exog_list",
        meaning: "Columns known ahead that the network reads.",
        expected: COLUMNS,
        fits: |_| true,
    },
    Setting {
        name: "alias",
        meaning: "The name of the model's column in forecasts; null for the folder's name, or the model's own.",
        expected: "a name fit for a file (without slashes, not starting with a dot), or null",
        fits: |s| s.alias.as_deref().is_none_or(fits_a_file),
    },
];

/// The meaning of the hyper-parameter of this name.
pub(crate) fn meaning(name: &str) -> Option<&'static str> {
    SETTINGS.iter().find(|known| known.name == name).map(|known| known.meaning)
}

impl PretrainedSettings {
    /// All by name.
    pub(crate) fn table(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(table)) => table,
            // A path that is no UTF-8 has no JSON.
            _ => Map::from_iter([("h".to_owned(), self.h.into())]),
        }
    }

    /// The name of the folder, if it can be that of a column.
    pub(crate) fn folder_name(&self) -> Option<&str> {
        let name = self.folder.as_ref()?.file_name()?.to_str()?;
        fits_a_file(name).then_some(name)
    }

    /// The first list of columns that is not empty, by its name.
    pub(crate) fn first_columns(&self) -> Option<(&'static str, &[String])> {
        let lists = [("hist_exog_list", &self.hist_exog_list), ("futr_exog_list", &self.futr_exog_list)];
        lists.into_iter().find(|(_, columns)| !columns.is_empty()).map(|(name, columns)| (name, &columns[..]))
    }

    /// The settings with another value of this hyper-parameter of a model; null is its default.
    pub(crate) fn with(
        &self,
        model: &'static str,
        name: &str,
        value: &Value,
    ) -> Result<Self, PretrainedError> {
        let names = || SETTINGS.iter().map(|known| known.name);
        let Some(known) = SETTINGS.iter().find(|known| known.name == name) else {
            let hint = match nearest(name, names()) {
                Some(nearest) => format!("did you mean {nearest}?"),
                None => format!("it has {}", names().collect::<Vec<_>>().join(", ")),
            };
            return Err(PretrainedError::UnknownHyperParameter { model, found: name.to_owned(), hint });
        };
        let refuse = || PretrainedError::Value {
            model,
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
        let settings = PretrainedSettings::default();
        let table = settings.table();
        assert_eq!(Vec::from_iter(table.keys()), Vec::from_iter(SETTINGS.iter().map(|known| known.name)));
        for (name, value) in &table {
            assert_eq!(settings.with("Pretrained", name, value).expect("its own"), settings, "{name}");
        }
    }

    #[test]
    fn slips_are_named() {
        let slip = |name: &str, value: Value| {
            PretrainedSettings::default().with("Pretrained", name, &value).unwrap_err().to_string()
        };
        assert_eq!(
            slip("foldr", json!("x")),
            "Pretrained has no hyper-parameter foldr; did you mean folder?"
        );
        for (name, value) in
            [("h", json!(0)), ("folder", json!(7)), ("futr_exog_list", json!("x")), ("alias", json!("a/b"))]
        {
            assert!(slip(name, value.clone()).ends_with(&format!("found {value}")));
        }
    }
}
