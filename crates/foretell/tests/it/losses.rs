//! Every loss trains a model, at any number of threads alike, and tells what its columns promise.

use std::sync::{Arc, Mutex};

use foretell::own_estimator::Estimator;
use foretell::{
    DecomposeOptions, Fitted, ForecastColumn, Forecaster, Frame, Freq, ModelSpec, Panel, PredictOptions,
    ValidationOptions, Verdict,
};
use serde_json::{Value, json};

const H: usize = 12;

/// Four series of 400 hours: a day's wave each, at least 0, of different heights.
fn panel(of: Of) -> Panel {
    let wave = |height: f32| {
        (0..400).map(move |t| of(height * (1.0 + (t as f32 * std::f32::consts::TAU / 24.0).sin())))
    };
    let heights = [("a", 4.0), ("b", 10.0), ("c", 30.0), ("d", 50.0)];
    let series = heights.map(|(id, height)| (id, 0, wave(height).collect::<Vec<_>>()));
    Panel::from_series(Freq::parse("h").expect("a frequency"), series).expect("a panel")
}

fn spec(loss: &Value) -> ModelSpec {
    let settings = [
        ("loss", loss.clone()),
        ("scaler_type", json!("standard")),
        ("hidden_size", json!(256)),
        ("num_layers", json!(1)),
        ("windows_batch_size", json!(160)),
        ("max_steps", json!(150)),
        ("val_check_steps", json!(50)),
    ];
    let spec = ModelSpec::new("MLP", H, 36).expect("a model");
    settings.into_iter().fold(spec, |spec, (name, value)| spec.set(name, value).expect("a value"))
}

fn fit(spec: ModelSpec, panel: &Panel, threads: usize) -> Fitted {
    let forecaster = Forecaster::new([spec]).expect("a model").val_size(H).threads(threads);
    forecaster.fit(panel).expect("a fit")
}

/// A function of the wave's values.
type Of = fn(f32) -> f32;

fn round(y: f32) -> f32 {
    y.round()
}

fn same(y: f32) -> f32 {
    y
}

fn distribution(name: &str) -> Value {
    let mut arguments = json!({"distribution": name, "num_samples": 100});
    if name == "Tweedie" {
        arguments["rho"] = json!(1.5);
    }
    json!({ "DistributionLoss": arguments })
}

#[test]
fn the_names_of_columns_tell_what_losses_forecast() {
    let listed = [
        json!({"QuantileLoss": {"q": 0.3}}),
        json!({"HuberQLoss": {"q": 0.25, "delta": 2}}),
        json!({"MQLoss": {"quantiles": [0.01, 0.333, 0.5, 0.9]}}),
        json!({"MQLoss": {"level": [80, 99.5]}}),
        json!({"DistributionLoss": {"distribution": "Normal", "return_params": true}}),
        json!({"DistributionLoss": {"distribution": "StudentT", "return_params": true}}),
        json!({"DistributionLoss": {"distribution": "Bernoulli", "return_params": true}}),
        json!({"DistributionLoss": {"distribution": "NegativeBinomial", "return_params": true}}),
        json!({"DistributionLoss": {"distribution": "Poisson", "level": [50], "return_params": true}}),
        json!({"GMM": {"n_components": 2, "weighted": true, "return_params": true}}),
        json!({"PMM": {"n_components": 2, "return_params": true}}),
        json!({"NBMM": {"n_components": 2, "return_params": true}}),
    ];
    for loss in all().into_iter().map(|(loss, _)| loss).chain(listed) {
        let spec = ModelSpec::new("MLP", H, 36).and_then(|spec| spec.set("loss", loss.clone()));
        let spec = spec.unwrap_or_else(|error| panic!("{loss}: {error}"));
        let estimator: &dyn Estimator = spec.as_ref();
        let outputs = estimator.outputs();
        let columns: Vec<ForecastColumn> = outputs.iter().map(|output| output.column("MLP")).collect();
        let names: Vec<String> = columns.iter().map(ForecastColumn::name).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(ForecastColumn::read(&names), columns, "{loss}");
        for (output, column) in outputs.iter().zip(&columns) {
            // Levels in names are rounded to hundredths of a percent.
            let told = column.part().probability();
            let near = |q: f32| told.is_some_and(|told| (told - f64::from(q)).abs() < 1e-4);
            assert!(output.quantile.map_or(told.is_none(), near), "{loss}: {column}");
            assert_eq!(
                column.part().is_value(),
                output.quantile.is_some() || output.suffix.is_empty(),
                "{loss}: {column}"
            );
        }
    }
}

