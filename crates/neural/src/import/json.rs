//! Plain data of Python's as JSON.

use foretell_checkpoint::{PickleValue, TensorData, TensorValues};
use serde_json::{Number, Value};

/// The JSON value of plain data; nothing for objects of Python's.
pub fn json(value: &PickleValue) -> Option<Value> {
    Some(match value {
        PickleValue::None => Value::Null,
        PickleValue::Bool(value) => (*value).into(),
        PickleValue::Int(value) => (*value).into(),
        PickleValue::Float(value) => Number::from_f64(*value)?.into(),
        PickleValue::Text(text) => text.as_str().into(),
        PickleValue::List(items) => items.iter().map(json).collect::<Option<Vec<_>>>()?.into(),
        PickleValue::Array(array) => numbers(array)?,
        PickleValue::Dict(_) | PickleValue::Object(_) => {
            let pairs = value.entries()?.iter();
            let pairs = pairs.map(|(key, value)| Some((key.as_text()?.to_owned(), json(value)?)));
            Value::Object(pairs.collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

/// The numbers of an array, as one list.
fn numbers(array: &TensorData) -> Option<Value> {
    let list: Vec<Value> = match array.values() {
        TensorValues::F32(values) => values.iter().map(|&x| shortest(x)).collect(),
        TensorValues::F64(values) => values.iter().map(|&x| x.into()).collect(),
        TensorValues::I64(values) => values.iter().map(|&x| x.into()).collect(),
        TensorValues::I32(values) => values.iter().map(|&x| x.into()).collect(),
        _ => return None,
    };
    match array.shape() {
        [] => list.into_iter().next(),
        _ => Some(list.into()),
    }
}

/// The number that reads the same with fewest digits: 0.1 of the single nearest to it.
fn shortest(value: f32) -> Value {
    value.to_string().parse::<f64>().unwrap_or(f64::from(value)).into()
}
