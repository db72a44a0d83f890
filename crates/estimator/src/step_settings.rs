//! How the steps of a training are computed.

use std::fmt;

use foretell_amp::Precision;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How the steps of a training are computed, whatever is trained: an estimator that is made of others hands it on to them
/// ([`Run::steps_as`](crate::Run::steps_as)), and one that takes no steps passes it over.
///
/// ```
/// use foretell_estimator::{Precision, StepSettings};
///
/// let step = StepSettings { precision: Precision::Bf16, low_memory: true };
/// assert_eq!(step.to_string(), "bf16, in low memory");
/// assert_eq!(StepSettings::default().to_string(), "f32");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StepSettings {
    /// The type that the operands of products are rounded to: `f32`, the default, not at all. Everything else is `f32`.
    pub precision: Precision,
    /// Whether a step takes the least memory in place of the least time.
    pub low_memory: bool,
}

impl StepSettings {
    /// Those that are not the default, by their names.
    pub fn changed(self) -> Map<String, Value> {
        let map = |settings: Self| match serde_json::to_value(settings) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        };
        let usual = map(Self::default());
        map(self).into_iter().filter(|(name, value)| usual.get(name) != Some(value)).collect()
    }
}

/// As a report has it behind "in".
impl fmt::Display for StepSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { precision, low_memory } = self;
        write!(f, "{precision}{}", if *low_memory { ", in low memory" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_is_not_the_default_is_told_of_a_training() {
        let changed = |precision, low_memory| Value::Object(StepSettings { precision, low_memory }.changed());
        assert_eq!(changed(Precision::F32, false), json!({}));
        assert_eq!(changed(Precision::Bf16, false), json!({ "precision": "bf16" }));
        assert_eq!(changed(Precision::F32, true), json!({ "low_memory": true }));
    }
}
