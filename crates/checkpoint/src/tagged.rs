//! neuralforecast's tagged JSON: objects with a `__nf__` entry stand for what JSON cannot hold.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::error::CheckpointError;
use crate::tensor::{TensorData, TensorValues};

pub(crate) const TAG: &str = "__nf__";
/// Tensors that JSON values point at are stored under this prefix and the value's path.
pub(crate) const PREFIX: &str = "__hparams__.";

/// A value that is not what its field should hold; `at` says in which file.
#[derive(Debug)]
pub(crate) struct Misfit {
    field: String,
    expected: String,
    found: String,
}

impl Misfit {
    pub(crate) fn new(
        field: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self { field: field.into(), expected: expected.into(), found: found.into() }
    }

    pub(crate) fn value(field: impl Into<String>, expected: impl Into<String>, found: &Value) -> Self {
        const SHOWN: usize = 60;
        let mut text = found.to_string();
        if text.chars().count() > SHOWN {
            text = text.chars().take(SHOWN).collect::<String>() + "...";
        }
        Self::new(field, expected, text)
    }

    pub(crate) fn at(self, place: impl ToString) -> CheckpointError {
        CheckpointError::Field {
            place: place.to_string(),
            field: self.field,
            expected: self.expected,
            found: self.found,
        }
    }
}

/// The tag of a tagged object.
pub(crate) fn tag(value: &Value) -> Option<&str> {
    value.get(TAG)?.as_str()
}

pub(crate) fn text(field: &str, value: &Value) -> Result<String, Misfit> {
    let text = value.as_str().ok_or_else(|| Misfit::value(field, "a text", value))?;
    Ok(text.to_owned())
}

pub(crate) fn count(field: &str, value: &Value) -> Result<usize, Misfit> {
    let n = value.as_u64().and_then(|n| n.try_into().ok());
    n.ok_or_else(|| Misfit::value(field, "a whole number from 0", value))
}

pub(crate) fn object<'v>(field: &str, value: &'v Value) -> Result<&'v Map<String, Value>, Misfit> {
    value.as_object().ok_or_else(|| Misfit::value(field, "an object", value))
}

pub(crate) fn list<'v>(field: &str, value: &'v Value) -> Result<&'v [Value], Misfit> {
    let list = value.as_array().ok_or_else(|| Misfit::value(field, "a list", value))?;
    Ok(list)
}

/// The tensors beside a JSON document.
///
/// Each can be taken once: a document that points at one tensor many times would otherwise need
/// memory beyond any multiple of its size.
#[derive(Debug, Default)]
pub(crate) struct Sidecar(pub(crate) BTreeMap<String, TensorData>);

impl Sidecar {
    /// Stores an array under its path and gives the JSON value that points at it.
    /// `kind` is what Python shall see: "numpy" or "torch".
    pub(crate) fn put(&mut self, path: &str, kind: &str, tensor: TensorData) -> Value {
        let key = format!("{PREFIX}{path}");
        let mut pointer = json!({TAG: "tensor", "key": key, "kind": kind});
        if kind == "numpy" {
            pointer["dtype"] = tensor.values().numpy().into();
        }
        self.0.insert(key, tensor);
        pointer
    }

    /// The array a tagged value stands for, wherever it is stored.
    pub(crate) fn take(&mut self, field: &str, value: &Value) -> Result<TensorData, Misfit> {
        match tag(value) {
            Some("tensor") => {
                let key = text(field, &value["key"])?;
                self.0.remove(&key).ok_or_else(|| {
                    let expected = format!("the one pointer to a stored tensor `{key}`");
                    Misfit::new(field, expected, "no such tensor, or a second pointer")
                })
            }
            Some("array") => inline(field, value),
            _ => Err(Misfit::value(field, "a tensor", value)),
        }
    }
}

/// An array written into the JSON itself.
fn inline(field: &str, value: &Value) -> Result<TensorData, Misfit> {
    let wrong = || Misfit::value(field, "an array with shape and values that agree", value);
    let shape: Vec<usize> =
        list(field, &value["shape"])?.iter().map(|n| count(field, n)).collect::<Result<_, _>>()?;
    let values = numbers(list(field, &value["values"])?).ok_or_else(wrong)?;
    let size = shape.iter().try_fold(1usize, |size, &n| size.checked_mul(n));
    if size != Some(values.len()) {
        return Err(wrong());
    }
    Ok(TensorData::new(shape, values))
}

