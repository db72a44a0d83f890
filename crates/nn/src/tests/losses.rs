//! Every loss against neuralforecast: values and gradients of `fixtures/losses.json`, which
//! `compare/ops.py` writes.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{Loss, Targets, Tensor, Var};

#[derive(Deserialize)]
struct Case {
    args: Map<String, Value>,
    inputs: Vec<Numbers>,
    insample: Option<Numbers>,
    loc: Option<Numbers>,
    scale: Option<Numbers>,
    output: Numbers,
    grads: Vec<Option<Numbers>>,
    columns: Option<Numbers>,
}

#[derive(Deserialize)]
struct Numbers {
    shape: Vec<usize>,
    data: Vec<f32>,
}

fn cases() -> BTreeMap<String, Vec<Case>> {
    serde_json::from_str(include_str!("../../tests/fixtures/losses.json")).expect("the fixtures are valid")
}

fn loss(args: &Map<String, Value>) -> Loss {
    let name = args["loss"].as_str().expect("a name");
    let mut own = args.clone();
    own.retain(|key, _| !["loss", "setting", "output_names"].contains(&key.as_str()));
    if name == "TukeyLoss" {
        own.remove("horizon_weight");
    }
    // neuralforecast's distribution, which none but its own models have.
    if own.get("distribution").is_some_and(|name| name == "Tweedie") {
        own.insert("softplus".to_owned(), true.into());
    }
    // Where intervals are the argument, the fixture lists the quantiles that they stand for beside them.
    if own.contains_key("level") {
        own.remove("quantiles");
    }
    Loss::new(name, &own).unwrap_or_else(|error| panic!("{args:?}: {error}"))
}

fn close(actual: f32, expected: f32, tolerance: f32, what: &str) {
    assert!(
        (actual - expected).abs() <= tolerance * (1.0 + expected.abs()),
        "{what}: {actual}, expected {expected}"
    );
}

fn values(numbers: &Option<Numbers>) -> &[f32] {
    numbers.as_ref().map_or(&[], |numbers| &numbers.data)
}

#[test]
fn losses_agree_with_neuralforecast() {
    let fixtures = cases();
    assert_eq!(fixtures.len(), Loss::NAMES.len());
    for case in fixtures.values().flatten() {
        let what = json!(case.args).to_string();
        let loss = loss(&case.args);
        // There likelihoods are computed in single precision, here in double.
        let tolerance = if loss.is_distribution() { 1e-5 } else { 2e-6 };
        let [pred, target, mask] = &case.inputs[..] else { panic!("three inputs") };
        let horizon = target.shape[1];
        let mut weights = mask.data.clone();
        loss.weigh(&mut weights, horizon);
        let total: f64 = weights.iter().map(|&w| f64::from(w)).sum();
        let history = case.insample.as_ref().map_or(1, |insample| insample.shape[1]);
        let insample = values(&case.insample).chunks_exact(history);
        let error_scale: Vec<f32> =
            insample.map(|history| loss.error_scale(history, &vec![1.0; history.len()])).collect();
        let truth = Targets {
            error_scale: &error_scale,
            loc: values(&case.loc),
            scale: values(&case.scale),
            ..Targets::new(horizon, &target.data, &weights)
        };

        let output = Var::input(Tensor::from_slice(&pred.data, &pred.shape[..]));
        let mean = loss.mean(&output, truth, total);
        let part = loss.part(mean.value().item().into(), truth, total);
        let (found, slope) = loss.value_and_slope(part);
        close(found as f32, case.output.data[0], tolerance, &what);
        // Forecasts of implicit quantiles are other numbers than the outputs in training.
        if loss.implicit().is_none() {
            let (found, _) = loss.value_and_slope(loss.sums(&pred.data, truth).divided_by(total));
            close(found as f32, case.output.data[0], tolerance, &what);
        }

        mean.backward(&mut []);
        let grad = output.grad().expect("a gradient").to_vec();
        let expected = &case.grads[0].as_ref().expect("a gradient").data;
        for (i, (found, &expected)) in grad.iter().zip(expected).enumerate() {
            close(found * slope as f32, expected, tolerance, &format!("{what}: gradient {i}"));
        }
    }
}

