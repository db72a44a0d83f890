//! The models of a request.

use foretell::{Map, ModelSpec, Value};
use serde::Deserialize;

use crate::refusal::Refusal;

/// Models by name, or with settings: `"NHITS"`, `{"model": "NHITS", "input_size": 28, "max_steps": 100}`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct Models(Vec<Value>);

impl Models {
    /// What is trained: of `h` steps, from three times as many if nothing else is said, of a season if one is known.
    pub(crate) fn specs(
        self,
        h: Option<usize>,
        input_size: Option<usize>,
        season: Option<usize>,
    ) -> Result<Vec<ModelSpec>, Refusal> {
        if self.0.is_empty() {
            return Err(Refusal::request(
                "models",
                "no models are named; name some, as [\"AutoETS\", \"NLinear\"]",
            ));
        }
        self.0.into_iter().map(|model| spec(model, h, input_size, season)).collect()
    }
}

/// A model by name, or with settings.
pub(crate) fn spec(
    model: Value,
    h: Option<usize>,
    input_size: Option<usize>,
    season: Option<usize>,
) -> Result<ModelSpec, Refusal> {
    let mut settings = match model {
        Value::String(name) => Map::from_iter([("model".to_owned(), Value::String(name))]),
        Value::Object(settings) => settings,
        other => {
            let message = format!("a model is a name or an object with a name (model), found {other}");
            return Err(Refusal::request("models", message));
        }
    };
    let Some(Value::String(name)) = settings.remove("model") else {
        return Err(Refusal::request("models", "a model has no name; give it one, as { model: \"NHITS\" }"));
    };
    let mut size = |name: &str| -> Result<Option<usize>, Refusal> {
        let Some(value) = settings.remove(name) else { return Ok(None) };
        let size = value.as_u64().filter(|size| (1..=1_000_000).contains(size));
        let refuse =
            || Refusal::request(name, format!("{name} is a whole number from 1 to 1000000, found {value}"));
        Ok(Some(size.ok_or_else(refuse)? as usize))
    };
    let (own_h, own_input) = (size("h")?, size("input_size")?);
    let h = own_h
        .or(h)
        .ok_or_else(|| Refusal::request("h", "h is missing: how many steps to forecast, as { h: 14 }"))?;
    let mut spec = ModelSpec::new(&name, h, own_input.or(input_size).unwrap_or(3 * h))?;
    if let Some(season) = season
        && !settings.contains_key("season_length")
        && spec.hyper_parameters().contains_key("season_length")
    {
        spec = spec.set("season_length", season)?;
    }
    for (name, value) in settings {
        spec = spec.set(&name, value)?;
    }
    Ok(spec)
}
