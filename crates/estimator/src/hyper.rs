//! What hyper-parameters of all estimators have in common: tables of them, and values that many may have.

use foretell_messages::nearest;
use serde_json::{Map, Value};

use crate::error::EstimatorError;

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
    /// Sets it; of a value that it cannot have the reason, where there is more to say than what is expected.
    pub set: fn(&mut S, &Value) -> Result<(), Option<String>>,
}

impl<S> HyperParameter<S> {
    /// The line of this name.
    pub fn find<'t>(table: &'t [Self], name: &str) -> Option<&'t Self> {
        table.iter().find(|known| known.name == name)
    }

    /// All of some settings by name.
    pub fn values(table: &[Self], settings: &S) -> Map<String, Value> {
        table.iter().map(|known| (known.name.to_owned(), (known.get)(settings))).collect()
    }

    /// Sets it in the settings of a model.
    ///
    /// # Errors
    /// If it cannot have that value.
    pub fn put(
        &self,
        model: &'static str,
        settings: &mut S,
        value: &Value,
    ) -> Result<(), RefusedHyperParameter> {
        (self.set)(settings, value).map_err(|reason| RefusedHyperParameter::Value {
            model,
            name: self.name.to_owned(),
            expected: self.expected,
            found: value.to_string(),
            reason: reason.map_or_else(String::new, |reason| format!(" ({reason})")),
        })
    }
}

impl<S: Clone + Default> HyperParameter<S> {
    /// The settings of a model with another value of the hyper-parameter of this name; null is its default.
    ///
    /// # Errors
    /// If there is none of that name, or it cannot have that value.
    pub fn changed(
        table: &[Self],
        model: &'static str,
        settings: &S,
        name: &str,
        value: &Value,
    ) -> Result<S, RefusedHyperParameter> {
        let Some(known) = Self::find(table, name) else {
            return Err(RefusedHyperParameter::unknown(model, name, table.iter().map(|known| known.name)));
        };
        let default = || (known.get)(&S::default());
        let mut settings = settings.clone();
        known.put(model, &mut settings, &if value.is_null() { default() } else { value.clone() })?;
        Ok(settings)
    }
}

/// Sets a field to what was read; a value that could not be read needs no reason beside what is expected.
///
/// # Errors
/// If nothing was read.
pub fn store<T>(field: &mut T, read: Option<T>) -> Result<(), Option<String>> {
    *field = read.ok_or(None)?;
    Ok(())
}

/// A [`HyperParameter`] that is a field of its settings: its name, its meaning, the values that are allowed in words, the function that
/// reads one of these from a JSON value, behind `=>` the function that writes it where that is not `Value::from`, and the field.
#[macro_export]
macro_rules! hyper_field {
    ($name:literal, $meaning:literal, $expected:expr, $read:expr => $write:expr, $($field:tt)+) => {
        $crate::hyper::HyperParameter {
            name: $name,
            meaning: $meaning,
            expected: $expected,
            get: |settings| $write(&settings.$($field)+),
            set: |settings, value| $crate::hyper::store(&mut settings.$($field)+, $read(value)),
        }
    };
    ($name:literal, $meaning:literal, $expected:expr, $read:expr, $($field:tt)+) => {
        $crate::hyper::HyperParameter {
            name: $name,
            meaning: $meaning,
            expected: $expected,
            get: |settings| settings.$($field)+.clone().into(),
            set: |settings, value| $crate::hyper::store(&mut settings.$($field)+, $read(value)),
        }
    };
}

/// What to say of a name that is none of these: the one that was probably meant, or all.
pub fn hint<'n>(found: &str, known: impl Iterator<Item = &'n str> + Clone) -> String {
    match nearest(found, known.clone()) {
        Some(nearest) => format!("did you mean {nearest}?"),
        None => format!("it has {}", known.collect::<Vec<_>>().join(", ")),
    }
}

/// A hyper-parameter that a model has not, or a value that one of them cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[non_exhaustive]
pub enum RefusedHyperParameter {
    /// No hyper-parameter of that name.
    #[error("{model} has no hyper-parameter {found}; {hint}")]
    #[strum(serialize = "unknown_hyper_parameter")]
    Unknown {
        /// The model.
        model: &'static str,
        /// The name given.
        found: String,
        /// The name that was probably meant, or the list of names.
        hint: String,
    },
    /// A value that a hyper-parameter cannot have.
    #[error("{model}: {name} must be {expected}, found {found}{reason}")]
    #[strum(serialize = "hyper_parameter_value")]
    Value {
        /// The model.
        model: &'static str,
        /// The hyper-parameter.
        name: String,
        /// The values that it may have.
        expected: &'static str,
        /// The value found, as JSON.
        found: String,
        /// The reason, in brackets; empty where there is no more to say.
        reason: String,
    },
}

impl RefusedHyperParameter {
    /// A name that is none of the known ones.
    pub fn unknown<'n>(
        model: &'static str,
        found: &str,
        known: impl Iterator<Item = &'n str> + Clone,
    ) -> Self {
        Self::Unknown { model, found: found.to_owned(), hint: hint(found, known) }
    }

    /// A value that a hyper-parameter cannot have, and what it may be.
    pub fn value(model: &'static str, name: &str, expected: &'static str, found: &Value) -> Self {
        let (name, found) = (name.to_owned(), found.to_string());
        Self::Value { model, name, expected, found, reason: String::new() }
    }

    /// The hyper-parameter.
    pub fn name(&self) -> &str {
        match self {
            Self::Unknown { found: name, .. } | Self::Value { name, .. } => name,
        }
    }
}

impl From<RefusedHyperParameter> for EstimatorError {
    fn from(error: RefusedHyperParameter) -> Self {
        Self::Usage(Box::new(error))
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

/// A value that may be null, and otherwise is read by `read`.
pub fn or_null<T>(value: &Value, read: impl FnOnce(&Value) -> Option<T>) -> Option<Option<T>> {
    if value.is_null() { Some(None) } else { read(value).map(Some) }
}

/// What [`seasons`] takes, in words.
pub const SEASONS: &str = "a whole number between 1 and 1000000, a list of such, or null";

/// The steps of several seasons, of one or of none, from a value.
pub fn seasons(value: &Value) -> Option<Vec<usize>> {
    match value {
        Value::Null => Some(Vec::new()),
        Value::Array(seasons) => seasons.iter().map(steps).collect(),
        season => Some(vec![steps(season)?]),
    }
}

/// The steps of several seasons, of one or of none, as a value: null for none.
pub fn seasons_value(seasons: &[usize]) -> Value {
    if seasons.is_empty() { Value::Null } else { seasons.into() }
}

/// What [`columns`] takes, in words.
pub const COLUMNS: &str = "a list of names of columns";

/// The names of columns.
pub fn columns(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect()
}

/// What [`alias`] takes, in words.
pub const ALIAS: &str = "a name fit for a file (without slashes, not starting with a dot), or null";

/// Whether a name may be that of a file: systems take 255 bytes, of which `_99.safetensors` needs 15.
pub fn fits_a_file(name: &str) -> bool {
    (1..=240).contains(&name.len()) && !name.contains(['/', '\\', '\0']) && !name.starts_with('.')
}

/// The name of a model's column, or null.
pub fn alias(value: &Value) -> Option<Option<String>> {
    or_null(value, |value| value.as_str().filter(|name| fits_a_file(name)).map(str::to_owned))
}
