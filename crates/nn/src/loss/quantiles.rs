//! Quantiles as an argument, and the names of their columns.

use serde_json::{Number, Value, json};

use crate::HyperParameterError;
use crate::arguments::{Arguments, NumberRange};

/// Quantiles with the suffixes of their columns. The argument that they were written as decides order and names.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Quantiles {
    argument: Argument,
    values: Vec<f32>,
    suffixes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum Argument {
    /// Central intervals in percent, kept as written: `80` and `80.0` name different columns.
    Level(Vec<Number>),
    List(Vec<f64>),
}

impl Quantiles {
    /// The quantiles or, without them, the intervals; as in neuralforecast each counts once.
    pub(super) fn read(arguments: &mut Arguments) -> Result<Self, HyperParameterError> {
        const LEVEL: &str = "a list of percentages between 0 and 100";
        const LIST: &str = "a list of numbers between 0 and 1";
        let level = arguments.numbers("level", LEVEL, |level| 0.0 < level && level < 100.0)?;
        if let Some((list, value)) =
            arguments.numbers("quantiles", LIST, NumberRange::BETWEEN_0_AND_1.holds)?
        {
            return match list.is_empty() {
                true => Err(HyperParameterError::new("quantiles", LIST, value)),
                false => Ok(Self::listed(unique(list.iter().copied()))),
            };
        }
        let written = match &level {
            None => vec![80.into(), 90.into()],
            Some((_, value)) => {
                value.as_array().into_iter().flatten().filter_map(Value::as_number).cloned().collect()
            }
        };
        Ok(Self::of_level(written))
    }

    /// The median and the ends of central intervals, in percent, upwards.
    pub(super) fn of_level(written: Vec<Number>) -> Self {
        let mut level: Vec<(f64, Number)> = Vec::new();
        for number in written {
            let percent = number.as_f64().unwrap_or_default();
            if level.iter().all(|(known, _)| *known != percent) {
                level.push((percent, number));
            }
        }
        let ends = level.iter().flat_map(|(percent, number)| {
            [(50.0 - percent / 2.0, format!("-lo-{number}")), (50.0 + percent / 2.0, format!("-hi-{number}"))]
        });
        let mut ends: Vec<_> = ends.collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        ends.insert(0, (50.0, "-median".to_owned()));
        // The same operations in the same precision as in neuralforecast: quantiles are stored in checkpoints.
        let (values, suffixes) = ends.into_iter().map(|(q, suffix)| (q as f32 / 100.0, suffix)).unzip();
        Self {
            argument: Argument::Level(level.into_iter().map(|(_, number)| number).collect()),
            values,
            suffixes,
        }
    }

    /// The listed quantiles, in the order of the list.
    pub(super) fn listed(list: Vec<f64>) -> Self {
        let suffix = |&q: &f64| match q {
            q if q < 0.5 => format!("-lo-{:?}", round2(100.0 - 200.0 * q)),
            q if q > 0.5 => format!("-hi-{:?}", round2(100.0 - 200.0 * (1.0 - q))),
            _ => "-median".to_owned(),
        };
        let (values, suffixes) =
            (list.iter().map(|&q| q as f32).collect(), list.iter().map(suffix).collect());
        Self { argument: Argument::List(list), values, suffixes }
    }

    /// One quantile, in a column with this suffix.
    pub(super) fn one(q: f64, suffix: String) -> Self {
        Self { argument: Argument::List(vec![q]), values: vec![q as f32], suffixes: vec![suffix] }
    }

    /// Listed quantiles in ascending order; those of intervals in the order given.
    pub(super) fn sorted(self) -> Self {
        match self.argument {
            Argument::List(mut list) => {
                list.sort_by(f64::total_cmp);
                Self::listed(list)
            }
            Argument::Level(_) => self,
        }
    }

    pub(super) fn values(&self) -> &[f32] {
        &self.values
    }

    pub(super) fn suffixes(&self) -> &[String] {
        &self.suffixes
    }

    /// The constructor argument of these quantiles: its name and its value.
    pub(super) fn argument(&self) -> (&'static str, Value) {
        match &self.argument {
            Argument::Level(level) => ("level", json!(level)),
            Argument::List(list) => ("quantiles", json!(list)),
        }
    }
}

fn round2(x: f64) -> f64 {
    (x * 100.0).round_ties_even() / 100.0
}

/// The numbers without those that came before.
fn unique(list: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut unique: Vec<f64> = Vec::new();
    for x in list {
        if !unique.contains(&x) {
            unique.push(x);
        }
    }
    unique
}
