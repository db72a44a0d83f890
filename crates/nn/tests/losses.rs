//! Every loss against neuralforecast: values and gradients of `fixtures/losses.json`, which
//! `compare/ops.py` writes.

use std::collections::BTreeMap;

use foretell_nn::{Loss, Tensor, Var};
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
struct Case {
    args: Map<String, Value>,
    inputs: Vec<Numbers>,
    output: Numbers,
    grads: Vec<Option<Numbers>>,
}

#[derive(Deserialize)]
struct Numbers {
    shape: Vec<usize>,
    data: Vec<f32>,
}

fn loss(args: &Map<String, Value>) -> Loss {
    let name = args["loss"].as_str().expect("a name");
    let mut own = args.clone();
    own.retain(|key, _| !["loss", "setting", "output_names"].contains(&key.as_str()));
    // Where intervals were given, the fixture lists the quantiles that they stand for beside them.
    if own.contains_key("level") {
        own.remove("quantiles");
    }
    Loss::new(name, &own).unwrap_or_else(|error| panic!("{args:?}: {error}"))
}

#[test]
fn losses_agree_with_neuralforecast() {
    let fixtures: BTreeMap<String, Vec<Case>> =
        serde_json::from_str(include_str!("fixtures/losses.json")).expect("the fixtures are valid");
    assert_eq!(fixtures.len(), Loss::NAMES.len());
    for case in fixtures.values().flatten() {
        let what = json!(case.args);
        let loss = loss(&case.args);
        let [pred, target, mask] = &case.inputs[..] else { panic!("three inputs") };
        let steps = [target.shape[0], target.shape[1]];
        let output = Var::input(Tensor::from_slice(&pred.data, &pred.shape[..]));
        let mut weights = mask.data.clone();
        loss.weigh(&mut weights, steps[1]);
        let total = weights.iter().map(|&w| f64::from(w)).sum();
        let target = Tensor::from_slice(&target.data, steps);
        let value = loss.mean(&output, &target, &Tensor::from_slice(&weights, steps), total);
        let (found, expected) = (value.value().item(), case.output.data[0]);
        assert!(
            (found - expected).abs() <= 1e-6 * (1.0 + expected.abs()),
            "{what}: {found}, expected {expected}"
        );
        let sum = loss.sum(&pred.data, target.values(), &weights) / if total == 0.0 { 1.0 } else { total };
        assert!((sum as f32 - expected).abs() <= 1e-6 * (1.0 + expected.abs()), "{what}: sum {sum}");

        value.backward(&mut []);
        let grad = output.grad().expect("a gradient").to_vec();
        let expected = &case.grads[0].as_ref().expect("a gradient").data;
        for (i, (found, expected)) in grad.iter().zip(expected).enumerate() {
            assert!((found - expected).abs() <= 1e-6, "{what}: gradient {i} is {found}, expected {expected}");
        }
    }
}

#[test]
fn quantiles_and_suffixes_agree_with_neuralforecast() {
    let fixtures: BTreeMap<String, Vec<Case>> =
        serde_json::from_str(include_str!("fixtures/losses.json")).expect("the fixtures are valid");
    for case in &fixtures["MQLoss"] {
        let loss = loss(&case.args);
        assert_eq!(json!(loss.suffixes()), case.args["output_names"]);
        let expected: Vec<f32> = serde_json::from_value(case.args["quantiles"].clone()).expect("numbers");
        assert_eq!(loss.quantiles().expect("quantiles"), expected);
    }
}

#[test]
fn arguments_survive_a_round_trip() {
    let level = json!({"MQLoss": {"level": [99.5, 80]}});
    for given in
        [json!("MAE"), json!({"HuberLoss": {"delta": 0.5}}), json!({"QuantileLoss": {"q": 0.25}}), level]
    {
        let loss = Loss::parse(&given).expect("a loss");
        assert_eq!(Loss::new(loss.name(), &loss.arguments()).expect("the same loss"), loss);
    }
    let loss = Loss::parse(&json!({"MQLoss": {"level": [99.5, 80]}})).expect("a loss");
    assert_eq!(loss.suffixes(), ["-median", "-lo-99.5", "-lo-80", "-hi-80", "-hi-99.5"]);
}

/// The expected names are neuralforecast's.
#[test]
fn quantiles_count_once_and_are_named_by_rounded_percentages() {
    let loss = Loss::parse(&json!({"MQLoss": {"quantiles": [0.9, 0.5, 0.05, 0.333, 0.9]}})).expect("a loss");
    assert_eq!(loss.suffixes(), ["-hi-80.0", "-median", "-lo-90.0", "-lo-33.4"]);
    assert_eq!(loss.point_output(), 1);
    let loss = Loss::parse(&json!({"MQLoss": {"level": [80, 99.5, 80]}})).expect("a loss");
    assert_eq!(loss.suffixes(), ["-median", "-lo-99.5", "-lo-80", "-hi-80", "-hi-99.5"]);
}

#[test]
fn what_cannot_be_is_explained() {
    let message = |value: Value| Loss::parse(&value).expect_err("no loss").to_string();
    assert!(message(json!("MEA")).contains("no loss is called \"MEA\"; there are MAE"));
    assert!(message(json!(3)).contains("a loss is a name"));
    assert!(
        message(json!({"HuberLoss": {"delta": -1}})).contains("delta must be a positive number, found -1")
    );
    assert!(message(json!({"HuberLoss": {"beta": 1}})).contains("argument beta"));
    assert!(message(json!("QuantileLoss")).contains("q must be a number between 0 and 1"));
    assert!(message(json!({"MQLoss": {"level": [100]}})).contains("percentages between 0 and 100"));
    assert!(message(json!({"MQLoss": {"quantiles": []}})).contains("a list of numbers"));
    assert!(message(json!({"MQLoss": {"quantiles": [0.1, 1.0]}})).contains("between 0 and 1"));
}
