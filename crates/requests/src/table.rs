//! Tables of forecasts as JSON.

use foretell::{Frame, ModelInTable};
use serde_json::{Map, Value, json};

/// A table as the package has it: `columns`, in the order of `names`, and of each model where its forecast is found (`models`).
///
/// Times are whole numbers, or texts as a CSV file has them; a value that is unknown is null.
pub(crate) fn table(frame: &Frame, target: &str) -> Value {
    let style = frame.time_style();
    let times = |times: &[i64]| -> Vec<Value> {
        let text = |&time: &i64| {
            let mut text = String::new();
            style.write(frame.zone.as_ref(), time, &mut text);
            Value::String(text)
        };
        match style {
            foretell::TimeStyle::Integer => times.iter().map(|time| json!(time)).collect(),
            _ => times.iter().map(text).collect(),
        }
    };
    let ids = frame.ids.iter().map(|id| match id.parse::<i64>() {
        Ok(number) if frame.integer_ids => json!(number),
        _ => json!(&**id),
    });
    let mut names = vec![frame.id_name().to_owned(), frame.time_col.clone()];
    let mut columns = Map::new();
    columns.insert(frame.id_name().to_owned(), ids.collect());
    columns.insert(frame.time_col.clone(), Value::Array(times(&frame.times)));
    if let Some(cutoffs) = &frame.cutoffs {
        names.push("cutoff".to_owned());
        columns.insert("cutoff".to_owned(), Value::Array(times(cutoffs)));
    }
    for (name, _) in &frame.columns {
        names.push(name.clone());
        columns.insert(name.clone(), numbers(frame, name));
    }
    let models: Vec<Value> = frame.models(target).iter().map(|model| of_model(frame, model)).collect();
    json!({ "names": names, "columns": columns, "models": models, "freq": frame.freq.to_string() })
}

/// A column; in double precision where it has more digits than single precision.
fn numbers(frame: &Frame, name: &str) -> Value {
    match (frame.wide.get(name), frame.column(name)) {
        (Some(values), _) => values.iter().map(|&value| number(value)).collect(),
        (None, Some(values)) => values.iter().map(|&value| single(value)).collect(),
        (None, None) => Value::Null,
    }
}

fn number(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or(Value::Null, Value::Number)
}

/// A number of single precision, as it is: 0.1 of it is 0.10000000149.
fn single(value: f32) -> Value {
    number(f64::from(value))
}

/// Where the forecast of a model is found: the names of its columns.
fn of_model(frame: &Frame, model: &ModelInTable) -> Value {
    let name = |place: usize| frame.columns[place].0.as_str();
    let intervals: Vec<Value> = (model.intervals().into_iter().rev())
        .map(|(level, low, high)| json!({ "level": level, "lower": name(low), "upper": name(high) }))
        .collect();
    let quantiles: Vec<Value> = (model.quantiles_within())
        .map(|(probability, place)| json!({ "probability": rounded(probability), "column": name(place) }))
        .collect();
    let components: Vec<Value> = (model.components.iter())
        .map(|(component, place)| json!({ "component": component, "column": name(*place) }))
        .collect();
    json!({
        "model": &*model.model, "mean": model.point().map(name), "intervals": intervals, "quantiles": quantiles,
        "components": components,
    })
}

/// A probability without what single precision added to it.
fn rounded(probability: f64) -> f64 {
    (probability * 1e6).round() / 1e6
}
