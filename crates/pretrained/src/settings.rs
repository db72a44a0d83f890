//! Hyper-parameters by name: what each means, and what it may be.

use std::path::PathBuf;

use foretell_estimator::hyper::{ALIAS, COLUMNS, RefusedHyperParameter, STEPS, fits_a_file, hint};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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
    /// Static columns that name groups: series with equal values are forecast together.
    pub stat_exog_list: Vec<String>,
    /// The columns among these that hold categories.
    pub cat_exog_list: Vec<String>,
    /// Series that are forecast together, at most; 0 for no limit within the groups of static columns, and without these for each alone.
    pub cross_learning: usize,
    /// The name of the model's column; `None` for the name of the folder.
    pub alias: Option<String>,
    /// Steps of fine-tuning; 0 for unchanged weights.
    pub max_steps: u64,
    /// The highest learning rate of fine-tuning.
    pub learning_rate: f64,
    /// Series of a step.
    pub batch_size: usize,
    /// Windows of a step, drawn from its series.
    pub windows_batch_size: usize,
    /// Checks in a row without a better validation loss after which fine-tuning stops; -1 for none.
    pub early_stop_patience_steps: i64,
    /// Steps between two checks of the validation loss.
    pub val_check_steps: u64,
    /// The seed of the draws of series and windows.
    pub random_seed: u64,
}

impl Default for PretrainedSettings {
    fn default() -> Self {
        Self {
            h: 1,
            folder: None,
            hist_exog_list: Vec::new(),
            futr_exog_list: Vec::new(),
            stat_exog_list: Vec::new(),
            cat_exog_list: Vec::new(),
            cross_learning: 0,
            alias: None,
            max_steps: 0,
            learning_rate: 1e-3,
            batch_size: 32,
            windows_batch_size: 32,
            early_stop_patience_steps: -1,
            val_check_steps: 100,
            random_seed: 1,
        }
    }
}

/// The networks that a hyper-parameter is of.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    All,
    /// Those in folders.
    Folders,
    /// That in the program, which can be fine-tuned.
    Own,
}

/// One of the hyper-parameters.
struct Setting {
    name: &'static str,
    of: Of,
    meaning: &'static str,
    expected: &'static str,
    /// Whether the value is within bounds; its type is that of the setting.
    fits: fn(&PretrainedSettings) -> bool,
}

/// More steps than anything has use for.
const MOST: usize = 1_000_000;

#[rustfmt::skip]
const SETTINGS: &[Setting] = &[
    Setting { name: "h", of: Of::All, meaning: "Steps to forecast.",
        expected: STEPS, fits: |s| (1..=MOST).contains(&s.h) },
    Setting { name: "folder", of: Of::Folders, meaning: "Folder of the weights in Hugging Face's layout: config.json and model.safetensors.",
        expected: "the path of a folder", fits: |s| s.folder.as_ref().is_none_or(|folder| !folder.as_os_str().is_empty()) },
    Setting { name: "hist_exog_list", of: Of::Folders, meaning: "Columns known for the past alone that the network reads.",
        expected: COLUMNS, fits: |_| true },
    Setting { name: "futr_exog_list", of: Of::Folders, meaning: "Columns known ahead that the network reads.",
        expected: COLUMNS, fits: |_| true },
    Setting { name: "stat_exog_list", of: Of::Folders,
        meaning: "Static columns that name groups: series with equal values in all of them are forecast together, each reading the others.",
        expected: COLUMNS, fits: |_| true },
    Setting { name: "cat_exog_list", of: Of::Folders, meaning: "The columns among these that hold categories.",
        expected: COLUMNS, fits: |_| true },
    Setting { name: "cross_learning", of: Of::Folders,
        meaning: "Series that are forecast together, each reading the others, at most (Chronos-2 was trained with about 100); 0 for each alone, or for whole groups of stat_exog_list.",
        expected: "a whole number between 0 and 1000000", fits: |s| s.cross_learning <= MOST },
    Setting { name: "alias", of: Of::All, meaning: "The name of the model's column in forecasts; null for the folder's name, or the model's own.",
        expected: ALIAS, fits: |s| s.alias.as_deref().is_none_or(fits_a_file) },
    Setting { name: "max_steps", of: Of::Own, meaning: "Steps of fine-tuning on the data; 0 for the unchanged weights of the program.",
        expected: "a whole number between 0 and 1000000000", fits: |s| s.max_steps <= 1_000_000_000 },
    Setting { name: "learning_rate", of: Of::Own,
        meaning: "The highest learning rate of fine-tuning: it rises over a tenth of the steps, and falls to 0.",
        expected: "a number above 0", fits: |s| s.learning_rate > 0.0 && s.learning_rate.is_finite() },
    Setting { name: "batch_size", of: Of::Own, meaning: "Series of a step of fine-tuning.",
        expected: STEPS, fits: |s| (1..=MOST).contains(&s.batch_size) },
    Setting { name: "windows_batch_size", of: Of::Own, meaning: "Windows of a step of fine-tuning, drawn from its series.",
        expected: STEPS, fits: |s| (1..=MOST).contains(&s.windows_batch_size) },
    Setting { name: "early_stop_patience_steps", of: Of::Own,
        meaning: "Checks in a row without a better validation loss after which fine-tuning stops, with the weights of the best one; -1 for none.",
        expected: "a whole number, -1 or more", fits: |s| s.early_stop_patience_steps >= -1 },
    Setting { name: "val_check_steps", of: Of::Own, meaning: "Steps between two checks of the validation loss.",
        expected: "a whole number of at least 1", fits: |s| s.val_check_steps >= 1 },
    Setting { name: "random_seed", of: Of::Own, meaning: "The seed of the draws of series and windows.",
        expected: "a whole number of at least 0", fits: |_| true },
];

