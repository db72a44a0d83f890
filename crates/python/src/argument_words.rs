//! Errors of arguments of models, in the words of Python.

use foretell::HyperParameterError;

/// Why a model refuses a value.
pub(crate) fn wrong_argument(error: &HyperParameterError) -> String {
    let HyperParameterError { model, name, expected, found, .. } = error;
    let model = model.map(|model| format!("{model}: ")).unwrap_or_default();
    format!("{model}hyper-parameter {name} must be {}, found {}", of_type(expected), value(found))
}

/// What was expected, with the type of the default in place of its name in Rust.
fn of_type(expected: &str) -> String {
    let like = expected.strip_prefix("like its default, ").and_then(|like| like.strip_suffix(')'));
    let Some((default, why)) = like.and_then(|like| like.rsplit_once(" (")) else {
        return expected.replace(" null ", " None ");
    };
    let default = value(default);
    match why.rsplit_once("expected ").map_or(why, |(_, kind)| kind) {
        "u8" | "u16" | "u32" | "u64" | "usize" => {
            format!("a whole number of at least 0, like its default {default}")
        }
        "i8" | "i16" | "i32" | "i64" | "isize" => format!("a whole number, like its default {default}"),
        "f32" | "f64" => format!("a number, like its default {default}"),
        "a boolean" => format!("True or False, like its default {default}"),
        "a string" => format!("a text, like its default {default}"),
        "a sequence" => format!("a list, like its default {default}"),
        kind => format!("like its default, {default} ({kind})"),
    }
}

/// A value of JSON as Python writes it, where that differs.
fn value(json: &str) -> &str {
    match json {
        "null" => "None",
        "true" => "True",
        "false" => "False",
        other => other,
    }
}
