//! Reconciled forecasts of hierarchicalforecast, and the matrices of neuralforecast's HINT (`compare/hierarchy.py`).

use crate::{Evidence, Hierarchy, Reconciler, Reconciliation, Residuals};
use serde_json::Value;

const FIXTURE: &str = include_str!("../tests/fixtures/reconciled.json");

fn fixture() -> Value {
    serde_json::from_str(FIXTURE).expect("JSON")
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().expect("texts").iter().map(|text| text.as_str().expect("a text")).collect()
}

/// A matrix, row by row.
fn numbers(value: &Value) -> Vec<f64> {
    let rows = value.as_array().expect("rows").iter().flat_map(|row| row.as_array().expect("a row"));
    rows.map(|number| number.as_f64().expect("a number")).collect()
}

fn hierarchy(fixture: &Value) -> Hierarchy {
    let [ids, columns] = ["ids", "columns"].map(|name| texts(&fixture[name]));
    Hierarchy::from_summing_matrix(&ids, &columns, &numbers(&fixture["matrix"])).expect("a summing matrix")
}

fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(0.0_f64, |scale, value| scale.max(value.abs()));
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= 1e-6 * scale, "{what}, {place}: {found} and {expected}");
    }
}

#[test]
fn forecasts_are_reconciled_as_by_hierarchicalforecast() {
    let fixture = fixture();
    let hierarchy = hierarchy(&fixture);
    let n = hierarchy.n_series();
    let residuals = Residuals::new(n, &numbers(&fixture["residuals"])).expect("residuals");
    let y = numbers(&fixture["y"]);
    let shares: Vec<f64> =
        y.chunks_exact(y.len() / n).skip(hierarchy.n_aggregates()).map(|y| y.iter().sum::<f64>()).collect();
    let evidence = Evidence { residuals: Some(&residuals), shares: Some(&shares) };
    for method in Reconciliation::ALL {
        let mut values = numbers(&fixture["forecast"]);
        let columns = values.len() / n;
        let reconciler = Reconciler::new(&hierarchy, method, &evidence).expect("a reconciler");
        reconciler.reconcile(&mut values, columns);
        assert_close(&values, &numbers(&fixture["reconciled"][method.name()]), method.name());
    }
}

#[test]
fn matrices_are_those_of_hint() {
    let fixture = fixture();
    let hierarchy = hierarchy(&fixture);
    for method in [Reconciliation::BottomUp, Reconciliation::MinTraceOls, Reconciliation::MinTraceWls] {
        let reconciler = Reconciler::new(&hierarchy, method, &Evidence::default()).expect("a reconciler");
        assert_close(&reconciler.matrix(), &numbers(&fixture["hint"][method.name()]), method.name());
    }
}

/// The ids and sums of hierarchicalforecast's `aggregate`, but for the order of the bottom, which it calls by its labels.
#[test]
fn levels_make_the_same_sums() {
    let fixture = fixture();
    let labels: Vec<Vec<&str>> = fixture["labels"].as_array().expect("rows").iter().map(texts).collect();
    let series: Vec<(String, &[&str])> =
        labels.iter().map(|labels| (format!("series {}", labels.join("/")), &labels[..2])).collect();
    let (found, expected) = (Hierarchy::from_levels(&series).expect("levels"), hierarchy(&fixture));
    let named = |hierarchy: &Hierarchy| -> Vec<(String, Vec<String>)> {
        let bottom = hierarchy.bottom_ids();
        let aggregates = hierarchy.ids().take(hierarchy.n_aggregates()).enumerate().map(|(number, id)| {
            let of = hierarchy
                .members(number)
                .iter()
                .map(|&member| bottom[member as usize].replace("series ", ""));
            let mut of: Vec<String> = of.collect();
            of.sort();
            (id.to_string(), of)
        });
        aggregates.collect()
    };
    assert_eq!(named(&found), named(&expected));
}
