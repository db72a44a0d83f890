//! Errors of arguments of models, in the words of Python.

use foretell::HyperParameterError;

/// Why a model refuses a value.
pub(crate) fn wrong_argument(error: &HyperParameterError) -> String {
    let HyperParameterError { model, name, expected, found, .. } = error;
    let model = model.map(|model| format!("{model}: ")).unwrap_or_default();
    format!("{model}hyper-parameter {name} must be {}, found {}", of_type(expected), value(found))
}

/// What was expected, with values as Python writes them.
fn of_type(expected: &str) -> String {
    let expected = expected.replace("true or false", "True or False").replace(" null ", " None ");
    match expected.split_once("like its default ") {
        Some((kind, default)) => format!("{kind}like its default {}", value(default)),
        None => expected,
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
