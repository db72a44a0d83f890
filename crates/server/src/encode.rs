//! Answers in the forms that clients ask for.

use std::io::Write as _;

use foretell::{DataError, Frame, ModelInTable, TimeStyle, Value};
use serde_json::json;

use crate::error::EngineError;
use crate::media_type::MediaType;
use crate::request::ForecastAnswer;

/// The bytes of an answer in that form.
pub(crate) fn encode(answer: &ForecastAnswer, media: MediaType) -> Result<Vec<u8>, EngineError> {
    match media {
        MediaType::Json => Ok(to_json(answer).map_err(|error| DataError::Write(error.into()))?),
        media => {
            let format = media.format().expect("a form of files");
            let mut out = Vec::new();
            let writer = format.writer(Box::new(&mut out), answer.frame.time_style(), '.');
            let mut writer = writer.expect("a form that is written");
            writer.write(&answer.frame)?;
            writer.finish()?;
            Ok(out)
        }
    }
}

/// `{"model": ..., "columns": {"unique_id": [...], ...}, "forecasts": [...], "warnings": [...]}`: times as texts unless they are integers, ids as they
/// came, values that are no finite numbers as `null`.
fn to_json(answer: &ForecastAnswer) -> serde_json::Result<Vec<u8>> {
    let ForecastAnswer { model, frame, warnings } = answer;
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = write!(out, r#"{{"model":{},"columns":{{"#, Value::from(model.as_str()));
    column(&mut out, &frame.id_col, &ids(frame))?;
    out.push(b',');
    column(&mut out, &frame.time_col, &times(frame, &frame.times))?;
    if let Some(cutoffs) = &frame.cutoffs {
        out.push(b',');
        column(&mut out, "cutoff", &times(frame, cutoffs))?;
    }
    for (name, values) in &frame.columns {
        out.push(b',');
        serde_json::to_writer(&mut out, name)?;
        out.push(b':');
        // As `f32` and not by way of 64 bits, so that a number has no digits that it has not in CSV.
        match frame.wide.get(name) {
            Some(wide) => serde_json::to_writer(&mut out, wide)?,
            None if frame.is_integer(name) => {
                let whole: Vec<i64> = values.iter().map(|value| *value as i64).collect();
                serde_json::to_writer(&mut out, &whole)?;
            }
            None => serde_json::to_writer(&mut out, values)?,
        }
    }
    let _ = write!(out, r#"}},"forecasts":{},"warnings":{}}}"#, forecasts(frame), json!(warnings));
    Ok(out)
}

/// Which columns are the point forecast of each model, and its intervals, the widest first.
fn forecasts(frame: &Frame) -> Value {
    let name = |place: usize| &frame.columns[place].0;
    let interval = |(level, low, high): (f64, usize, usize)| json!({ "level": level, "low": name(low), "high": name(high) });
    let model = |model: &ModelInTable| {
        json!({
            "model": &*model.model,
            "point": model.point().map(name),
            "intervals": model.intervals().into_iter().map(interval).collect::<Vec<Value>>(),
        })
    };
    frame.models_added().iter().filter(|model| model.is_forecast()).map(model).collect()
}

fn column(out: &mut Vec<u8>, name: &str, cells: &[Value]) -> serde_json::Result<()> {
    serde_json::to_writer(&mut *out, name)?;
    out.push(b':');
    serde_json::to_writer(out, cells)
}

fn ids(frame: &Frame) -> Vec<Value> {
    let number = |id: &str| id.parse::<i64>().ok().filter(|_| frame.integer_ids);
    frame.ids.iter().map(|id| number(id).map_or_else(|| Value::from(&**id), Value::from)).collect()
}

fn times(frame: &Frame, times: &[i64]) -> Vec<Value> {
    let style = frame.time_style();
    let text = |time: i64| {
        let mut text = String::new();
        style.write(frame.zone.as_ref(), time, &mut text);
        Value::from(text)
    };
    match style {
        TimeStyle::Integer => times.iter().map(|time| Value::from(*time)).collect(),
        _ => times.iter().map(|time| text(*time)).collect(),
    }
}
