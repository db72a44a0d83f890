//! Hyper-parameters on the command line: `key` for all models, `NAME.key` for those of a name, `NAME.1.key` for one.

use std::collections::HashSet;
use std::fmt;

use foretell::model_names;
use serde_json::Value;

/// The name of a hyper-parameter, and the models that it is set for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// The models' name, as the list of models has it; nothing for all models.
    pub(crate) model: Option<String>,
    /// Which of the models of that name, counted from 0 as their columns are; nothing for all of them.
    pub(crate) number: Option<usize>,
    pub(crate) name: String,
}

impl Key {
    pub(crate) fn parse(text: &str) -> Self {
        let Some((model, rest)) = text.split_once('.') else {
            return Self { model: None, number: None, name: text.to_owned() };
        };
        let (number, name) = match rest.split_once('.').map(|(number, name)| (number.parse().ok(), name)) {
            Some((Some(number), name)) => (Some(number), name),
            _ => (None, rest),
        };
        Self { model: Some(listed_name(model)), number, name: name.to_owned() }
    }

    /// Whether it is set for this model, the one with this number among those of its name.
    pub(crate) fn is_for(&self, model: &str, number: usize) -> bool {
        self.model.as_deref().is_none_or(|name| name == model) && self.number.is_none_or(|own| own == number)
    }

    /// Whether one of `keys` sets the same hyper-parameter for the same models or more.
    pub(crate) fn is_covered_by(&self, keys: &HashSet<Self>) -> bool {
        let of_name = Self { number: None, ..self.clone() };
        let of_all = Self { model: None, ..of_name.clone() };
        [self, &of_name, &of_all].into_iter().any(|key| keys.contains(key))
    }

    /// How few models it is set for: the setting of fewer wins.
    pub(crate) fn rank(&self) -> usize {
        usize::from(self.model.is_some()) + usize::from(self.number.is_some())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in [self.model.clone(), self.number.map(|number| number.to_string())].iter().flatten() {
            write!(f, "{part}.")?;
        }
        f.write_str(&self.name)
    }
}

/// A value as `--set` takes it: texts have no quotation marks.
pub(crate) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The name as the list of models has it, whatever the case of its letters.
pub(crate) fn listed_name(name: &str) -> String {
    model_names().into_iter().find(|known| known.eq_ignore_ascii_case(name)).unwrap_or(name).to_owned()
}

/// A hyper-parameter and its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Setting {
    pub(crate) key: Key,
    pub(crate) value: Value,
}

/// Reads the value of `--set`.
pub(crate) fn setting(text: &str) -> Result<Setting, String> {
    let setting = any_setting(text)?;
    if setting.key.name == "h" {
        return Err("the horizon is set by --h, for all models".to_owned());
    }
    Ok(setting)
}

/// As [`setting`], and also of a horizon.
pub(crate) fn any_setting(text: &str) -> Result<Setting, String> {
    let (key, value) = text.split_once('=').ok_or("write it as key=JSON, for example max_steps=500")?;
    let key = Key::parse(key);
    let value = match serde_json::from_str(value) {
        Ok(value) => value,
        // The one who opens a bracket or a quotation mark meant JSON.
        Err(error) if value.starts_with(['{', '[', '"']) => return Err(format!("no valid JSON: {error}")),
        Err(_) => Value::from(value),
    };
    Ok(Setting { key, value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn settings_are_json_or_text() {
        let read =
            |text: &str| setting(text).map(|Setting { key, value }| (key.model, key.number, key.name, value));
        let name = |name: &str| name.to_owned();
        assert_eq!(read("max_steps=500"), Ok((None, None, name("max_steps"), json!(500))));
        assert_eq!(read("scaler_type=standard"), Ok((None, None, name("scaler_type"), json!("standard"))));
        assert_eq!(read("scaler_type=\"robust\""), Ok((None, None, name("scaler_type"), json!("robust"))));
        assert_eq!(read("alias=a=b"), Ok((None, None, name("alias"), json!("a=b"))));
        let loss = json!({ "MQLoss": { "level": [80, 90] } });
        let parsed = read("nhits.loss={\"MQLoss\":{\"level\":[80,90]}}");
        assert_eq!(parsed, Ok((Some(name("NHITS")), None, name("loss"), loss)));
        let parsed = read("Nhits.1.max_steps=5");
        assert_eq!(parsed, Ok((Some(name("NHITS")), Some(1), name("max_steps"), json!(5))));
    }

    #[test]
    fn refused_settings_say_why() {
        assert!(setting("max_steps").unwrap_err().contains("key=JSON"));
        assert!(setting("h=3").unwrap_err().contains("--h"));
        assert!(setting("NHITS.1.h=3").unwrap_err().contains("--h"));
        assert!(setting("n_blocks=[1,1").unwrap_err().contains("no valid JSON"));
    }

    #[test]
    fn what_is_said_of_fewer_models_is_covered_by_what_is_said_of_more() {
        let key = Key::parse;
        let keys: HashSet<Key> = ["a", "MLP.b", "NHITS.1.c"].map(key).into();
        for covered in ["a", "MLP.a", "MLP.2.a", "mlp.b", "MLP.0.b", "nhits.1.c"] {
            assert!(key(covered).is_covered_by(&keys), "{covered}");
        }
        for other in ["b", "NHITS.b", "NHITS.c", "NHITS.0.c", "c"] {
            assert!(!key(other).is_covered_by(&keys), "{other}");
        }
        assert_eq!(["a", "mlp.b", "MLP.1.c"].map(|text| key(text).to_string()), ["a", "MLP.b", "MLP.1.c"]);
    }
}
