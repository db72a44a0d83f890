//! A model that is to be tried, as settings name it.

use foretell::{ModelSpec, Value};
use serde::{Deserialize, Serialize};

/// A model that is to be tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Wanted {
    /// By its name, with the hyper-parameters that suit the panel.
    Named(String),
    /// With hyper-parameters of its own.
    Given(ModelSpec),
}

impl Wanted {
    /// The models of a list of names and of models with hyper-parameters, or of one name; nothing of what is neither or empty.
    pub(crate) fn list(value: &Value) -> Option<Vec<Self>> {
        let models: Vec<Self> = match value {
            Value::Array(models) => models
                .iter()
                .map(|model| serde_json::from_value(model.clone()).ok())
                .collect::<Option<_>>()?,
            Value::String(name) => vec![Self::Named(name.clone())],
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return None,
        };
        (!models.is_empty()).then_some(models)
    }

    /// The name of the model.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Named(name) => name,
            Self::Given(spec) => spec.name(),
        }
    }
}

#[cfg(test)]
mod tests {
    use foretell::json;

    use super::*;

    #[test]
    fn models_are_named_or_given_with_hyper_parameters() {
        let spec = ModelSpec::new("AutoETS", 3, 1).unwrap().set("season_length", 4).unwrap();
        let models = vec![Wanted::Named("MSTL".to_owned()), Wanted::Given(spec)];
        assert_eq!(Wanted::list(&json!(models)), Some(models.clone()));
        assert_eq!(models[1].name(), "AutoETS");
        assert_eq!(Wanted::list(&json!("MSTL")), Some(vec![models[0].clone()]));
        for wrong in
            [json!([]), json!(null), json!([1]), json!([{ "model": "NoSuch", "hyper_parameters": {} }])]
        {
            assert_eq!(Wanted::list(&wrong), None, "{wrong}");
        }
    }
}
