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
    /// The suffix of each output's column: "" for a point forecast, "-median", "-lo-90", ...
    pub output_names: Vec<String>,
    /// The levels of a multi-quantile or distribution loss, one per quantile; also a tensor of the
    /// state dict.
    pub quantiles: Option<Vec<f32>>,
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
        }
    }

    /// Mean absolute error.
    pub fn mae() -> Self {
        Self::point("MAE")
    }

    /// Mean squared error.
    pub fn mse() -> Self {
        Self::point("MSE")
    }

    /// Huber loss: quadratic up to `delta`, linear beyond.
    pub fn huber(delta: f64) -> Self {
        let mut loss = Self::point("HuberLoss");
        loss.args.insert("delta".into(), delta.into());
        loss
    }

    /// Pinball loss at level `q` in (0, 1); its output is named as in Python from 1e-4 on.
    pub fn quantile(q: f64) -> Self {
        let mut loss = Self::point("QuantileLoss");
        loss.args.insert("q".into(), q.into());
        loss.output_names = vec![format!("_ql{q:?}")];
        loss
    }

    /// Pinball losses at the levels `quantiles` in (0, 1), in this order; duplicates count once.
    pub fn multi_quantile(quantiles: &[f64]) -> Self {
        let mut unique: Vec<f64> = Vec::with_capacity(quantiles.len());
        for &q in quantiles {
            if !unique.contains(&q) {
                unique.push(q);
            }
        }
        // numpy.round(x, 2), printed as Python prints a float.
        let percent = |x: f64| format!("{:?}", (x * 100.0).round_ties_even() / 100.0);
        let name = |&q: &f64| match q {
            q if q < 0.5 => format!("-lo-{}", percent(100.0 - 200.0 * q)),
            q if q > 0.5 => format!("-hi-{}", percent(100.0 - 200.0 * (1.0 - q))),
            _ => "-median".into(),
        };
        let mut loss = Self::point("MQLoss");
        loss.args.insert("quantiles".into(), json!(quantiles));
        loss.output_names = unique.iter().map(name).collect();
        loss.quantiles = Some(unique.iter().map(|&q| q as f32).collect());
        loss
    }

    /// Pinball losses at the median and at both ends of the central intervals of `levels` percent,
    /// in (0, 100); duplicates count once.
    pub fn multi_quantile_levels(levels: &[f64]) -> Self {
        // Whole levels are written and named without a decimal point, as people write them.
        let number = |level: f64| match level {
            level if level.fract() == 0.0 => json!(level as i64),
            level => json!(level),
        };
        let mut ends: Vec<(f64, String)> = Vec::with_capacity(2 * levels.len());
        for (i, &level) in levels.iter().enumerate() {
            if !levels[..i].contains(&level) {
                ends.push((50.0 - level / 2.0, format!("-lo-{}", number(level))));
                ends.push((50.0 + level / 2.0, format!("-hi-{}", number(level))));
            }
        }
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        ends.insert(0, (50.0, "-median".into()));
        let mut loss = Self::point("MQLoss");
        let levels: Vec<_> = levels.iter().map(|&level| number(level)).collect();
        loss.args.insert("level".into(), levels.into());
        loss.quantiles = Some(ends.iter().map(|(percent, _)| *percent as f32 / 100.0).collect());
        loss.output_names = ends.into_iter().map(|(_, name)| name).collect();
        loss
    }

    /// The same loss with one weight per step of the horizon.
    pub fn with_horizon_weight(mut self, weight: Vec<f32>) -> Self {
        self.horizon_weight = Some(weight);
        self
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
        state.insert("output_names".into(), json!(self.output_names));
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
        let losses = [
            LossSpec::mae().with_horizon_weight(vec![1.0, 0.5]),
            LossSpec::mse(),
            LossSpec::huber(0.5),
            LossSpec::quantile(0.9),
            LossSpec::multi_quantile(&[0.1, 0.5, 0.9]),
            LossSpec::multi_quantile_levels(&[80.0, 90.0]),
        ];
        for loss in losses {
            assert_eq!(back(&loss), loss);
        }
    }

    // Names and levels as printed by neuralforecast 3.3.
    #[test]
    fn outputs_are_named_as_in_python() {
        assert_eq!(LossSpec::quantile(0.9).output_names, ["_ql0.9"]);
        let levels = LossSpec::multi_quantile_levels(&[80.0, 99.5, 80.0]);
        let names = ["-median", "-lo-99.5", "-lo-80", "-hi-80", "-hi-99.5"];
        assert_eq!(levels.output_names, names);
        assert_eq!(levels.quantiles.unwrap(), [0.5, 0.0025, 0.1, 0.9, 0.9975]);
        let quantiles = LossSpec::multi_quantile(&[0.9, 0.5, 0.05, 0.333, 0.9]);
        assert_eq!(quantiles.output_names, ["-hi-80.0", "-median", "-lo-90.0", "-lo-33.4"]);
        assert_eq!(quantiles.quantiles.unwrap(), [0.9, 0.5, 0.05, 0.333]);
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