#[test]
fn quantiles_and_suffixes_agree_with_neuralforecast() {
    for case in cases().values().flatten() {
        let loss = loss(&case.args);
        assert_eq!(json!(loss.suffixes()), case.args["output_names"], "{:?}", case.args);
        assert_eq!(loss.column_quantiles().len(), loss.suffixes().len());
        if let Some(quantiles) = case.args.get("quantiles") {
            let expected: Vec<f32> = serde_json::from_value(quantiles.clone()).expect("numbers");
            assert_eq!(loss.quantiles().expect("quantiles"), expected);
            let columns: Vec<f32> = loss.column_quantiles().into_iter().flatten().collect();
            assert_eq!(columns, expected);
        }
    }
}

/// Mean and parameters are neuralforecast's, quantiles scipy's.
#[test]
fn distributions_forecast_mean_quantiles_and_parameters() {
    let fixtures = cases();
    let cases: Vec<&Case> = fixtures.values().flatten().filter(|case| case.columns.is_some()).collect();
    assert_eq!(cases.len(), 6 + 2 + 9);
    for case in cases {
        let (loss, expected) = (loss(&case.args), case.columns.as_ref().expect("filtered"));
        let (pred, steps) = (&case.inputs[0], case.inputs[0].shape[1]);
        let columns = loss.columns();
        assert_eq!(columns.count(), loss.suffixes().len());
        let (outputs, told) = (steps * loss.outputs(), steps * columns.count());
        for (window, output) in pred.data.chunks_exact(outputs).enumerate() {
            let mut columns_of_steps = vec![0.0; told];
            let (loc, scale) = (values(&case.loc)[window], values(&case.scale)[window]);
            loss.forecast(&columns, output, loc, scale, &mut columns_of_steps);
            // Of what has no formula only the mean is there.
            let count = expected.shape[2];
            for (row, expected) in columns_of_steps
                .chunks_exact(columns.count())
                .zip(expected.data.chunks_exact(count).skip(window * steps))
            {
                for (i, (&value, &expected)) in row.iter().zip(expected).enumerate() {
                    close(value, expected, 1e-5, &format!("{:?}: column {i}", case.args));
                }
                assert!(
                    row[2] <= row[3] && row[3] <= row[1] && row[1] <= row[4] && row[4] <= row[5],
                    "{row:?}"
                );
            }
        }
    }
}

#[test]
fn only_known_history_gauges() {
    const NAN: f32 = f32::NAN;
    let loss = |value: Value| Loss::parse(&value).expect("a loss");
    let (history, mask) = ([9.0, 1.0, NAN, 4.0, 5.0, 2.0], [0.0, 1.0, 0.0, 1.0, 1.0, 1.0]);
    let seasonal = loss(json!({"MASE": {"seasonality": 2}}));
    assert_eq!(seasonal.error_scale(&history, &mask), 2.5 - 0.0);
    assert_eq!(loss(json!("relMSE")).error_scale(&history, &[1.0, 1.0, 1.0, 1.0, 0.0, 0.0]), 4.0);
    let deviation = (10.0_f32 / 4.0).sqrt() + 0.01;
    assert!((loss(json!("TukeyLoss")).error_scale(&history, &mask) - deviation).abs() < 1e-6);
    assert_eq!(loss(json!({"TukeyLoss": {"normalize": false}})).error_scale(&history, &mask), 1.0);
    // Nothing known: nothing is divided by zero.
    assert_eq!(seasonal.error_scale(&history, &[0.0; 6]), 0.0);
    let truth = Targets { error_scale: &[0.0], ..Targets::new(2, &[1.0, 2.0], &[1.0, 1.0]) };
    assert_eq!(seasonal.sums(&[3.0, 3.0], truth).sum(), 0.0);
}