/// Integers if all are, else double precision; None if any is not a number.
pub(crate) fn numbers(list: &[Value]) -> Option<TensorValues> {
    let integers: Option<Vec<_>> = list.iter().map(Value::as_i64).collect();
    if let Some(integers) = integers {
        return Some(TensorValues::I64(integers));
    }
    let floats: Option<Vec<_>> = list.iter().map(Value::as_f64).collect();
    floats.map(TensorValues::F64)
}

/// Nesting lists costs memory and stack per dimension; no hyper-parameter has as many as this.
const MAX_DIMENSIONS: usize = 8;

/// Replaces tagged arrays, in any depth, by plain lists; leaves every other tag alone.
pub(crate) fn plain(field: &str, value: &Value, sidecar: &mut Sidecar) -> Result<Value, Misfit> {
    match (value, tag(value)) {
        (Value::Object(_), Some("tensor" | "array")) => {
            let tensor = sidecar.take(field, value)?;
            let shape = tensor.shape().to_vec();
            if shape.len() > MAX_DIMENSIONS {
                let found = format!("{} dimensions", shape.len());
                return Err(Misfit::new(field, "an array of numbers", found));
            }
            let flat: Vec<Value> = match (tensor.integers(), tensor.floats()) {
                (Some(integers), _) => integers.into_iter().map(Value::from).collect(),
                (_, Some(floats)) => floats.into_iter().map(Value::from).collect(),
                _ => {
                    let found = format!("dtype {}", tensor.dtype());
                    return Err(Misfit::new(field, "an array of numbers", found));
                }
            };
            Ok(nested(&shape, flat))
        }
        (Value::Object(_), Some("index")) => Ok(value["values"].clone()),
        (Value::Object(entries), None) => {
            let entries = entries
                .iter()
                .map(|(key, value)| Ok((key.clone(), plain(&format!("{field}.{key}"), value, sidecar)?)))
                .collect::<Result<_, _>>()?;
            Ok(Value::Object(entries))
        }
        (Value::Array(items), _) => items.iter().map(|item| plain(field, item, sidecar)).collect(),
        _ => Ok(value.clone()),
    }
}

/// Lists of lists of this shape.
fn nested(shape: &[usize], flat: Vec<Value>) -> Value {
    match shape {
        [] => flat.into_iter().next().unwrap_or(Value::Null),
        [_] => Value::Array(flat),
        [_, inner @ ..] => {
            let size = inner.iter().product::<usize>().max(1);
            flat.chunks(size).map(|part| nested(inner, part.to_vec())).collect()
        }
    }
}

/// The JSON value of an optimizer class, by its name in `torch.optim`.
pub fn optimizer_class(name: &str) -> Value {
    json!({TAG: "torch_cls", "kind": "optimizer", "name": name})
}

/// The JSON value of a schedule class, by its name in `torch.optim.lr_scheduler`.
pub fn lr_scheduler_class(name: &str) -> Value {
    json!({TAG: "torch_cls", "kind": "lr_scheduler", "name": name})
}

/// The name of the class that an `optimizer` or `lr_scheduler` hyper-parameter names; None for null
/// and for anything else.
pub fn torch_class_name(value: &Value) -> Option<&str> {
    match tag(value) {
        Some("torch_cls") => value.get("name")?.as_str(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_become_lists_wherever_they_are() {
        let mut sidecar = Sidecar::default();
        let pointer = sidecar.put("x", "torch", TensorData::f32([2, 1], vec![0.5, 2.0]));
        let inline = json!({TAG: "array", "kind": "numpy", "dtype": "int64", "shape": [2], "values": [3, 4]});
        let value = json!({"deep": [pointer, inline], "loss": optimizer_class("Adam")});
        let lists = plain("v", &value, &mut sidecar).unwrap();
        assert_eq!(lists, json!({"deep": [[[0.5], [2.0]], [3, 4]], "loss": optimizer_class("Adam")}));
        let again = plain("v", &value, &mut sidecar).unwrap_err().at("file");
        assert!(again.to_string().contains("second pointer"), "{again}");
    }

    #[test]
    fn an_inline_array_must_fit_its_shape() {
        for shape in [json!([3]), json!([1u64 << 40, 1u64 << 40]), json!([-1]), json!(7)] {
            let value = json!({TAG: "array", "shape": shape, "values": [3, 4]});
            assert!(Sidecar::default().take("v", &value).is_err());
        }
    }

    #[test]
    fn torch_classes_have_names() {
        assert_eq!(torch_class_name(&lr_scheduler_class("StepLR")), Some("StepLR"));
        assert_eq!(torch_class_name(&Value::Null), None);
        assert_eq!(torch_class_name(&json!({"name": "Adam"})), None);
    }
}
