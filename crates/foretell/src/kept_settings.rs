//! Settings that models keep in their directory and that neuralforecast has no place for.

use foretell_data::{End, SeriesLevel};
use serde::{Deserialize, Serialize};

/// Settings that neuralforecast does not have: what models keep of them, and what hosts pass on whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct OwnSettings {
    /// The common end of series that end before others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<End>,
    /// Whether forecasts below 0 become 0.
    pub non_negative: bool,
    /// Whether forecasts become whole numbers.
    pub integer: bool,
    /// Forecasts with dropout that the intervals of networks are taken from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropout: Option<usize>,
    /// Whether the intervals of ensembles are of the spread of their members.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub spread: bool,
    /// The last this many models stand beside the others for comparison, and are members of no ensemble.
    #[serde(skip_serializing_if = "is_zero")]
    pub baselines: usize,
    /// The library whose tables the data of the training were.
    #[serde(skip_serializing_if = "Option::is_none")]
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

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl OwnSettings {
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
            OwnSettings { non_negative, integer, ..OwnSettings::default() }
                .bound(SeriesLevel::default(), &mut values);
            values.map(|value| value.to_string()).join(" ")
        };
        assert_eq!(bound(true, false), "0 0 0.4 0.5 2.6 NaN 0");
        assert_eq!(bound(false, true), "-2 0 0 1 3 NaN -inf");
        assert_eq!(bound(true, true), "0 0 0 1 3 NaN 0");
        assert_eq!(bound(false, false), "-1.5 -0.2 0.4 0.5 2.6 NaN -inf");
    }
}
