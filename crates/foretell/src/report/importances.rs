//! Importances of a report, from the weights that models give.

use foretell_report::Importances;
use serde_json::Value;

/// Steps that are listed, those with the most attention.
const STEPS: usize = 10;

/// The importances of an array of models with their weights, as [`FeatureImportances`](crate::FeatureImportances) are
/// serialised; none if it is something else.
pub fn importances(weights: &Value) -> Option<Vec<Importances>> {
    weights.as_array()?.iter().map(of_model).collect()
}

fn of_model(value: &Value) -> Option<Importances> {
    let mut columns = Vec::new();
    for kind in ["past", "future"] {
        let means = means(&value[kind], i64::MIN);
        columns.extend(means.into_iter().map(|(name, weight)| (kind.to_owned(), name, weight)));
    }
    for (name, weight) in value["static"].as_object()? {
        columns.push(("static".to_owned(), name.clone(), weight.as_f64()?));
    }
    columns.sort_by(|a, b| b.2.total_cmp(&a.2));
    let mut attention = means(&value["attention"], 1);
    attention.sort_by(|a, b| b.1.total_cmp(&a.1));
    attention.truncate(STEPS);
    Some(Importances { model: value["model"].as_str()?.to_owned(), columns, attention })
}

/// The mean weight of each column over the steps from `first` on; none where there are no weights.
fn means(weights: &Value, first: i64) -> Vec<(String, f64)> {
    let steps: Vec<i64> =
        weights["steps"].as_array().into_iter().flatten().filter_map(Value::as_i64).collect();
    let columns = weights["columns"].as_object().into_iter().flatten();
    let mean = |column: &Value| {
        let of_steps = column.as_array().into_iter().flatten().filter_map(Value::as_f64).zip(&steps);
        let chosen: Vec<f64> =
            of_steps.filter(|(_, step)| **step >= first).map(|(weight, _)| weight).collect();
        chosen.iter().sum::<f64>() / chosen.len().max(1) as f64
    };
    columns.map(|(name, column)| (name.clone(), mean(column))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_means_over_their_steps() {
        let value = serde_json::json!({
            "model": "TFT", "series": 2, "future": null, "static": { "size": 1.0 },
            "past": { "steps": [-1, 0], "columns": { "price": [0.25, 0.75], "visits": [0.75, 0.5] } },
            "attention": { "steps": [0, 1, 2], "columns": { "0": [9.0, 0.5, 0.25], "-1": [9.0, 0.5, 0.75] } },
        });
        let found = of_model(&value).unwrap();
        let names: Vec<(&str, f64)> = found.columns.iter().map(|(_, name, mean)| (&**name, *mean)).collect();
        assert_eq!(names, [("size", 1.0), ("visits", 0.625), ("price", 0.5)]);
        assert_eq!(found.attention, [("-1".to_owned(), 0.625), ("0".to_owned(), 0.375)]);
        assert!(of_model(&serde_json::json!({ "model": "TFT" })).is_none());
    }
}
