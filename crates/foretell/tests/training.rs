//! Training as a user sees it: it learns, stops early, tells of its progress, and says what is wrong.

use std::sync::{Arc, Mutex};

use foretell::{Forecaster, Freq, ModelSpec, Panel, Verdict};
use serde_json::json;

const H: usize = 8;

/// Two series of 300 hours: a day's wave each, of different heights.
fn panel() -> Panel {
    let wave = |height: f32| {
        (0..300).map(move |t| height * (t as f32 * std::f32::consts::TAU / 24.0).sin() + height)
    };
    let series = [("low", 0, wave(1.0).collect::<Vec<_>>()), ("high", 0, wave(100.0).collect())];
    Panel::from_series(Freq::parse("h").expect("a frequency"), series).expect("a panel")
}

fn spec(name: &str) -> ModelSpec {
    let spec = ModelSpec::new(name, H, 48).expect("a model");
    let spec = spec.set("scaler_type", "standard").and_then(|spec| spec.set("windows_batch_size", 64));
    spec.and_then(|spec| spec.set("max_steps", 60)).expect("valid hyper-parameters")
}

#[test]
fn every_model_learns_a_wave_and_beats_the_naive_forecast_of_no_season() {
    for name in ["NLinear", "DLinear", "MLP", "NHITS"] {
        let mut spec =
            spec(name).set("learning_rate", 5e-3).expect("a rate").set("max_steps", 200).expect("steps");
        if name == "MLP" {
            spec = spec.set("hidden_size", 64).expect("a size");
        }
        if name == "NHITS" {
            spec = spec.set("mlp_units", json!([[32, 32], [32, 32]])).expect("units");
        }
        let checked =
            Forecaster::new([spec]).expect("a model").cross_validate(&panel(), 4, 3).expect("a validation");
        let metrics = checked.metrics(&panel(), 1);
        assert!(metrics[0].mae < 0.1 * metrics[1].mae, "{name}: {metrics:?}");
        assert_eq!(checked.frame.n_rows(), 2 * 4 * H);
        assert_eq!(checked.frame.columns[0].0, "y");
    }
}

#[test]
fn the_loss_falls_and_every_step_is_told() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let listener = seen.clone();
    let fitted = Forecaster::new([spec("NLinear").set("learning_rate", 1e-2).expect("a rate")])
        .expect("a model")
        .on_progress(move |name, progress| {
            assert_eq!(name, "NLinear");
            listener.lock().expect("no panic").push(*progress);
            Verdict::Continue
        })
        .fit(&panel())
        .expect("a fit");
    let seen = seen.lock().expect("no panic");
    assert_eq!(seen.iter().map(|p| p.step).collect::<Vec<_>>(), (1..=60).collect::<Vec<_>>());
    assert!(
        seen[59].train_loss < 0.5 * seen[0].train_loss,
        "{} to {}",
        seen[0].train_loss,
        seen[59].train_loss
    );
    assert_eq!(fitted.models()[0].outcome().expect("trained").steps, 60);
}

#[test]
fn a_listener_stops_training() {
    let fitted = Forecaster::new([spec("NLinear")])
        .expect("a model")
        .on_progress(|_, progress| if progress.step == 7 { Verdict::Stop } else { Verdict::Continue })
        .fit(&panel())
        .expect("a fit");
    assert_eq!(fitted.models()[0].outcome().expect("trained").steps, 7);
}

#[test]
fn early_stopping_goes_back_to_the_best_weights() {
    // A rate at which the loss soon grows.
    let spec = spec("MLP")
        .set("hidden_size", 16)
        .and_then(|spec| spec.set("learning_rate", 0.5))
        .and_then(|spec| spec.set("early_stop_patience_steps", 3))
        .and_then(|spec| spec.set("val_check_steps", 1))
        .and_then(|spec| spec.set("max_steps", 500))
        .expect("valid hyper-parameters");
    let checks = Arc::new(Mutex::new(Vec::new()));
    let listener = checks.clone();
    let fitted = Forecaster::new([spec])
        .expect("a model")
        .val_size(24)
        .on_progress(move |_, progress| {
            listener.lock().expect("no panic").extend(progress.valid_loss);
            Verdict::Continue
        })
        .fit(&panel())
        .expect("a fit");
    let checks = checks.lock().expect("no panic");
    let best = checks.iter().copied().fold(f64::INFINITY, f64::min);
    let outcome = fitted.models()[0].outcome().expect("trained");
    assert!(outcome.steps < 500, "it stopped early");
    assert_eq!(outcome.valid_loss, Some(best));
    assert_eq!(checks.iter().rposition(|&loss| loss == best), Some(checks.len() - 4), "after three checks");
}

#[test]
fn what_cannot_be_is_explained() {
    let error =
        |forecaster: Forecaster, panel: &Panel| forecaster.fit(panel).err().expect("an error").to_string();
    let forecaster = |spec: ModelSpec| Forecaster::new([spec]).expect("a model");
    assert!(
        error(forecaster(spec("MLP")).val_size(3), &panel()).contains("val_size must be 0 or at least h = 8")
    );
    let patient = spec("MLP").set("early_stop_patience_steps", 2).expect("patience");
    assert!(error(forecaster(patient), &panel()).contains("needs validation windows"));
    let exogenous = spec("MLP").set("hist_exog_list", json!(["wind"])).expect("a list");
    assert!(error(forecaster(exogenous), &panel()).contains("wind"));
    let short = Panel::from_series(Freq::parse("h").expect("a frequency"), [("s", 0, vec![1.0; 20])])
        .expect("a panel");
    assert!(error(forecaster(spec("MLP")), &short).contains('s'));

    let other = ModelSpec::new("MLP", 9, 48).expect("a model");
    let message = Forecaster::new([spec("MLP"), other]).err().expect("an error").to_string();
    assert!(message.contains("MLP has h = 8, MLP has h = 9"), "{message}");
    assert!(Forecaster::new([]).is_err());
    let set = |name: &str, value: serde_json::Value| {
        spec("NHITS").set(name, value).err().expect("an error").to_string()
    };
    assert!(set("activation_", json!("ReLU")).contains("did you mean activation?"));
    assert!(set("max_steps", json!("many")).contains("max_steps must be like"));
    assert!(set("n_blocks", json!([1, -1, 1])).contains("n_blocks"));
    assert!(set("optimizer", json!("SGD")).contains("optimizer"));
    assert!(set("scaler_type", json!("standart")).contains("standard"));
    assert!(
        ModelSpec::new("NHITZ", 1, 1).err().expect("an error").to_string().contains("did you mean NHITS?")
    );
}

#[test]
fn a_loss_that_is_no_number_stops_with_the_place() {
    let mut y = vec![1.0e30_f32; 300];
    y.iter_mut().enumerate().for_each(|(t, y)| *y *= t as f32);
    let panel =
        Panel::from_series(Freq::parse("h").expect("a frequency"), [("huge", 0, y)]).expect("a panel");
    let wild = ModelSpec::new("MLP", H, 48).and_then(|spec| spec.set("loss", "MSE")).expect("a model");
    let wild = wild.set("max_steps", 50).and_then(|spec| spec.set("hidden_size", 16)).expect("steps");
    let error = Forecaster::new([wild]).expect("a model").fit(&panel).err().expect("an error").to_string();
    assert!(error.contains("MLP: the loss is not a number at step") && error.contains("huge"), "{error}");
}
