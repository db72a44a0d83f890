//! Paths within values of the file: like the paths that are values by themselves, they are relative to the file.

use std::path::Path;

use foretell::features::day_file_of;
use foretell::model_names;
use serde_json::Value;

use crate::setting::{Key, Setting, any_setting};

/// The hyper-parameters that name a file or a folder, and the models that have them.
const HYPER_PARAMETERS: [(&str, &str); 2] = [("Prophet", "holidays"), ("TimeLLM", "llm")];

/// The value of a flag, as seen from the directory of the file; why it cannot be, where it cannot.
type Relative = fn(&Path, &str) -> Result<String, String>;

/// The flags whose values may hold paths.
const FLAGS: [(&str, Relative); 4] =
    [("set", setting), ("space", setting), ("features", feature), ("model", models)];

/// The value of a flag, with the paths in it as they are seen from `home`, the directory of the file.
///
/// # Errors
/// If a path cannot be written in the value.
pub(super) fn within(home: &Path, flag: &str, text: &str) -> Result<String, String> {
    match FLAGS.iter().find(|(name, _)| *name == flag && home != Path::new("")) {
        Some((_, relative)) => relative(home, text),
        None => Ok(text.to_owned()),
    }
}

/// `key=value`: a path, or a list of them, is the value of a hyper-parameter that is one.
fn setting(home: &Path, text: &str) -> Result<String, String> {
    // What cannot be read is told when it is read.
    let Ok(Setting { key, value }) = any_setting(text) else { return Ok(text.to_owned()) };
    if !is_path(&key) {
        return Ok(text.to_owned());
    }
    let seen = |value: Value| match value {
        Value::String(path) if !path.is_empty() => joined(home, &path, &[]).map(Value::from),
        other => Ok(other),
    };
    let value = match value {
        Value::Array(values) => values.into_iter().map(seen).collect::<Result<_, _>>()?,
        other => seen(other)?,
    };
    Ok(format!("{key}={value}"))
}

fn is_path(key: &Key) -> bool {
    let is = |(model, name): &(&str, &str)| {
        key.name == *name && key.model.as_deref().is_none_or(|own| own == *model)
    };
    HYPER_PARAMETERS.iter().any(is)
}

/// Words between commas, of which `holidays:FILE` names a file.
fn feature(home: &Path, text: &str) -> Result<String, String> {
    let word = |word: &str| match day_file_of(word).zip(word.split_once(':')) {
        Some((file, (name, rest))) => {
            Ok(format!("{name}:{}", rest.replacen(file, &joined(home, file, &[',', ':'])?, 1)))
        }
        None => Ok(word.to_owned()),
    };
    Ok(text.split(',').map(word).collect::<Result<Vec<_>, String>>()?.join(","))
}

/// Models by name, or a directory of trained ones.
fn models(home: &Path, text: &str) -> Result<String, String> {
    let is_name = model_names().into_iter().any(|name| name.eq_ignore_ascii_case(text));
    if is_name || !home.join(text).is_dir() { Ok(text.to_owned()) } else { joined(home, text, &[',']) }
}

/// A path as seen from the working directory, where none of these letters may be in it.
fn joined(home: &Path, path: &str, separators: &[char]) -> Result<String, String> {
    let joined = home.join(path);
    match joined.to_str().filter(|text| !text.contains(separators)) {
        Some(text) => Ok(text.to_owned()),
        None => Err(format!(
            "holds the path {}, which cannot stand in it: it has a comma, a colon or letters beyond Unicode; rename its \
             directory, or give this flag on the command line",
            joined.display()
        )),
    }
}

#[cfg(test)]
mod tests {
    use foretell::ModelSpec;

    use super::*;

    #[test]
    fn the_hyper_parameters_are_those_of_the_models() {
        for (model, name) in HYPER_PARAMETERS {
            let spec = ModelSpec::new(model, 1, 1).unwrap();
            assert!(spec.hyper_parameters().contains_key(name), "{model} has no {name}");
        }
    }

    #[test]
    fn paths_are_seen_from_the_directory_of_the_file() {
        for (flag, text, expected) in [
            ("set", "Prophet.holidays=days.csv", r#"Prophet.holidays="home/days.csv""#),
            ("set", r#"holidays="days.csv""#, r#"holidays="home/days.csv""#),
            ("set", "Prophet.1.holidays=/days.csv", r#"Prophet.1.holidays="/days.csv""#),
            ("set", "TimeLLM.llm=gpt2", r#"TimeLLM.llm="home/gpt2""#),
            ("space", r#"TimeLLM.llm=["a","b"]"#, r#"TimeLLM.llm=["home/a","home/b"]"#),
            ("set", "TimeLLM.llm=null", "TimeLLM.llm=null"),
            ("set", r#"holidays=[{"holiday":"a"}]"#, r#"holidays=[{"holiday":"a"}]"#),
            ("set", "holidays=[{", "holidays=[{"),
            ("set", "MLP.llm=gpt2", "MLP.llm=gpt2"),
            ("set", "alias=days.csv", "alias=days.csv"),
            (
                "features",
                "lag:1,7, holidays:days.txt:1:2,weekday",
                "lag:1,7, holidays:home/days.txt:1:2,weekday",
            ),
            ("features", "holidays:days", "holidays:home/days"),
            ("features", "holidays:de:1", "holidays:de:1"),
            ("model", "nhits", "nhits"),
            ("model", "none", "none"),
            ("id-col", "days.txt", "days.txt"),
        ] {
            assert_eq!(within(Path::new("home"), flag, text).as_deref(), Ok(expected), "{flag} {text}");
            assert_eq!(within(Path::new(""), flag, text).as_deref(), Ok(text), "{flag} {text}");
        }
        let fault = within(Path::new("a,b"), "features", "holidays:days.txt").unwrap_err();
        assert!(fault.contains("the path a,b/days.txt, which cannot stand in it"), "{fault}");
    }
}