/// The meaning of the hyper-parameter of this name.
pub(crate) fn meaning(name: &str) -> Option<&'static str> {
    SETTINGS.iter().find(|known| known.name == name).map(|known| known.meaning)
}

/// The hyper-parameters of a network in a folder, or of the program's own.
fn settings(has_folder: bool) -> impl Iterator<Item = &'static Setting> + Clone {
    let other = if has_folder { Of::Own } else { Of::Folders };
    SETTINGS.iter().filter(move |known| known.of != other)
}

impl PretrainedSettings {
    /// Those of a network in a folder, or of the program's own, by name.
    pub(crate) fn table_of(&self, has_folder: bool) -> Map<String, Value> {
        let mut table = self.table();
        table.retain(|name, _| settings(has_folder).any(|known| known.name == name));
        table
    }

    /// All by name.
    fn table(&self) -> Map<String, Value> {
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

    /// The lists of columns, by name.
    fn lists(&self) -> [(&'static str, &[String]); 4] {
        [
            ("hist_exog_list", &self.hist_exog_list),
            ("futr_exog_list", &self.futr_exog_list),
            ("stat_exog_list", &self.stat_exog_list),
            ("cat_exog_list", &self.cat_exog_list),
        ]
    }

    /// The first setting that a network which reads one series has no use for, by its name.
    pub(crate) fn first_beside(&self) -> Option<(&'static str, String)> {
        let columns = self.lists().into_iter().find(|(_, columns)| !columns.is_empty());
        let columns = columns.map(|(name, columns)| (name, format!("{columns:?}")));
        columns.or_else(|| self.has_groups().then(|| ("cross_learning", self.cross_learning.to_string())))
    }

    /// Whether series are forecast together.
    pub(crate) fn has_groups(&self) -> bool {
        self.cross_learning > 1 || !self.stat_exog_list.is_empty()
    }

    /// Whether a column is read row by row.
    pub(crate) fn reads_by_row(&self, name: &String) -> bool {
        self.hist_exog_list.contains(name) || self.futr_exog_list.contains(name)
    }

    /// What is wrong with the lists of columns: the list, what it must be, and what it is.
    pub(crate) fn wrong_columns(&self) -> Option<(&'static str, &'static str, String)> {
        for (name, list) in self.lists() {
            if let Some(i) = (1..list.len()).find(|&i| list[..i].contains(&list[i])) {
                return Some((name, "each column once", format!("{} twice", list[i])));
            }
        }
        let [hist, futr, stat, cat] = self.lists().map(|(_, list)| list);
        let is_read = |column: &&String| [hist, futr, stat].iter().any(|list| list.contains(*column));
        let expected = "columns that stand in hist_exog_list, futr_exog_list or stat_exog_list as well";
        cat.iter().find(|column| !is_read(column)).map(|column| ("cat_exog_list", expected, column.clone()))
    }

    /// The settings with another value of this hyper-parameter of a model; null is its default.
    pub(crate) fn with(
        &self,
        (model, has_folder): (&'static str, bool),
        name: &str,
        value: &Value,
    ) -> Result<Self, RefusedHyperParameter> {
        let names = settings(has_folder).map(|known| known.name);
        let Some(known) = settings(has_folder).find(|known| known.name == name) else {
            let hint = match name {
                "folder" if !has_folder => "its weights are part of the program".to_owned(),
                name if !has_folder && name.ends_with("_exog_list") => "it reads no other columns".to_owned(),
                _ => hint(name, names),
            };
            return Err(RefusedHyperParameter::Unknown { model, found: name.to_owned(), hint });
        };
        let refuse = || RefusedHyperParameter::value(model, name, known.expected, value);
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
            let is_kept = |has_folder| {
                settings.with(("Pretrained", has_folder), name, value).ok() == Some(settings.clone())
            };
            assert!(is_kept(true) || is_kept(false), "{name}");
        }
    }

    #[test]
    fn slips_are_named() {
        let slip = |name: &str, value: Value| {
            PretrainedSettings::default().with(("Pretrained", true), name, &value).unwrap_err().to_string()
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
        assert_eq!(
            slip("max_steps", json!(3)),
            "Pretrained has no hyper-parameter max_steps; it has h, folder, hist_exog_list, futr_exog_list, \
             stat_exog_list, cat_exog_list, cross_learning, alias"
        );
    }

    #[test]
    fn the_networks_of_the_program_have_settings_of_fine_tuning_in_place_of_a_folder() {
        let own = ("Foretell0", false);
        let settings = PretrainedSettings::default();
        let table = settings.table_of(false);
        assert!(table.contains_key("max_steps") && !table.contains_key("folder"));
        assert_eq!(settings.with(own, "max_steps", &json!(7)).unwrap().max_steps, 7);
        let slip = |name: &str, value: Value| settings.with(own, name, &value).unwrap_err().to_string();
        assert_eq!(
            slip("folder", json!("x")),
            "Foretell0 has no hyper-parameter folder; its weights are part of the program"
        );
        for (name, value) in [
            ("max_steps", json!(-1)),
            ("learning_rate", json!(0)),
            ("windows_batch_size", json!(0)),
            ("early_stop_patience_steps", json!(-2)),
            ("val_check_steps", json!(0)),
        ] {
            assert!(slip(name, value.clone()).ends_with(&format!("found {value}")), "{name}");
        }
    }
}
