//! Losses as hyper-parameters.

use serde_json::{Map, Value, json};

use crate::tagged::{Misfit, Sidecar, TAG, list, object, plain, tag, text};
use crate::tensor::TensorData;

/// A loss as a model file describes it: its class in `neuralforecast.losses.pytorch`, the arguments
/// it was built with and what follows from them. Any class is read; what it means is the caller's.
#[derive(Debug, Clone, PartialEq)]
pub struct LossSpec {
    /// The class: "MAE", "MQLoss", ...
    pub class: String,
    /// The arguments of its constructor but `horizon_weight`, arrays as plain lists.
    pub args: Map<String, Value>,
    /// The argument `horizon_weight`: one weight per step of the horizon.
    pub horizon_weight: Option<Vec<f32>>,
    /// The suffix of each output's column: "" for a point forecast, "-median", "-lo-90", ...; none for a class that only
    /// validates and names none.
    pub output_names: Vec<String>,
    /// The levels of a multi-quantile or distribution loss, one per quantile; also a tensor of the
    /// state dict.
    pub quantiles: Option<Vec<f32>>,
    /// The levels of the multi-quantile loss that a class holds as its `mql`: a tensor of the state dict alone. It is written
    /// and not read, since the arguments say the same.
    pub inner_quantiles: Option<Vec<f32>>,
    /// How many cosines a class embeds probabilities in, which numbers them in the state dict. It is written and not read.
    pub cosines: Option<usize>,
}

impl LossSpec {
    /// A loss with one unnamed output and no arguments.
    pub fn point(class: &str) -> Self {
        Self {
            class: class.into(),
            args: Map::new(),
            horizon_weight: None,
            output_names: vec![String::new()],
            quantiles: None,
            inner_quantiles: None,
            cosines: None,
        }
    }

    pub(crate) fn decode(slot: &str, value: &Value, sidecar: &mut Sidecar) -> Result<Self, Misfit> {
        if tag(value) != Some("loss") {
            return Err(Misfit::value(slot, "a tagged loss", value));
        }
        let none = Map::new();
        let state = match value.get("state") {
            Some(state) => object(&format!("{slot}.state"), state)?,
            None => &none,
        };
        let mut args = Map::new();
        let mut horizon_weight = None;
        for (name, arg) in object(&format!("{slot}.args"), &value["args"])? {
            let field = format!("{slot}.args.{name}");
            let arg = plain(&field, arg, sidecar)?;
            match name.as_str() {
                "horizon_weight" if arg.is_null() => {}
                "horizon_weight" => horizon_weight = Some(floats(&field, &arg)?),
                _ => {
                    args.insert(name.clone(), arg);
                }
            }
        }
        let (mut output_names, mut quantiles) = (Vec::new(), None);
        for (name, value) in state {
            let field = format!("{slot}.state.{name}");
            let value = plain(&field, value, sidecar)?;
            match name.as_str() {
                "output_names" if value.is_null() => {}
                "output_names" => {
                    let names = list(&field, &value)?.iter().map(|name| text(&field, name));
                    output_names = names.collect::<Result<_, _>>()?;
                }
                "quantiles" if value.is_null() => {}
                "quantiles" => quantiles = Some(floats(&field, &value)?),
                _ => {
                    return Err(Misfit::new(field, "output_names or quantiles", "another attribute"));
                }
            }
        }
        Ok(Self {
            class: text(&format!("{slot}.cls"), &value["cls"])?,
            args,
            horizon_weight,
            output_names,
            quantiles,
            inner_quantiles: None,
            cosines: None,
        })
    }

    /// The tagged value; tensors it points at go to `sidecar`.
    pub(crate) fn encode(&self, slot: &str, sidecar: &mut Sidecar) -> Value {
        let mut vector = |path: &str, values: &[f32]| {
            let tensor = TensorData::f32([values.len()], values.to_vec());
            sidecar.put(&format!("{slot}.{path}"), "torch", tensor)
        };
        let mut args = self.args.clone();
        if let Some(weight) = &self.horizon_weight {
            args.insert("horizon_weight".into(), vector("args.horizon_weight", weight));
        }
        let mut state = Map::new();
        let names = if self.output_names.is_empty() { Value::Null } else { json!(self.output_names) };
        state.insert("output_names".into(), names);
        if let Some(quantiles) = &self.quantiles {
            state.insert("quantiles".into(), vector("state.quantiles", quantiles));
        }
        json!({TAG: "loss", "cls": self.class, "args": args, "state": state})
    }
}

/// Numbers of a list of any depth, flattened.
fn floats(field: &str, value: &Value) -> Result<Vec<f32>, Misfit> {
    match value {
        Value::Array(items) => {
            let parts: Result<Vec<_>, _> = items.iter().map(|item| floats(field, item)).collect();
            Ok(parts?.concat())
        }
        _ => match value.as_f64() {
            Some(number) => Ok(vec![number as f32]),
            None => Err(Misfit::value(field, "a list of numbers", value)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back(loss: &LossSpec) -> LossSpec {
        let mut sidecar = Sidecar::default();
        let value = loss.encode("loss", &mut sidecar);
        LossSpec::decode("loss", &value, &mut sidecar).unwrap()
    }

    #[test]
    fn losses_come_back() {
        let mut quantiles = LossSpec::point("MQLoss");
        quantiles.args.insert("quantiles".into(), json!([0.1, 0.9]));
        quantiles.output_names = vec!["-lo-80.0".into(), "-hi-80.0".into()];
        quantiles.quantiles = Some(vec![0.1, 0.9]);
        let weighted = LossSpec { horizon_weight: Some(vec![1.0, 0.5]), ..quantiles.clone() };
        let nameless = LossSpec { output_names: vec![], ..LossSpec::point("Accuracy") };
        for loss in [LossSpec::point("MAE"), quantiles, weighted, nameless] {
            assert_eq!(back(&loss), loss);
        }
    }

    #[test]
    fn foreign_values_are_refused_with_their_place() {
        for (value, field) in [
            (json!(null), "loss"),
            (json!({TAG: "loss", "args": {}}), "loss.cls"),
            (json!({TAG: "loss", "cls": "MAE"}), "loss.args"),
            (json!({TAG: "loss", "cls": "MAE", "args": {"horizon_weight": "x"}}), "loss.args.horizon_weight"),
            (json!({TAG: "loss", "cls": "MAE", "args": {}, "state": {"eval": 1}}), "loss.state.eval"),
        ] {
            let error = LossSpec::decode("loss", &value, &mut Sidecar::default()).unwrap_err();
            let text = error.at("file").to_string();
            assert!(text.starts_with(&format!("file: `{field}` should be")), "{text}");
        }
    }
}
