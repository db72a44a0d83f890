//! What hyper-parameters of all estimators have in common: tables of them, and values that many may have.

use foretell_messages::nearest;
use serde_json::Value;

/// A hyper-parameter of settings of type `S`, as a line of a table.
#[derive(Debug)]
pub struct HyperParameter<S> {
    /// Its name.
    pub name: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
    /// The values that are allowed, in words.
    pub expected: &'static str,
    /// Its value.
    pub get: fn(&S) -> Value,
    /// Sets it; nothing if it cannot have that value.
    pub set: fn(&mut S, &Value) -> Option<()>,
}

impl<S> HyperParameter<S> {
    /// The line of this name.
    pub fn find<'t>(table: &'t [Self], name: &str) -> Option<&'t Self> {
        table.iter().find(|known| known.name == name)
    }
}

/// What to say of a name that is none of these: the one that was probably meant, or all.
pub fn hint<'n>(found: &str, known: impl Iterator<Item = &'n str> + Clone) -> String {
    match nearest(found, known.clone()) {
        Some(nearest) => format!("did you mean {nearest}?"),
        None => format!("it has {}", known.collect::<Vec<_>>().join(", ")),
    }
}

/// Steps of a horizon or a season, paths of a forecast: more than anything has use for.
const MOST: u64 = 1_000_000;

/// What [`steps`] takes, in words.
pub const STEPS: &str = "a whole number between 1 and 1000000";

/// A number of steps.
pub fn steps(value: &Value) -> Option<usize> {
    value.as_u64().filter(|steps| (1..=MOST).contains(steps)).map(|steps| steps as usize)
}

/// What [`alias`] takes, in words.
pub const ALIAS: &str = "a name fit for a file (without slashes, not starting with a dot), or null";

/// Whether a name may be that of a file: systems take 255 bytes, of which `_99.safetensors` needs 15.
pub fn fits_a_file(name: &str) -> bool {
    (1..=240).contains(&name.len()) && !name.contains(['/', '\\', '\0']) && !name.starts_with('.')
}

/// The name of a model's column, or null.
pub fn alias(value: &Value) -> Option<Option<String>> {
    match value {
        Value::Null => Some(None),
        value => value.as_str().filter(|name| fits_a_file(name)).map(|name| Some(name.to_owned())),
    }
}