fn all() -> Vec<(Value, Of)> {
    let points = [
        json!("MAE"),
        json!("MSE"),
        json!("RMSE"),
        json!("SMAPE"),
        json!({"MASE": {"seasonality": 24}}),
        json!("relMSE"),
        json!("HuberLoss"),
        json!("TukeyLoss"),
        json!("FreDF"),
        json!({"HuberQLoss": {"q": 0.5}}),
        json!({"HuberMQLoss": {"level": [80]}}),
        json!({"IQLoss": {"cos_embedding_dim": 16}}),
        json!({"HuberIQLoss": {"cos_embedding_dim": 16, "delta": 0.5}}),
        distribution("ISQF"),
    ];
    let distributions = ["Normal", "StudentT", "Poisson", "NegativeBinomial", "Tweedie"];
    let distributions = distributions.map(|name| (distribution(name), round as Of));
    let mixtures = [
        (json!({"GMM": {"n_components": 2, "weighted": true}}), same as Of),
        (json!({"GMM": {"n_components": 2, "horizon_correlation": true}}), same),
        (json!({"PMM": {"n_components": 3}}), round),
        (json!({"NBMM": {"n_components": 2, "weighted": true}}), round),
    ];
    points.into_iter().map(|loss| (loss, same as Of)).chain(distributions).chain(mixtures).collect()
}

#[test]
fn every_loss_learns_a_wave() {
    for (loss, of) in all() {
        let (panel, spec) = (panel(of), spec(&loss).set("max_steps", 300).expect("steps"));
        let naive = ModelSpec::new("Naive", spec.h(), 1).expect("a model");
        let checked = Forecaster::new([spec, naive])
            .expect("models")
            .cross_validate(&panel, &ValidationOptions::new(4, 5))
            .expect("a fit");
        let metrics = checked.metrics(&panel, 1);
        // Of a distribution the spread must be learned too; Tweedie's mean is never below that of the window.
        let enough = match &loss {
            loss if loss.to_string().contains("Tweedie") => 0.8,
            loss if ["Distribution", "MM"].iter().any(|name| loss.to_string().contains(name)) => 0.5,
            _ => 0.15,
        };
        assert!(metrics[0].mae < enough * metrics[1].mae, "{loss}: {metrics:?}");
        assert_eq!(
            metrics[0].mqloss.is_some(),
            checked.frame.columns.len() > 3 || ["q", "IQ"].iter().any(|word| loss.to_string().contains(word))
        );
    }
}

#[test]
fn threads_change_no_bit() {
    for (loss, of) in all() {
        let bits = |threads: usize| -> Vec<u32> {
            let fitted = fit(spec(&loss).set("max_steps", 6).expect("steps"), &panel(of), threads);
            let outcome = *fitted.models()[0].outcome().expect("trained");
            let losses = [outcome.train_loss, outcome.valid_loss.expect("watched")].map(|loss| loss as f32);
            assert!(losses.iter().all(|loss| loss.is_finite()), "{loss}: {losses:?}");
            let forecast = fitted.predict(&panel(of), None).expect("a forecast");
            let forecast: Vec<f32> = forecast.columns.into_iter().flat_map(|(_, values)| values).collect();
            let weights = fitted.models()[0].parameters_in_order();
            weights.chain(&forecast).chain(&losses).map(|x| x.to_bits()).collect()
        };
        assert_eq!(bits(1), bits(3), "{loss}");
    }
}

