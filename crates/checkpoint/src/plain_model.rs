//! Models that neuralforecast does not have and that are no networks: what they have learned is a few lists of numbers.
//!
//! They stand in an entry of the configuration, which neuralforecast passes over: it loads the networks of the directory.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A model that is no network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlainModel {
    /// The name its forecasts carry.
    pub alias: String,
    /// What it is: "SeasonalNaive", ...
    pub class: String,
    /// Its place among all models of the directory.
    pub place: usize,
    /// Its hyper-parameters.
    pub hyper_parameters: Map<String, Value>,
    /// What it has learned, by name; NaN is null in the file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", with = "numbers")]
    pub learned: BTreeMap<String, Vec<f64>>,
}

/// The entry of the configuration.
pub(crate) const ENTRY: &str = "foretell_models";

mod numbers {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        all: &BTreeMap<String, Vec<f64>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let of = |values: &Vec<f64>| values.iter().map(|x| (!x.is_nan()).then_some(*x)).collect::<Vec<_>>();
        all.iter().map(|(name, values)| (name, of(values))).collect::<BTreeMap<_, _>>().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<String, Vec<f64>>, D::Error> {
        let all = BTreeMap::<String, Vec<Option<f64>>>::deserialize(deserializer)?;
        let of = |values: Vec<Option<f64>>| values.into_iter().map(|x| x.unwrap_or(f64::NAN)).collect();
        Ok(all.into_iter().map(|(name, values)| (name, of(values))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_learned_is_read_as_it_was_written() {
        let learned = BTreeMap::from([("level".to_owned(), vec![0.1, f64::NAN, -3.0])]);
        let hyper_parameters = Map::from_iter([("h".to_owned(), 3.into())]);
        let model =
            PlainModel { alias: "a".into(), class: "ETS".into(), place: 1, hyper_parameters, learned };
        let text = serde_json::to_string(&model).expect("text");
        let again: PlainModel = serde_json::from_str(&text).expect("a model");
        assert!(again.learned["level"][1].is_nan());
        assert_eq!(
            (again.learned["level"][0], again.place, &again.hyper_parameters),
            (0.1, 1, &model.hyper_parameters)
        );
        let nothing = PlainModel { learned: BTreeMap::new(), ..again };
        let text = serde_json::to_string(&nothing).expect("text");
        assert_eq!(serde_json::from_str::<PlainModel>(&text).expect("a model"), nothing);
    }
}
