//! Hyper-parameters by name, as tables.

use foretell_data::nearest;
use serde_json::{Map, Value};

use crate::error::ClassicalError;

/// A hyper-parameter of an estimator of type `E`.
pub(crate) struct HyperParameter<E> {
    pub(crate) name: &'static str,
    pub(crate) meaning: &'static str,
    /// What it may be, in words.
    pub(crate) expected: &'static str,
    pub(crate) get: fn(&E) -> Value,
    /// Sets it; nothing if it cannot have that value.
    pub(crate) set: fn(&mut E, &Value) -> Option<()>,
}

/// Steps of a horizon or a season: more than any calendar has use for.
const MAX_STEPS: u64 = 1_000_000;

pub(crate) const STEPS: &str = "a whole number between 1 and 1000000";

/// A number of steps.
pub(crate) fn steps(value: &Value) -> Option<usize> {
    value.as_u64().filter(|steps| (1..=MAX_STEPS).contains(steps)).map(|steps| steps as usize)
}

pub(crate) const ALIAS: &str = "a name fit for a file (without slashes, not starting with a dot), or null";

/// The name of a column, or null.
pub(crate) fn alias(value: &Value) -> Option<Option<String>> {
    if value.is_null() {
        return Some(None);
    }
    // Systems take names of 255 bytes.
    let fits = |name: &&str| {
        (1..=240).contains(&name.len()) && !name.contains(['/', '\\', '\0']) && !name.starts_with('.')
    };
    value.as_str().filter(fits).map(|name| Some(name.to_owned()))
}

pub(crate) fn set<E>(
    estimator: &mut E,
    model: &'static str,
    table: &[HyperParameter<E>],
    name: &str,
    value: &Value,
) -> Result<(), ClassicalError> {
    let Some(known) = table.iter().find(|known| known.name == name) else {
        let names = || table.iter().map(|known| known.name);
        let hint = match nearest(name, names()) {
            Some(nearest) => format!("did you mean {nearest}?"),
            None => format!("it has {}", names().collect::<Vec<_>>().join(", ")),
        };
        return Err(ClassicalError::UnknownHyperParameter { model, found: name.to_owned(), hint });
    };
    let (expected, found) = (known.expected, value.to_string());
    let refused = || ClassicalError::Value { model, name: name.to_owned(), expected, found };
    (known.set)(estimator, value).ok_or_else(refused)
}

pub(crate) fn all<E>(estimator: &E, table: &[HyperParameter<E>]) -> Map<String, Value> {
    table.iter().map(|known| (known.name.to_owned(), (known.get)(estimator))).collect()
}

pub(crate) fn meaning<E>(table: &[HyperParameter<E>], name: &str) -> Option<&'static str> {
    table.iter().find(|known| known.name == name).map(|known| known.meaning)
}