/// Any quantile can be asked for: they rise, the median stands among them, and a saved model has the same.
#[test]
fn implicit_quantiles_are_those_that_are_asked_for() {
    let noisy = |id: &str, phase: f32| {
        let value =
            |t: usize| 10.0 + (t as f32 * 0.26 + phase).sin() * 3.0 + ((t * 7919) % 101) as f32 * 0.03;
        (id.to_owned(), 0, (0..400).map(value).collect::<Vec<f32>>())
    };
    let panel = Panel::from_series(Freq::parse("h").unwrap(), [noisy("a", 0.0), noisy("b", 1.0)]).unwrap();
    let fitted = fit(spec(&json!({"IQLoss": {"cos_embedding_dim": 16}})), &panel, 2);
    let options = PredictOptions::new().level(&[80.0, 95.0]);
    let frame = fitted.predict_with(&panel, &options).expect("a forecast");
    let names: Vec<&str> = frame.columns.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["MLP-lo-95", "MLP-lo-80", "MLP_ql0.5", "MLP-hi-80", "MLP-hi-95"]);
    let column = |i: usize| &frame.columns[i].1;
    for row in 0..column(0).len() {
        assert!((1..names.len()).all(|i| column(i - 1)[row] <= column(i)[row]), "row {row}");
    }
    let wide =
        |i: usize, j: usize| column(j).iter().zip(column(i)).map(|(high, low)| high - low).sum::<f32>();
    assert!(wide(0, 4) > wide(1, 3) && wide(1, 3) > 0.5, "{} and {}", wide(0, 4), wide(1, 3));
    let median = fitted.predict(&panel, None).expect("a forecast");
    assert_eq!(median.columns, [frame.columns[2].clone()], "a quantile does not depend on the others");

    let home = tempfile::tempdir().expect("a folder");
    fitted.save(home.path().join("model"), false).expect("a new directory");
    let loaded = Fitted::load(home.path().join("model")).expect("what was just written");
    assert_eq!(loaded.predict_with(&panel, &options).expect("a forecast").columns, frame.columns);
    assert!(
        loaded
            .decompose(&panel, &DecomposeOptions::new())
            .expect_err("refused")
            .to_string()
            .contains("no sum of parts")
    );
}

/// The losses of the first steps, and the validation loss.
fn reported_losses(spec: ModelSpec) -> Vec<f64> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let listener = seen.clone();
    let forecaster = Forecaster::new([spec]).expect("a model").val_size(H).on_progress(move |_, progress| {
        let mut seen = listener.lock().expect("no panic");
        seen.push(progress.train_loss);
        seen.extend(progress.valid_loss);
        Verdict::Continue
    });
    forecaster.fit(&panel(same)).expect("a fit");
    let seen = seen.lock().expect("no panic");
    seen.clone()
}

/// The score is twice the sum of the pinball losses over that of the absolute values; both validate the same forecasts.
#[test]
fn the_score_is_a_share_of_the_absolute_values() {
    let of = |valid: &str| {
        let spec = spec(&distribution("Normal")).set("valid_loss", valid).expect("a loss");
        reported_losses(spec.set("max_steps", 1).expect("steps"))[1]
    };
    let panel = panel(same);
    let last: Vec<f64> = (0..panel.n_series())
        .flat_map(|i| panel.y(i)[400 - H..].iter().map(|y| f64::from(y.abs())).collect::<Vec<_>>())
        .collect();
    let size = last.iter().sum::<f64>() / last.len() as f64;
    assert!((of("sCRPS") / (2.0 * of("MQLoss") / size) - 1.0).abs() < 1e-6);
}

/// A batch of 160 windows is two shards: the root is of the whole mean.
#[test]
fn the_root_is_that_of_the_batch() {
    let of = |name: &str| reported_losses(spec(&json!(name)).set("max_steps", 1).expect("steps"));
    let (mse, rmse, relative) = (of("MSE"), of("RMSE"), of("relMSE"));
    assert!((rmse[0] * rmse[0] / mse[0] - 1.0).abs() < 1e-5, "{rmse:?}, {mse:?}");
    // An untrained network is no better than the last value, and no worse by orders.
    assert!((0.1..10.0).contains(&relative[0]), "{relative:?}");
    assert_eq!(rmse.len(), 2);
    // The first step of Adam is the same for gradients of the same direction; so is what comes of it.
    assert!((rmse[1] * rmse[1] / mse[1] - 1.0).abs() < 1e-4, "{rmse:?}, {mse:?}");
}

#[test]
fn distributions_are_watched_by_themselves_or_by_any_other_loss() {
    let normal = distribution("Normal");
    let quantile = json!({"QuantileLoss": {"q": 0.9}});
    for valid in [json!(null), normal.clone(), json!("MAE"), json!("MQLoss"), json!("sCRPS"), quantile] {
        let spec = spec(&normal).set("valid_loss", valid.clone()).expect("a loss");
        let seen = reported_losses(spec.set("max_steps", 50).expect("steps"));
        assert!(
            seen[50].is_finite() && (valid.is_null() || valid == normal || seen[50] > 0.0),
            "{valid}: {seen:?}"
        );
    }
    let refused = |loss: &Value, valid: Value| {
        let spec = spec(loss).set("valid_loss", valid).expect("a loss");
        Forecaster::new([spec]).expect_err("they do not fit").to_string()
    };
    assert!(refused(&normal, json!({"MQLoss": {"level": [50]}})).contains("of its own quantiles"));
    assert!(refused(&normal, distribution("StudentT")).contains("valid_loss must be of the same outputs"));
    assert!(refused(&json!("MAE"), normal).contains("valid_loss"));
    assert!(refused(&json!("MQLoss"), json!("MAE")).contains("MQLoss and HuberMQLoss go with"));
    assert!(refused(&json!("sCRPS"), json!(null)).contains("loss must be one that models are trained with"));
    assert!(
        refused(&json!("Accuracy"), json!(null)).contains("only validates, as valid_loss, found Accuracy")
    );
    let seasonal = json!({"MASE": {"seasonality": 36}});
    let message = Forecaster::new([spec(&seasonal)]).expect_err("no season fits").to_string();
    assert!(message.contains("a seasonality below input_size = 36"), "{message}");
}