/// Whatever stands where nothing counts: value and gradient are 0 there.
#[test]
fn steps_without_weight_do_not_count() {
    let mut losses: Vec<Loss> = Vec::new();
    for name in Loss::NAMES {
        let arguments = match name {
            "MASE" => json!({"seasonality": 1}),
            "QuantileLoss" | "HuberQLoss" => json!({"q": 0.4}),
            "DistributionLoss" => json!({"distribution": "NegativeBinomial"}),
            _ => json!({}),
        };
        losses.push(Loss::new(name, arguments.as_object().expect("an object")).expect("a loss"));
    }
    for loss in losses {
        // A value and its probability of an implicit quantile.
        let outputs = if loss.implicit().is_some() { 2 } else { loss.outputs() };
        let run = |unknown: f32| {
            let target = [1.0, unknown, 3.0, 0.5, unknown, unknown];
            let weights = [1.0, 0.0, 2.0, 1.0, 0.0, 0.0];
            let numbers = |outputs: usize| -> Vec<f32> {
                let number = |i| if weights[i / outputs] == 0.0 { unknown } else { i as f32 * 0.3 + 0.2 };
                (0..6 * outputs).map(number).collect()
            };
            let (prediction, forecasts) = (numbers(outputs), numbers(loss.outputs()));
            let truth = Targets { error_scale: &[2.0, 3.0], ..Targets::new(3, &target, &weights) };
            let output = Var::input(Tensor::from_slice(&prediction, [2, 3, outputs]));
            let mean = loss.mean(&output, truth, 4.0);
            mean.backward(&mut []);
            (mean.value().item(), loss.sums(&forecasts, truth), output.grad().expect("a gradient").to_vec())
        };
        let (known, unknown) = (run(0.0), run(f32::NAN));
        let moved = known.2.iter().any(|&slope| slope != 0.0);
        assert!(known.0.is_finite() && (moved || !loss.trains()), "{}: {known:?}", loss.name());
        assert_eq!(known, unknown, "{}", loss.name());
    }
}

#[test]
fn accuracy_is_better_where_it_is_higher() {
    let loss = |name: &str| Loss::parse(&json!(name)).expect("a loss");
    let accuracy = loss("Accuracy");
    let truth = Targets::new(4, &[1.0, 2.0, 3.0, f32::NAN], &[1.0, 1.0, 2.0, 0.0]);
    let (share, _) = accuracy.value_and_slope(accuracy.sums(&[1.0, 1.0, 3.0, 4.0], truth).divided_by(4.0));
    assert_eq!((share, accuracy.minimised(share)), (0.75, 0.25));
    assert_eq!(loss("MSE").minimised(0.75), 0.75);
    let only_validate: Vec<&str> = Loss::NAMES
        .into_iter()
        .filter(|name| Loss::parse(&json!(name)).is_ok_and(|loss| !loss.trains()))
        .collect();
    assert_eq!(only_validate, ["sCRPS", "Accuracy"]);
}

#[test]
fn arguments_survive_a_round_trip() {
    for written in [
        json!("MAE"),
        json!("RMSE"),
        json!({"HuberLoss": {"delta": 0.5}}),
        json!({"QuantileLoss": {"q": 0.25}}),
        json!({"MQLoss": {"level": [99.5, 80]}}),
        json!({"MASE": {"seasonality": 24}}),
        json!({"relMSE": {"y_train": null}}),
        json!({"TukeyLoss": {"c": 2, "normalize": false}}),
        json!({"FreDF": {"alpha": 1}}),
        json!({"HuberQLoss": {"q": 0.25, "delta": 2}}),
        json!({"HuberMQLoss": {"quantiles": [0.9, 0.2], "delta": 2}}),
        json!({"DistributionLoss": {"distribution": "StudentT", "level": [50], "return_params": true}}),
        json!({"DistributionLoss": {"distribution": "Tweedie", "rho": 1.5, "num_samples": 10, "quantiles": [0.9, 0.2]}}),
        json!({"DistributionLoss": {"distribution": "Tweedie", "rho": 1.5, "softplus": true}}),
        json!({"DistributionLoss": {"distribution": "ISQF", "quantiles": [0.9, 0.2], "num_pieces": 3}}),
        json!({"GMM": {"n_components": 3, "weighted": true, "horizon_correlation": true, "batch_correlation": false}}),
        json!({"PMM": {"quantiles": [0.9, 0.2], "return_params": true}}),
        json!({"NBMM": {"level": [50], "num_samples": 10}}),
        json!({"sCRPS": {"quantiles": [0.9, 0.2]}}),
        json!("Accuracy"),
    ] {
        let loss = Loss::parse(&written).expect("a loss");
        assert_eq!(Loss::new(loss.name(), &loss.arguments()).expect("the same loss"), loss);
    }
    let suffixes = |written: Value| Loss::parse(&written).expect("a loss").suffixes();
    assert_eq!(
        suffixes(json!({"MQLoss": {"level": [99.5, 80]}})),
        ["-median", "-lo-99.5", "-lo-80", "-hi-80", "-hi-99.5"]
    );
    assert_eq!(suffixes(json!({"HuberQLoss": {"q": 0.25}})), ["_q0.25_d1.0"]);
    assert_eq!(suffixes(json!({"HuberQLoss": {"q": 0.25, "delta": 2}})), ["_q0.25_d2"]);
}

