//! Settings that models keep in their directory and that neuralforecast has no place for.

use foretell_data::{End, SeriesLevel};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Settings that models keep in their directory and that neuralforecast does not have.
///
/// A new one is a field: the directory, requests and Python have it by its name, since they read and write the struct whole; the command
/// line has it once its `KeptArgs` has a flag of that name. A default is not written, and means that nothing was asked.
///
/// ```
/// use foretell::KeptSettings;
///
/// let kept = KeptSettings { integer: true, ..KeptSettings::default() };
/// let asked = KeptSettings { non_negative: true, ..KeptSettings::default() };
/// assert_eq!(asked.or(kept), KeptSettings { non_negative: true, integer: true, ..KeptSettings::default() });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptSettings {
    /// What became of series that end before others ([`Panel::with_end`](foretell_data::Panel::with_end)): data to forecast are treated
    /// alike.
    #[serde(skip_serializing_if = "is_default")]
    pub end: Option<End>,
    /// Whether forecasts and interval bounds below 0 become 0.
    #[serde(skip_serializing_if = "is_default")]
    pub non_negative: bool,
    /// Whether forecasts and interval bounds are rounded to whole numbers.
    #[serde(skip_serializing_if = "is_default")]
    pub integer: bool,
    /// Forecasts with dropout that the intervals of networks are taken from.
    #[serde(skip_serializing_if = "is_default")]
    pub dropout: Option<usize>,
    /// Whether the intervals of ensembles are of the spread of their members.
    #[serde(skip_serializing_if = "is_default")]
    pub spread: bool,
    /// The last this many models are compared with the others, and are members of no ensemble.
    #[serde(skip_serializing_if = "is_default")]
    pub baselines: usize,
    /// The library whose tables the data of the training were, for hosts that have several.
    #[serde(skip_serializing_if = "is_default")]
    pub tables: Option<TableLibrary>,
}

/// A library of tables in Python: forecasts of models are tables as their data were, also after they are saved and loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TableLibrary {
    /// pandas.
    Pandas,
    /// polars.
    Polars,
    /// pyarrow, and whatever else speaks Arrow.
    Pyarrow,
}

/// Whether a value is written: a default is not.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl KeptSettings {
    /// These, and where they ask for nothing those that models keep.
    pub fn or(self, kept: Self) -> Self {
        let map = |settings: Self| match json!(settings) {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        let both: Map<_, _> = map(kept).into_iter().chain(map(self)).collect();
        serde_json::from_value(both.into()).expect("what it wrote")
    }

    /// Those that other models can have as well: without what is of these models' intervals and baselines.
    pub fn of_any_models(self) -> Self {
        Self { dropout: None, spread: false, baselines: 0, ..self }
    }

    /// Whether forecasts are rounded or bounded.
    pub(crate) fn bounds(&self) -> bool {
        self.integer || self.non_negative
    }

    /// The same, with forecasts neither rounded nor bounded.
    pub(crate) fn without_bounds(self) -> Self {
        Self { integer: false, non_negative: false, ..self }
    }

    /// A forecast rounded and bounded as the settings say. NaN stays NaN.
    pub(crate) fn bounded(&self, mut value: f64) -> f64 {
        if self.integer {
            // Without a -0.
            value = value.round() + 0.0;
        }
        if self.non_negative && value < 0.0 {
            value = 0.0;
        }
        value
    }

    /// The same of forecasts that are relative to a level.
    pub(crate) fn bound(&self, level: SeriesLevel, values: &mut [f32]) {
        if self.bounds() {
            values.iter_mut().for_each(|held| *held = level.hold(self.bounded(level.value(*held))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forecasts_are_bounded_as_was_said() {
        let bound = |non_negative: bool, integer: bool| {
            let mut values = [-1.5, -0.2, 0.4, 0.5, 2.6, f32::NAN, f32::NEG_INFINITY];
            KeptSettings { non_negative, integer, ..KeptSettings::default() }
                .bound(SeriesLevel::default(), &mut values);
            values.map(|value| value.to_string()).join(" ")
        };
        assert_eq!(bound(true, false), "0 0 0.4 0.5 2.6 NaN 0");
        assert_eq!(bound(false, true), "-2 0 0 1 3 NaN -inf");
        assert_eq!(bound(true, true), "0 0 0 1 3 NaN 0");
        assert_eq!(bound(false, false), "-1.5 -0.2 0.4 0.5 2.6 NaN -inf");
    }
}