#[test]
fn values_without_a_probability_are_named() {
    let error = |name: &str, of: Of| {
        let forecaster = Forecaster::new([spec(&distribution(name))]).expect("a model");
        forecaster.fit(&panel(of)).expect_err("values that the loss refuses").to_string()
    };
    let below = error("Poisson", |y| y - 1.0);
    assert!(below.contains("values must be at least 0") && below.contains("of series a is -0."), "{below}");
    assert!(error("Bernoulli", same).contains("values must be 0 or 1"));
    fit(
        spec(&distribution("Bernoulli")).set("max_steps", 3).expect("steps"),
        &panel(|y| f32::from(y > 9.0)),
        1,
    );
}

/// Quantiles learned apart cross where there is nothing to tell them apart yet.
#[test]
fn quantiles_are_in_order_unless_raw_ones_are_asked_for() {
    let loss = json!({"MQLoss": {"quantiles": [0.9, 0.1, 0.5, 0.6, 0.4]}});
    let short = spec(&loss).set("max_steps", 1).expect("steps");
    let fitted = fit(short.clone(), &panel(same), 1);
    // The quantiles are the last columns of a table.
    let crossings = |frame: &Frame| {
        let quantiles = &frame.columns[frame.columns.len() - 5..];
        let upwards = [1, 4, 2, 3, 0];
        let falls = |pair: &[usize], row: usize| quantiles[pair[0]].1[row] > quantiles[pair[1]].1[row];
        (0..frame.n_rows()).filter(|&row| upwards.windows(2).any(|pair| falls(pair, row))).count()
    };
    let ahead = |fitted: &Fitted| crossings(&fitted.predict(&panel(same), None).expect("a forecast"));
    assert_eq!(ahead(&fitted), 0);
    assert!(ahead(&fitted.clone().raw_quantiles(true)) > 0);
    for refit in [0, 1] {
        let anew = |raw: bool| {
            let options = ValidationOptions::new(2, 1).refit(refit).raw_quantiles(raw);
            let forecaster = Forecaster::new([short.clone()]).expect("a model");
            crossings(&forecaster.cross_validate(&panel(same), &options).expect("scores").frame)
        };
        assert!(anew(false) == 0 && anew(true) > 0, "refit = {refit}");
    }
    let as_is = |raw: bool| {
        let options = ValidationOptions::new(2, 1).raw_quantiles(raw);
        crossings(&fitted.validate_with(&panel(same), &options).expect("scores").frame)
    };
    assert!(as_is(false) == 0 && as_is(true) > 0);
}

#[test]
fn trained_models_are_scored_at_the_levels_that_they_have() {
    let fitted =
        fit(spec(&json!({"MQLoss": {"level": [80]}})).set("max_steps", 1).expect("steps"), &panel(same), 1);
    let options = ValidationOptions::new(2, 1);
    let scored = fitted.validate_with(&panel(same), &options.quantiles(&[0.9])).expect("scores");
    assert!(
        scored.frame.columns.last().is_some_and(|(name, _)| name.ends_with("_ql0.9")),
        "{:?}",
        scored.frame
    );
    let message = |options: &ValidationOptions<'_>| {
        fitted.validate_with(&panel(same), options).expect_err("options of a training").to_string()
    };
    assert!(message(&options.level(&[50.0])).contains("has learned the quantiles of its loss"));
    let refused = message(&options.refit(1));
    assert!(
        refused.contains("expected h = ") && refused.contains("found h = ") && refused.contains("refit = 1"),
        "{refused}"
    );
    assert!(message(&options.h(100)).contains("found h = 100"));
}
