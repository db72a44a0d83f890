//! Hyper-parameters by name: what each means, and what it may be.

use std::path::PathBuf;

use foretell_estimator::hyper::{
    self, ALIAS, COLUMNS, HyperParameter, RefusedHyperParameter, STEPS, alias, columns, fits_a_file, or_null,
    steps,
};
use foretell_estimator::hyper_field;
use serde_json::{Map, Value};

/// The hyper-parameters of a pretrained network.
#[derive(Clone, Debug, PartialEq)]
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

/// More steps than anything has use for.
const MOST: u64 = 1_000_000;

/// What both kinds of networks have.
const H: HyperParameter<PretrainedSettings> = hyper_field!("h", "Steps to forecast.", STEPS, steps, h);
const ALIAS_OF_COLUMN: HyperParameter<PretrainedSettings> = hyper_field!(
    "alias",
    "The name of the model's column in forecasts; null for the folder's name, or the model's own.",
    ALIAS,
    alias,
    alias
);

/// The hyper-parameters of networks in folders.
#[rustfmt::skip]
const OF_FOLDERS: &[HyperParameter<PretrainedSettings>] = &[
    H,
    HyperParameter {
        name: "folder",
        meaning: "Folder of the weights in Hugging Face's layout: config.json and model.safetensors.",
        expected: "the path of a folder",
        // A path that is no UTF-8 has no JSON.
        get: |s| s.folder.as_ref().and_then(|folder| folder.to_str()).into(),
        set: |s, value| hyper::store(&mut s.folder, or_null(value, folder)),
    },
    hyper_field!("hist_exog_list", "Columns known for the past alone that the network reads.",
        COLUMNS, columns, hist_exog_list),
    hyper_field!("futr_exog_list", "Columns known ahead that the network reads.",
        COLUMNS, columns, futr_exog_list),
    hyper_field!("stat_exog_list",
        "Static columns that name groups: series with equal values in all of them are forecast together, each reading the others.",
        COLUMNS, columns, stat_exog_list),
    hyper_field!("cat_exog_list", "The columns among these that hold categories.",
        COLUMNS, columns, cat_exog_list),
    hyper_field!("cross_learning",
        "Series that are forecast together, each reading the others, at most (Chronos-2 was trained with about 100); 0 for each alone, or for whole groups of stat_exog_list.",
        "a whole number between 0 and 1000000",
        |value: &Value| value.as_u64().filter(|series| *series <= MOST).map(|series| series as usize), cross_learning),
    ALIAS_OF_COLUMN,
];

/// The hyper-parameters of the network in the program, which can be fine-tuned.
#[rustfmt::skip]
const OF_OWN: &[HyperParameter<PretrainedSettings>] = &[
    H,
    ALIAS_OF_COLUMN,
    hyper_field!("max_steps", "Steps of fine-tuning on the data; 0 for the unchanged weights of the program.",
        "a whole number between 0 and 1000000000",
        |value: &Value| value.as_u64().filter(|steps| *steps <= 1_000_000_000), max_steps),
    hyper_field!("learning_rate",
        "The highest learning rate of fine-tuning: it rises over a tenth of the steps, and falls to 0.",
        "a number above 0", |value: &Value| value.as_f64().filter(|rate| *rate > 0.0), learning_rate),
    hyper_field!("batch_size", "Series of a step of fine-tuning.", STEPS, steps, batch_size),
    hyper_field!("windows_batch_size", "Windows of a step of fine-tuning, drawn from its series.",
        STEPS, steps, windows_batch_size),
    hyper_field!("early_stop_patience_steps",
        "Checks in a row without a better validation loss after which fine-tuning stops, with the weights of the best one; -1 for none.",
        "a whole number, -1 or more",
        |value: &Value| value.as_i64().filter(|checks| *checks >= -1), early_stop_patience_steps),
    hyper_field!("val_check_steps", "Steps between two checks of the validation loss.",
        "a whole number of at least 1", |value: &Value| value.as_u64().filter(|steps| *steps >= 1), val_check_steps),
    hyper_field!("random_seed", "The seed of the draws of series and windows.",
        "a whole number of at least 0", Value::as_u64, random_seed),
];

/// The path of a folder.
fn folder(value: &Value) -> Option<PathBuf> {
    value.as_str().filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// The hyper-parameters of a network in a folder, or of the program's own.
const fn table(has_folder: bool) -> &'static [HyperParameter<PretrainedSettings>] {
    if has_folder { OF_FOLDERS } else { OF_OWN }
}

/// The meaning of the hyper-parameter of this name.
pub(crate) fn meaning(has_folder: bool, name: &str) -> Option<&'static str> {
    HyperParameter::find(table(has_folder), name).map(|known| known.meaning)
}

impl PretrainedSettings {
    /// Those of a network in a folder, or of the program's own, by name.
    pub(crate) fn values(&self, has_folder: bool) -> Map<String, Value> {
        HyperParameter::values(table(has_folder), self)
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
        let hint = match name {
            "folder" if !has_folder => "its weights are part of the program",
            name if !has_folder && name.ends_with("_exog_list") => "it reads no other columns",
            _ => return HyperParameter::changed(table(has_folder), model, self, name, value),
        };
        Err(RefusedHyperParameter::Unknown { model, found: name.to_owned(), hint: hint.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_setting_has_a_line_and_keeps_its_default() {
        let settings = PretrainedSettings::default();
        for has_folder in [true, false] {
            for (name, value) in &settings.values(has_folder) {
                let again = settings.with(("Pretrained", has_folder), name, value);
                assert_eq!(again.as_ref(), Ok(&settings), "{name}");
            }
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
        let table = settings.values(false);
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
