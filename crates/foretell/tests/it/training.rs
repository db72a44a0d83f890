//! Training as a user sees it: it learns, stops early, tells of its progress, and says what is wrong.

use std::sync::{Arc, Mutex};

use foretell::{Forecaster, Freq, ModelSpec, Panel, ValidationOptions, Verdict};
use serde_json::{Value, json};

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

/// A model that repeats the last value.
fn naive() -> ModelSpec {
    ModelSpec::new("Naive", H, 1).expect("a model")
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
        let checked = Forecaster::new([spec, naive()])
            .expect("models")
            .cross_validate(&panel(), &ValidationOptions::new(4, 3))
            .expect("a validation");
        let metrics = checked.metrics(&panel(), 1);
        assert!(metrics[0].mae < 0.1 * metrics[1].mae, "{name}: {metrics:?}");
        assert_eq!(checked.frame.n_rows(), 2 * 4 * H);
        assert_eq!(checked.frame.columns[0].0, "y");
    }
}

#[test]
fn recurrent_models_learn_the_wave_in_both_modes() {
    for name in ["RNN", "LSTM", "GRU"] {
        for recurrent in [false, true] {
            let spec = spec(name)
                .set("recurrent", recurrent)
                .and_then(|spec| spec.set("h_train", 4))
                .and_then(|spec| spec.set("encoder_hidden_size", 16))
                .and_then(|spec| spec.set("decoder_hidden_size", 16))
                .and_then(|spec| spec.set("learning_rate", 1e-2))
                .and_then(|spec| spec.set("max_steps", 150))
                .expect("valid hyper-parameters");
            let forecaster = Forecaster::new([spec, naive()]).expect("models").val_size(H);
            let checked =
                forecaster.cross_validate(&panel(), &ValidationOptions::new(4, 3)).expect("a validation");
            let metrics = checked.metrics(&panel(), 1);
            assert!(metrics[0].mae < 0.2 * metrics[1].mae, "{name}, recurrent {recurrent}: {metrics:?}");
        }
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
fn every_optimiser_and_schedule_learns() {
    for (optimizer, scheduler, kwargs, rate) in [
        ("AdamW", "CosineWarmup", json!({ "warmup_steps": 10 }), 1e-2),
        ("SGD", "OneCycleLR", json!({ "three_phase": true }), 1e-1),
        ("RMSprop", "StepLR", json!({ "step_size": 20, "gamma": 0.5 }), 1e-2),
        ("RAdam", "CosineAnnealingLR", Value::Null, 1e-2),
        ("Adam", "ReduceLROnPlateau", json!({ "patience": 0, "threshold": 0.9 }), 1e-2),
    ] {
        let spec = spec("NLinear")
            .set("optimizer", optimizer)
            .and_then(|spec| spec.set("lr_scheduler", scheduler))
            .and_then(|spec| spec.set("lr_scheduler_kwargs", kwargs))
            .and_then(|spec| spec.set("learning_rate", rate))
            .and_then(|spec| spec.set("gradient_clip_val", 1.0))
            .and_then(|spec| spec.set("val_check_steps", 10))
            .expect("valid hyper-parameters");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let listener = seen.clone();
        let fitted =
            Forecaster::new([spec]).expect("a model").val_size(24).on_progress(move |_, progress| {
                listener.lock().expect("no panic").push((progress.train_loss, progress.learning_rate));
                Verdict::Continue
            });
        fitted.fit(&panel()).expect("a fit");
        let seen = seen.lock().expect("no panic");
        assert!(seen[59].0 < 0.5 * seen[0].0, "{optimizer}: from {} to {}", seen[0].0, seen[59].0);
        let (first, last) = (seen[0].1, seen[59].1);
        assert!(last < first, "{scheduler}: from {first} to {last}");
    }
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
    assert!(outcome.steps < 500, "it stopped early, after {} steps", outcome.steps);
    assert_eq!(outcome.valid_loss, Some(best));
    assert_eq!(checks.iter().rposition(|&loss| loss == best), Some(checks.len() - 4), "after three checks");
}

#[test]
fn mistakes_are_explained() {
    let error =
        |forecaster: Forecaster, panel: &Panel| forecaster.fit(panel).expect_err("an error").to_string();
    let forecaster = |spec: ModelSpec| Forecaster::new([spec]).expect("a model");
    assert!(
        error(forecaster(spec("MLP")).val_size(3), &panel()).contains("val_size must be 0 or at least h = 8")
    );
    let patient = spec("MLP").set("early_stop_patience_steps", 2).expect("patience");
    assert!(error(forecaster(patient), &panel()).contains("needs validation windows"));
    let plateau = spec("MLP").set("lr_scheduler", "ReduceLROnPlateau").expect("a schedule");
    assert!(error(forecaster(plateau), &panel()).contains("ReduceLROnPlateau needs validation windows"));
    let exogenous = spec("MLP").set("hist_exog_list", json!(["wind"])).expect("a list");
    assert!(error(forecaster(exogenous), &panel()).contains("wind"));
    let short = Panel::from_series(Freq::parse("h").expect("a frequency"), [("s", 0, vec![1.0; 20])])
        .expect("a panel");
    assert!(error(forecaster(spec("MLP")), &short).contains('s'));

    let other = ModelSpec::new("MLP", 9, 48).expect("a model");
    let message = Forecaster::new([spec("MLP"), other]).expect_err("an error").to_string();
    assert!(message.contains("MLP has h = 8, MLP has h = 9"), "{message}");
    assert!(Forecaster::new([]).is_err());
    let set = |name: &str, value: serde_json::Value| {
        spec("NHITS").set(name, value).expect_err("an error").to_string()
    };
    assert!(set("activation_", json!("ReLU")).contains("did you mean activation?"));
    assert!(
        set("max_steps", json!("many"))
            .contains("max_steps must be a whole number of at least 0, like its default 1000")
    );
    assert!(
        set("valid_loss", json!("MEA")).contains("NHITS: hyper-parameter valid_loss must be one of MAE,")
    );
    let delta = json!({ "HuberLoss": { "delta": -1 } });
    assert!(
        set("loss", delta).contains("NHITS: hyper-parameter loss.HuberLoss.delta must be a positive number")
    );
    assert!(set("n_blocks", json!([1, -1, 1])).contains("n_blocks"));
    assert!(set("optimizer", json!("LBFGS")).contains("a class of torch.optim that foretell has"));
    assert!(set("scaler_type", json!("standart")).contains("did you mean standard?"));
    assert!(ModelSpec::new("NHITZ", 1, 1).expect_err("an error").to_string().contains("did you mean NHITS?"));
}

#[test]
fn a_loss_that_is_no_number_stops_with_the_place() {
    let mut y = vec![1.0e30_f32; 300];
    y.iter_mut().enumerate().for_each(|(t, y)| *y *= t as f32);
    let panel =
        Panel::from_series(Freq::parse("h").expect("a frequency"), [("huge", 0, y)]).expect("a panel");
    let wild = ModelSpec::new("MLP", H, 48).and_then(|spec| spec.set("loss", "MSE")).expect("a model");
    let wild = wild.set("max_steps", 50).and_then(|spec| spec.set("hidden_size", 16)).expect("steps");
    let error = Forecaster::new([wild]).expect("a model").fit(&panel).expect_err("an error").to_string();
    assert!(error.contains("MLP: the loss is infinite at step 1,") && error.contains("huge"), "{error}");
}

#[test]
fn rows_without_a_known_value_are_not_scored() {
    let y: Vec<f32> = (0..300).map(|t| 100.0 + (t as f32 * std::f32::consts::TAU / 24.0).sin()).collect();
    let mask: Vec<f32> = (0..300).map(|t| if (285..290).contains(&t) { 0.0 } else { 1.0 }).collect();
    let freq = Freq::parse("h").expect("a frequency");
    let times: Vec<i64> = (0..300).map(|t| freq.next(0, t).expect("a time")).collect();
    let panel = Panel::builder(freq.kind()).freq(freq).series("s", &times, &y).available_mask(&mask).build();
    let panel = panel.expect("a panel");
    let model = spec("NLinear").set("learning_rate", 1e-2).expect("a rate");
    let seasonal = ModelSpec::new("SeasonalNaive", H, 1).expect("a model").set("season_length", 24);
    let checked = Forecaster::new([model, naive(), seasonal.expect("a season")])
        .expect("models")
        .cross_validate(&panel, &ValidationOptions::new(3, H))
        .expect("a validation");
    assert_eq!(checked.frame.columns[0].1.iter().filter(|y| y.is_nan()).count(), 5);
    for metrics in checked.metrics(&panel, 24) {
        assert!(metrics.mae < 1.0 && metrics.mase.is_finite(), "{metrics:?}");
    }
}

#[test]
fn quantiles_in_any_order_are_scored_by_the_median() {
    let listed = |quantiles: [f64; 3]| {
        let spec = spec("NLinear").set("learning_rate", 1e-2).expect("a rate");
        let spec = spec.set("loss", json!({ "MQLoss": { "quantiles": quantiles } })).expect("a loss");
        let checked = Forecaster::new([spec])
            .expect("a model")
            .cross_validate(&panel(), &ValidationOptions::new(2, H))
            .expect("a validation");
        let median = checked.frame.column("NLinear-median").expect("a median").to_vec();
        let truth = &checked.frame.columns[0].1;
        let errors = truth.iter().zip(&median).map(|(y, m)| f64::from((y - m).abs()));
        (checked.metrics(&panel(), 24)[0].mae, errors.sum::<f64>() / truth.len() as f64)
    };
    for quantiles in [[0.1, 0.5, 0.9], [0.9, 0.1, 0.5]] {
        let (scored, by_hand) = listed(quantiles);
        assert!((scored - by_hand).abs() < 1e-6 * by_hand, "{scored}, by hand {by_hand}");
    }
}

#[test]
fn a_series_too_short_for_all_windows_has_fewer() {
    let wave = |len: i32| (0..len).map(|t| (t as f32 * 0.3).sin()).collect::<Vec<_>>();
    let freq = Freq::parse("h").expect("a frequency");
    let panel = Panel::from_series(freq, [("long", 0, wave(300)), ("short", 0, wave(20))]).expect("a panel");
    let checked = Forecaster::new([spec("NLinear")])
        .expect("a model")
        .cross_validate(&panel, &ValidationOptions::new(3, H))
        .expect("a validation");
    let rows = |id: &str| checked.frame.ids.iter().filter(|found| &***found == id).count();
    assert_eq!((rows("long"), rows("short")), (3 * H, 2 * H));
}

#[test]
fn names_that_would_collide_are_refused_before_training() {
    let alias = |name: &str, alias: &str| spec(name).set("alias", alias).expect("an alias");
    let fit = |specs: Vec<ModelSpec>| {
        Forecaster::new(specs).and_then(|f| f.fit(&panel())).expect_err("a collision")
    };
    assert!(fit(vec![alias("NLinear", "y")]).to_string().contains("would be called y"));
    let steps = |alias: ModelSpec, steps: u64| alias.set("max_steps", steps).expect("steps");
    let shadow = vec![
        steps(alias("NLinear", "x"), 1),
        steps(alias("NLinear", "x"), 2),
        steps(alias("NLinear", "x1"), 3),
    ];
    assert!(fit(shadow).to_string().contains("would be called x1"));
    assert!(fit(vec![alias("NLinear", "x"), alias("DLinear", "x")]).to_string().contains("have the alias x"));
    for bad in ["", "a/b", ".hidden", &"x".repeat(241)] {
        assert!(spec("NLinear").set("alias", bad).is_err(), "{bad:?}");
    }
    // The longest is that of a file too.
    let folder = std::env::temp_dir().join(format!("foretell-long-alias-{}", std::process::id()));
    let long = Forecaster::new([steps(alias("NLinear", &"x".repeat(240)), 1)]).and_then(|f| f.fit(&panel()));
    long.expect("a model").save(&folder, true).expect("a directory");
    std::fs::remove_dir_all(&folder).expect("the directory is there");
}

#[test]
fn absurd_sizes_are_errors() {
    for (name, value) in [
        ("windows_batch_size", json!(1_000_000_000_000_u64)),
        ("hidden_size", json!(1_u64 << 40)),
        ("num_layers", json!(1_000_000)),
        ("random_seed", json!(1_u64 << 32)),
        ("max_steps", json!(-1)),
    ] {
        let spec = spec("MLP").set(name, value).and_then(|spec| spec.check());
        assert!(spec.is_err(), "{name}");
    }
    let wide =
        spec("NHITS").set("mlp_units", json!([[1_u64 << 40, 1_u64 << 40]])).and_then(|spec| spec.check());
    assert!(wide.expect_err("too large").to_string().contains("parameters; choose smaller layers"));
    assert!(ModelSpec::new("NHITS", usize::MAX, 1).is_err());
    let wide = spec("DLinear").set("moving_avg_window", 1_000_000_000_000_001_u64).expect("odd");
    Forecaster::new([wide]).expect("a model").fit(&panel()).expect("a wide window is a mean of the ends");
}
