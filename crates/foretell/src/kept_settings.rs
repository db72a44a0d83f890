//! Settings that models keep in their directory and that neuralforecast has no place for.

use foretell_data::{End, SeriesLevel};
use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Settings that models keep in their directory and that neuralforecast does not have.
///
/// A new one is a field, which directories have by its name; each host has it once its own list of names does. A default is not written.
/// Outside of this crate write `..KeptSettings::default()` behind the fields that are said, so that a new one breaks nothing.
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

/// Those that can be asked of any models; the others have methods of their own.
const ASKED: [&str; 4] = ["end", "integer", "non_negative", "tables"];

impl KeptSettings {
    /// These, and where they are a default, which asks for nothing, those that models keep. [`with`](Self::with) can also turn off.
    pub fn or(self, kept: Self) -> Self {
        let both: Map<_, _> = kept.written().into_iter().chain(self.written()).collect();
        serde_json::from_value(both.into()).expect("what it wrote")
    }

    /// These, with the ones that are asked by their names in place of their own: `{"integer": false}` turns off.
    ///
    /// ```
    /// use foretell::{KeptSettings, json};
    ///
    /// let kept = KeptSettings { integer: true, non_negative: true, ..KeptSettings::default() };
    /// let asked = json!({ "integer": false });
    /// let asked = asked.as_object().expect("an object");
    /// assert_eq!(kept.with(asked)?, KeptSettings { non_negative: true, ..KeptSettings::default() });
    /// assert!(kept.with(json!({ "intger": false }).as_object().expect("an object")).is_err());
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a name is of none, or of one that [intervals](crate::Forecaster::intervals) and [baselines](crate::Forecaster::baselines) set, or
    /// a value is none of its setting.
    pub fn with(self, asked: &Map<String, Value>) -> Result<Self, serde_json::Error> {
        if let Some(name) = asked.keys().find(|name| !ASKED.contains(&name.as_str())) {
            let names = ASKED.join(", ");
            return Err(serde_json::Error::custom(format_args!(
                "{name} is none that can be set; these are {names}"
            )));
        }
        let mut all = self.written();
        all.extend(asked.clone());
        serde_json::from_value(all.into())
    }

    /// Those that are no default, by their names.
    fn written(self) -> Map<String, Value> {
        match json!(self) {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    /// These, with what the models themselves are in place of their own: the baselines among them, and how their intervals are made.
    pub(crate) fn of_the_models(self, models: Self) -> Self {
        let Self { baselines, spread, dropout, .. } = models;
        Self { baselines, spread, dropout, ..self }
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
    fn what_is_asked_by_name_turns_on_and_off() {
        let kept =
            KeptSettings { integer: true, spread: true, end: Some(End::Own), ..KeptSettings::default() };
        let with = |asked: Value| kept.with(asked.as_object().expect("an object"));
        let read = |asked: Value| with(asked).expect("settings");
        assert_eq!(read(json!({})), kept);
        let changed = read(json!({ "integer": false, "end": null, "non_negative": true }));
        assert_eq!(changed, KeptSettings { non_negative: true, spread: true, ..KeptSettings::default() });
        for (wrong, name) in [(json!({ "intger": true }), "intger"), (json!({ "spread": false }), "spread")] {
            let refused = with(wrong).expect_err("no such setting").to_string();
            assert_eq!(
                refused,
                format!("{name} is none that can be set; these are end, integer, non_negative, tables")
            );
        }
        assert!(with(json!({ "integer": "yes" })).is_err());
    }

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
