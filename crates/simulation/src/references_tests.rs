//! Paths of neuralforecast's `simulate` from the same draws (`compare/simulation.py`).

use crate::{Marginals, ar1_correlation, gaussian_copula, schaake_shuffle};
use serde_json::Value;

const FIXTURE: &str = include_str!("../tests/fixtures/paths.json");

/// All numbers of nested lists.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        value => vec![value.as_f64().expect("a number")],
    }
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= tolerance, "{what}, {place}: {found} and {expected}");
    }
}

#[test]
fn paths_are_those_of_neuralforecast() {
    let fixture: Value = serde_json::from_str(FIXTURE).expect("JSON");
    let levels = numbers(&fixture["levels"]);
    for series in 0..3 {
        let of = |name: &str| numbers(&fixture[name][series]);
        let (values, history) = (of("values"), of("history"));
        let marginals = Marginals::new(&levels, &values).expect("quantiles");
        let correlation = ar1_correlation(&history);
        assert_close(&[correlation], &of("correlations"), 1e-12, "correlation");
        // neuralforecast adds 1e-8 to the diagonal of the correlations.
        let paths = gaussian_copula(&marginals, correlation, &of("normals"));
        assert_close(&paths, &of("gaussian_copula"), 1e-6, "copula");
        let starts: Vec<usize> = of("starts").into_iter().map(|start| start as usize).collect();
        let paths = schaake_shuffle(&marginals, &history, &starts, &of("uniforms"));
        assert_close(&paths, &of("schaake_shuffle"), 1e-9, "shuffle");
    }
}
