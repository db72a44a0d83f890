//! The values that a search gives a hyper-parameter, in words.

use std::fmt;
use std::str::FromStr;

use foretell_search::Domain;
use serde_json::{Number, Value};

use crate::error::TuningError;

/// The values that a search gives a hyper-parameter.
///
/// ```
/// use foretell_tuning::SearchRange;
///
/// let rate: SearchRange = "loguniform:1e-4:1e-1".parse()?;
/// assert_eq!(rate, SearchRange::Uniform { low: 1e-4, high: 1e-1, log: true });
/// let steps: SearchRange = "quniform:500:1500:100".parse()?; // 500, 600, ... 1500
/// assert_eq!(steps, SearchRange::Stepped { low: 500.0, high: 1500.0, step: 100.0 });
/// let layers: SearchRange = "int:1:3".parse()?; // 1, 2, 3
/// let sizes: SearchRange = r#"[96, "h", "4h"]"#.parse()?; // 96, the horizon, four times the horizon
/// assert!("uniform:3:1".parse::<SearchRange>().is_err());
/// # Ok::<(), foretell_tuning::TuningError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum SearchRange {
    /// One of these. The texts `"h"`, `"2h"`, ... stand for the horizon, twice the horizon and so on.
    OneOf(Vec<Value>),
    /// Any number between two.
    Uniform {
        /// The least.
        low: f64,
        /// The greatest.
        high: f64,
        /// Whether the logarithm is drawn evenly.
        log: bool,
    },
    /// `low`, `low + step`, ... up to `high`.
    Stepped {
        /// The least.
        low: f64,
        /// The greatest.
        high: f64,
        /// Between neighbours.
        step: f64,
    },
}

impl SearchRange {
    /// The range that a JSON value stands for: a list, a text as [`FromStr`] reads it, or a single value.
    ///
    /// # Errors
    /// If the list is empty, or the text says no values.
    pub fn from_json(value: Value) -> Result<Self, TuningError> {
        match value {
            Value::Array(values) if !values.is_empty() => Ok(Self::OneOf(values)),
            Value::Array(_) => Err(refused("[]")),
            Value::String(text) => text.parse(),
            other => Ok(Self::OneOf(vec![other])),
        }
    }

    pub(crate) fn domain(&self) -> Domain {
        match *self {
            Self::OneOf(ref values) => Domain::Choice { count: values.len() },
            Self::Uniform { low, high, log } => Domain::Uniform { low, high, log },
            Self::Stepped { low, high, step } => Domain::Stepped { low, high, step },
        }
    }

    /// The value that a coordinate of a point stands for, for a horizon.
    pub(crate) fn value(&self, coordinate: f64, h: usize) -> Value {
        match self {
            Self::OneOf(values) => {
                let value = values[coordinate as usize].clone();
                value.as_str().and_then(horizons).map_or(value.clone(), |times| (times * h).into())
            }
            Self::Stepped { low, step, .. } if low.fract() == 0.0 && step.fract() == 0.0 => {
                (coordinate.round() as i64).into()
            }
            Self::Uniform { .. } | Self::Stepped { .. } => {
                Number::from_f64(coordinate).map_or(Value::Null, Value::Number)
            }
        }
    }
}

/// How many horizons a text such as `4h` stands for.
fn horizons(text: &str) -> Option<usize> {
    match text.strip_suffix('h')? {
        "" => Some(1),
        times => times.parse().ok().filter(|_| times.bytes().all(|byte| byte.is_ascii_digit())),
    }
}

impl FromStr for SearchRange {
    type Err = TuningError;

    fn from_str(text: &str) -> Result<Self, TuningError> {
        if text.starts_with('[') {
            let values: Value = serde_json::from_str(text).map_err(|_| refused(text))?;
            return Self::from_json(values).map_err(|_| refused(text));
        }
        let mut parts = text.split(':');
        let kind = parts.next().unwrap_or_default();
        let numbers = parts.map(|part| part.trim().parse::<f64>().ok().filter(|number| number.is_finite()));
        let numbers: Vec<f64> = numbers.collect::<Option<_>>().ok_or_else(|| refused(text))?;
        match (kind, &numbers[..]) {
            ("uniform", &[low, high]) if low <= high => Ok(Self::Uniform { low, high, log: false }),
            ("loguniform", &[low, high]) if 0.0 < low && low <= high => {
                Ok(Self::Uniform { low, high, log: true })
            }
            ("quniform", &[low, high, step]) if low <= high && step > 0.0 => {
                Ok(Self::Stepped { low, high, step })
            }
            ("int", &[low, high]) if low <= high && low.fract() == 0.0 => {
                Ok(Self::Stepped { low, high, step: 1.0 })
            }
            _ => Err(refused(text)),
        }
    }
}

fn refused(text: &str) -> TuningError {
    TuningError::RangeText { found: text.to_owned() }
}

/// As [`FromStr`] reads it.
impl fmt::Display for SearchRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OneOf(values) => write!(f, "{}", Value::from(values.clone())),
            Self::Uniform { low, high, log: false } => write!(f, "uniform:{low}:{high}"),
            Self::Uniform { low, high, log: true } => write!(f, "loguniform:{low}:{high}"),
            Self::Stepped { low, high, step } => write!(f, "quniform:{low}:{high}:{step}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_are_read_as_they_are_written() {
        for text in ["[1,\"h\",null]", "uniform:0:0.5", "loguniform:0.0001:0.1", "quniform:500:1500:100"] {
            let range: SearchRange = text.parse().unwrap();
            assert_eq!(range.to_string(), text);
        }
        let ints: SearchRange = "int:1:3".parse().unwrap();
        assert_eq!(ints.domain().count(), Some(3));
    }

    #[test]
    fn what_says_no_values_is_refused_with_examples() {
        for text in [
            "", "[]", "[1", "uniform:1", "uniform:2:1", "loguniform:0:1", "int:0.5:2", "quniform:0:1:0",
            "x:1:2", "uniform:a:1",
        ] {
            let message = text.parse::<SearchRange>().unwrap_err().to_string();
            assert!(message.contains("loguniform:1e-4:1e-1"), "{text}: {message}");
        }
    }

    #[test]
    fn values_are_of_their_kind_and_horizons_are_multiplied() {
        let value = |text: &str, at: f64| text.parse::<SearchRange>().unwrap().value(at, 24);
        assert_eq!(value("[1,\"h\",\"4h\",\"half\",-1]", 1.0), json!(24));
        assert_eq!(value("[1,\"h\",\"4h\",\"half\",-1]", 2.0), json!(96));
        assert_eq!(value("[1,\"h\",\"4h\",\"half\",-1]", 3.0), json!("half"));
        assert_eq!(value("quniform:500:1500:100", 600.0), json!(600));
        assert_eq!(value("quniform:0:1:0.5", 0.5), json!(0.5));
        assert_eq!(value("uniform:0:1", 0.25), json!(0.25));
    }
}