/// The expected names are neuralforecast's.
#[test]
fn quantiles_count_once_and_are_named_by_rounded_percentages() {
    let loss = Loss::parse(&json!({"MQLoss": {"quantiles": [0.9, 0.5, 0.05, 0.333, 0.9]}})).expect("a loss");
    assert_eq!(loss.suffixes(), ["-hi-80.0", "-median", "-lo-90.0", "-lo-33.4"]);
    let loss = Loss::parse(&json!({"MQLoss": {"level": [80, 99.5, 80]}})).expect("a loss");
    assert_eq!(loss.suffixes(), ["-median", "-lo-99.5", "-lo-80", "-hi-80", "-hi-99.5"]);
}

#[test]
fn refused_losses_say_why() {
    let message = |value: Value| Loss::parse(&value).expect_err("no loss").to_string();
    assert!(message(json!("MEA")).contains("loss must be one of MAE, MSE, RMSE"));
    assert!(message(json!(3)).contains("loss must be a name"));
    assert!(
        message(json!({"HuberLoss": {"delta": -1}})).contains("delta must be a positive number, found -1")
    );
    assert!(message(json!({"HuberLoss": {"beta": 1}})).contains("loss.HuberLoss.beta must be left out"));
    assert!(message(json!("QuantileLoss")).contains("q must be a number between 0 and 1"));
    assert!(message(json!({"MQLoss": {"level": [100]}})).contains("percentages between 0 and 100"));
    assert!(message(json!({"MQLoss": {"quantiles": []}})).contains("a list of numbers"));
    assert!(message(json!({"MQLoss": {"quantiles": [0.1, 1.0]}})).contains("between 0 and 1"));
    assert!(message(json!("MASE")).contains("seasonality must be given"));
    assert!(message(json!({"MASE": {"seasonality": 1.5}})).contains("a whole number"));
    assert!(
        message(json!({"TukeyLoss": {"horizon_weight": [1]}}))
            .contains("loss.TukeyLoss.horizon_weight must be left out")
    );
    assert!(message(json!({"FreDF": {"alpha": 1.5}})).contains("from 0 to 1, found 1.5"));
    assert!(message(json!("DistributionLoss")).contains("one of Normal, StudentT"));
    let isqf = |own: Value| message(json!({"DistributionLoss": own}));
    assert!(isqf(json!({"distribution": "ISQF", "num_pieces": 0})).contains("num_pieces must be"));
    assert!(
        isqf(json!({"distribution": "ISQF", "return_params": true})).contains("return_params must be false")
    );
    assert!(isqf(json!({"distribution": "Normal", "num_pieces": 3})).contains("num_pieces must be left out"));
    assert!(
        message(json!({"DistributionLoss": {"distribution": "Tweedie", "rho": 2}})).contains("rho must be")
    );
    assert!(
        message(json!({"DistributionLoss": {"distribution": "Normal", "rho": 1.5}}))
            .contains("loss.DistributionLoss.rho must be left out")
    );
    let tweedie = json!({"DistributionLoss": {"distribution": "Tweedie", "rho": 1.5, "return_params": true}});
    assert!(message(tweedie).contains("return_params must be false"));
    assert!(
        message(json!({"PMM": {"batch_correlation": true}}))
            .contains("loss.PMM.batch_correlation must be false")
    );
    assert!(message(json!({"NBMM": {"horizon_correlation": true}})).contains("must be left out"));
    assert!(message(json!({"GMM": {"n_components": 0}})).contains("a whole number between 1 and 1000"));
    assert!(message(json!({"GMM": {"horizon_weight": [1]}})).contains("must be left out"));
}
