//! `evaluate`: scores of any forecasts beside the actual values.

use foretell::evaluate::{
    Metric, ModelForecasts, ScoreBy, ScoreOptions, ScoreTable, ScoredRows, evaluate as score,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::refusal::Refusal;

/// Actual values, and forecasts of each of them by model.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Asked {
    actual: Vec<Option<f64>>,
    forecasts: Map<String, Value>,
    metrics: Vec<String>,
}

/// The scores of a single window.
pub(crate) fn evaluate(asked: &Asked) -> Result<Value, Refusal> {
    let known = |values: &[Option<f64>]| -> Vec<f64> {
        values.iter().map(|value| value.unwrap_or(f64::NAN)).collect()
    };
    let rows = asked.actual.len();
    if rows == 0 {
        return Err(Refusal::request("actual", "there are no actual values; give an array of numbers"));
    }
    let mut forecasts = Vec::new();
    for (name, values) in &asked.forecasts {
        let refuse = |found: String| {
            Refusal::request(
                "forecasts",
                format!(
                    "the forecast {name} must be {rows} numbers, as the actual values are, found {found}"
                ),
            )
        };
        let values = Vec::<Option<f64>>::deserialize(values).map_err(|error| refuse(error.to_string()))?;
        if values.len() != rows {
            return Err(refuse(values.len().to_string()));
        }
        forecasts.push((name.as_str(), known(&values)));
    }
    let models = forecasts.iter().map(|(name, values)| ModelForecasts::of_points(*name, values)).collect();
    let (actual, steps) = (known(&asked.actual), (1..=rows as u32).collect::<Vec<_>>());
    let (series, cutoffs) = (vec![0; rows], vec![0; rows]);
    let names = match asked.metrics.is_empty() {
        true => ["mae", "rmse", "bias", "smape"].map(str::to_owned).to_vec(),
        false => asked.metrics.clone(),
    };
    let metrics = names.iter().map(|name| Metric::parse(name)).collect::<Result<Vec<_>, _>>()?;
    let scored = ScoredRows::new(&actual, &series, &cutoffs, &steps, models)?;
    Ok(json!({ "scores": scores(&score(&scored, &metrics, ScoreBy::All, &ScoreOptions::default())?) }))
}

/// A score of each model by metric; null where there is none.
pub(crate) fn scores(table: &ScoreTable) -> Value {
    let metrics = table.metrics.iter().map(|metric| {
        let values = metric.values.first().map(Vec::as_slice).unwrap_or_default();
        let of_models: Map<String, Value> =
            table.models.iter().zip(values).map(|(model, value)| (model.clone(), json!(value))).collect();
        (metric.name.clone(), Value::Object(of_models))
    });
    Value::Object(metrics.collect())
}
