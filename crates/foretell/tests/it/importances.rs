//! Feature importances against neuralforecast's of the same models and data: `importances.json` of
//! `fixtures/checkpoints/fusion`, written by `compare/checkpoints.py`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use foretell::{
    Fitted, Forecaster, Freq, Future, ModelSpec, Panel, ReadOptions, StepWeights, jiff::civil::date,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Expected {
    past: BTreeMap<String, Vec<f32>>,
    future: Option<BTreeMap<String, Vec<f32>>>,
    #[serde(rename = "static")]
    fixed: BTreeMap<String, f32>,
    attention: Vec<Vec<f32>>,
}

fn case() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/checkpoints/fusion")
}

fn data(fitted: &Fitted) -> (Panel, Future) {
    let options = ReadOptions::new().freq(fitted.freq());
    let panel = Panel::from_csv(case().join("panel.csv"), &options).unwrap();
    let panel = panel.with_static_file(case().join("static.csv"), &options).unwrap();
    let future = Future::from_file(case().join("futr.csv"), &options, &panel, fitted.h()).unwrap();
    (panel, future)
}

#[track_caller]
fn close(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() < 1e-4, "{what}[{i}]: {found}, in neuralforecast {expected}");
    }
}

fn columns_close(found: &StepWeights, first: i64, expected: &BTreeMap<String, Vec<f32>>, what: &str) {
    let mut names: Vec<&String> = found.columns.iter().map(|(name, _)| name).collect();
    names.sort();
    assert_eq!(names, expected.keys().collect::<Vec<_>>(), "{what}");
    assert_eq!(found.steps.first(), Some(&first), "{what}");
    for (name, expected) in expected {
        close(found.column(name).unwrap(), expected, &format!("{what}, {name}"));
    }
}

#[test]
fn weights_are_those_of_neuralforecast() {
    let expected: BTreeMap<String, Expected> =
        serde_json::from_str(&std::fs::read_to_string(case().join("importances.json")).unwrap()).unwrap();
    let fitted = Fitted::load(case().join("model")).unwrap();
    let (panel, future) = data(&fitted);
    let found = fitted.feature_importances(&panel, Some(&future)).unwrap();
    assert_eq!((found.len(), expected.len()), (3, 3));
    for found in found {
        let (name, expected) = (&found.model, &expected[&found.model]);
        assert_eq!(found.series, panel.n_series());
        let past = found.past.as_ref().unwrap();
        let first = 1 - past.steps.len() as i64;
        columns_close(past, first, &expected.past, &format!("{name}: past"));
        assert_eq!(found.future.is_some(), expected.future.is_some(), "{name}");
        if let (Some(future), Some(expected)) = (&found.future, &expected.future) {
            columns_close(future, 1, expected, &format!("{name}: future"));
        }
        let fixed: BTreeMap<String, f32> = found.fixed.iter().cloned().collect();
        assert!(fixed.keys().eq(expected.fixed.keys()), "{name}");
        let [found_fixed, expected_fixed] =
            [&fixed, &expected.fixed].map(|weights| weights.values().copied().collect::<Vec<f32>>());
        close(&found_fixed, &expected_fixed, &format!("{name}: static"));
        let attention = found.attention.as_ref().unwrap();
        assert_eq!(attention.steps.len(), expected.attention.len());
        for (row, expected) in expected.attention.iter().enumerate() {
            let read: Vec<f32> = attention.columns.iter().map(|(_, weights)| weights[row]).collect();
            close(&read, expected, &format!("{name}: attention of step {}", attention.steps[row]));
        }
        let [(step, _), ..] = &attention.columns[..] else { panic!("{name}: no attention") };
        assert_eq!(*step, first.to_string());
    }
}

/// Blocks of series, threads and batches leave the means unchanged.
#[test]
fn weights_do_not_depend_on_threads() {
    let fitted = Fitted::load(case().join("model")).unwrap();
    let (panel, future) = data(&fitted);
    let one = fitted.clone().threads(1).unwrap().feature_importances(&panel, Some(&future)).unwrap();
    let three = fitted.threads(3).unwrap().feature_importances(&panel, Some(&future)).unwrap();
    assert_eq!(one, three);
}

#[test]
fn models_that_do_not_say_what_counted_are_an_error() {
    let values = (0..60).map(|day| (day as f32 * 0.9).sin()).collect::<Vec<f32>>();
    let panel = Panel::from_series(Freq::parse("D").unwrap(), [("a", date(2024, 1, 1), values)]).unwrap();
    let spec = |model: &str| ModelSpec::new(model, 3, 8).unwrap().set("max_steps", 1).unwrap();
    let fitted = Forecaster::new([spec("NLinear"), spec("DLinear")]).unwrap().fit(&panel).unwrap();
    let error = fitted.feature_importances(&panel, None).unwrap_err().to_string();
    assert!(error.contains("NLinear, DLinear") && error.contains("TFT"), "{error}");
    // Beside one that does, they are passed over.
    let small = spec("TFT").set("hidden_size", 4).unwrap().set("n_head", 2).unwrap();
    let fitted = Forecaster::new([spec("NLinear"), small]).unwrap().fit(&panel).unwrap();
    let found = fitted.feature_importances(&panel, None).unwrap();
    assert_eq!(found.iter().map(|found| found.model.as_str()).collect::<Vec<_>>(), ["TFT"]);
    assert!(found[0].future.is_none() && found[0].fixed.is_empty());
    let past = found[0].past.as_ref().unwrap();
    assert!(past.column("repeated_target").is_some() && past.column("observed_target").is_some());
    let means: f32 = past.means_from(i64::MIN).iter().map(|(_, mean)| mean).sum();
    assert!((means - 1.0).abs() < 1e-5, "{means}");
}
