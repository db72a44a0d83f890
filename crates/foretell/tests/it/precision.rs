//! Forecasts with weights held in fewer bits.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use foretell::{
    Fitted, Forecaster, Freq, ModelSpec, Panel, PrecisionScore, ReadOptions, ValidationOptions,
    WeightPrecision,
};
use serde_json::json;

use crate::accuracy::{panels, spec};

const H: usize = 12;

/// Two series with a season of 12 steps and a trend.
fn panel() -> Panel {
    let wave = |phase: f32| {
        (0..240)
            .map(move |t| {
                (t as f32 * std::f32::consts::FRAC_PI_6 + phase).sin() * 3.0 + 20.0 + t as f32 * 0.01
            })
            .collect()
    };
    let freq = Freq::parse("1").expect("a frequency");
    let named: [(&str, i64, Vec<f32>); 2] = [("a", 0, wave(0.0)), ("b", 0, wave(1.0))];
    Panel::from_series(freq, named).expect("a panel")
}

fn fitted(panel: &Panel) -> Fitted {
    let small = [
        ("MLP", vec![("hidden_size", json!(64)), ("num_layers", json!(2))]),
        ("NHITS", vec![("mlp_units", json!([[64, 64], [64, 64], [64, 64]]))]),
        ("LSTM", vec![("encoder_hidden_size", json!(24)), ("decoder_hidden_size", json!(24))]),
        ("GRU", vec![("encoder_hidden_size", json!(24)), ("decoder_hidden_size", json!(24))]),
        ("VanillaTransformer", vec![("hidden_size", json!(32)), ("conv_hidden_size", json!(32))]),
    ];
    let specs = small.into_iter().map(|(name, own)| {
        let common =
            [("max_steps", json!(20)), ("scaler_type", json!("standard")), ("windows_batch_size", json!(32))];
        let spec = ModelSpec::new(name, H, 36).expect("a model");
        common
            .into_iter()
            .chain(own)
            .fold(spec, |spec, (key, value)| spec.set(key, value).expect("a hyper-parameter"))
    });
    Forecaster::new(specs).expect("models").fit(panel).expect("a training")
}

#[test]
fn forecasts_are_nearly_those_in_f32_on_any_number_of_threads_and_what_is_saved_is_the_same() {
    let panel = panel();
    let wide = fitted(&panel);
    let exact = wide.predict(&panel, None).expect("a forecast");
    let dir = tempfile::tempdir().expect("a directory");
    wide.save(dir.path().join("f32"), false).expect("saved");
    for (precision, bound) in [(WeightPrecision::Bf16, 0.1), (WeightPrecision::Int8, 0.2)] {
        let narrow = wide.clone().weight_precision(precision).expect("a precision");
        let forecast = narrow.predict(&panel, None).expect("a forecast");
        for ((name, values), (_, exact)) in forecast.columns.iter().zip(&exact.columns) {
            let off = values.iter().zip(exact).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            // The series swing by 3 around 20.
            assert!(off > 0.0 && off < bound, "{name} in {precision}: off by {off}");
        }
        for (model, wide) in narrow.models().iter().zip(wide.models()) {
            assert_eq!(model.weight_precision(), precision);
            let (bytes, wide) = (model.weight_bytes(), wide.weight_bytes());
            assert!(bytes < wide, "{}: {bytes} bytes in {precision}, {wide} in f32", model.spec().name());
        }
        let threads = narrow.clone().threads(3).expect("threads").predict(&panel, None).expect("a forecast");
        assert_eq!(threads.columns, forecast.columns, "{precision} on three threads");

        let saved = dir.path().join(precision.name());
        narrow.save(&saved, false).expect("saved");
        for file in fs::read_dir(dir.path().join("f32")).expect("files").map(|file| file.expect("a file")) {
            let same = fs::read(file.path()).ok() == fs::read(saved.join(file.file_name())).ok();
            assert!(same, "{} of {precision}", file.path().display());
        }
        let loaded = Fitted::load(&saved).expect("loaded").weight_precision(precision).expect("a precision");
        assert_eq!(loaded.predict(&panel, None).expect("a forecast").columns, forecast.columns);
        // And back.
        let narrow = narrow.weight_precision(WeightPrecision::F32).expect("a precision");
        let back = narrow.predict(&panel, None).expect("a forecast");
        assert_eq!(back.columns, exact.columns);
    }
}

/// A row of activations is rounded in steps of its largest number. A row of MLPMultivariate is all series of a window, so unscaled
/// series are off in proportion to the largest of them, which may be more than a small one's own values; scaled ones are not.
#[test]
fn int8_is_off_in_proportion_to_the_largest_series_that_a_model_sees_at_once() {
    const LARGE: f32 = 1000.0;
    let wave =
        |level: f32, phase: f32| (0..120).map(move |t| level + (t as f32 * 0.5 + phase).sin()).collect();
    let freq = Freq::parse("1").expect("a frequency");
    let named: [(&str, i64, Vec<f32>); 2] = [("large", 0, wave(LARGE, 0.0)), ("small", 0, wave(1.0, 1.0))];
    let panel = Panel::from_series(freq, named).expect("a panel");
    // Narrow and hardly trained, as the worst that was met; below 16 units products stay in f32.
    for (scaler, hidden) in [("identity", 16), ("identity", 64), ("standard", 16), ("standard", 64)] {
        let settings = [
            ("n_series", json!(2)),
            ("max_steps", json!(1)),
            ("scaler_type", json!(scaler)),
            ("hidden_size", json!(hidden)),
        ];
        let spec = ModelSpec::new("MLPMultivariate", 4, 12).expect("a model");
        let spec =
            settings.into_iter().fold(spec, |spec, (key, value)| spec.set(key, value).expect("a setting"));
        let wide = Forecaster::new([spec]).expect("a model").fit(&panel).expect("a training");
        let exact = wide.predict(&panel, None).expect("a forecast");
        let narrow = wide.weight_precision(WeightPrecision::Int8).expect("a precision");
        let forecast = narrow.predict(&panel, None).expect("a forecast");
        let ((_, exact), (_, forecast)) = (&exact.columns[0], &forecast.columns[0]);
        let off: Vec<f32> = exact.iter().zip(forecast).map(|(a, b)| (a - b).abs()).collect();
        let worst = |off: &[f32]| off.iter().copied().fold(0.0, f32::max);
        let (large, small) = (worst(&off[..4]), worst(&off[4..]));
        let bound = if scaler == "identity" { 0.03 * LARGE } else { 0.05 };
        assert!(large > 0.0 && large < bound && small < bound, "{scaler}, {hidden}: {large}, {small}");
    }
}

#[test]
fn precisions_are_compared_on_the_same_windows_as_cross_validation() {
    let panel = panel();
    let spec = ModelSpec::new("MLP", H, 36).expect("a model").set("max_steps", 5).expect("steps");
    let checked = Forecaster::new([spec])
        .expect("a model")
        .cross_validate(&panel, &ValidationOptions::new(4, 6))
        .expect("a validation");
    let scores = checked
        .fitted
        .compare_precisions(&panel, [4, 6], 12, &[WeightPrecision::Int8, WeightPrecision::Bf16])
        .expect("scores");
    let order: Vec<_> = scores.iter().map(|score| score.precision).collect();
    assert_eq!(order, [WeightPrecision::F32, WeightPrecision::Int8, WeightPrecision::Bf16]);
    assert_eq!(scores[0].metrics, checked.metrics(&panel, 12)[0]);
    assert_eq!((scores[0].mae_change, scores[0].rmse_change), (0.0, 0.0));
    for score in &scores[1..] {
        let change = 100.0 * (score.metrics.mae / scores[0].metrics.mae - 1.0);
        assert_eq!(score.mae_change, change);
        assert!(score.mae_change != 0.0 && score.mae_change.abs() < 5.0, "{score:?}");
    }
    assert!(
        scores[1].weight_bytes < scores[2].weight_bytes && scores[2].weight_bytes < scores[0].weight_bytes
    );
    assert!(scores.iter().all(|score| score.forecast_us > 0.0 && score.batch_ms > 0.0));
    assert!(checked.fitted.validate(&panel, 0, 1).is_err());

    // More windows than there are: each format is measured once, and has as many bytes, and the warning comes once.
    let warnings = Arc::new(AtomicUsize::new(0));
    let count = warnings.clone();
    let fitted = checked.fitted.on_warning(move |_| _ = count.fetch_add(1, Ordering::Relaxed));
    let twice = [WeightPrecision::Int8, WeightPrecision::F32, WeightPrecision::Int8];
    let again = fitted.compare_precisions(&panel, [60, 6], 12, &twice).expect("scores");
    let bytes = |scores: &[PrecisionScore]| scores.iter().map(|score| score.weight_bytes).collect::<Vec<_>>();
    assert_eq!(bytes(&again), bytes(&scores[..2]));
    assert_eq!(warnings.load(Ordering::Relaxed), 1);
    let short = panel.without_last(panel.max_len() - H);
    let error = fitted.compare_precisions(&short, [1, 1], 12, &twice).expect_err("no window").to_string();
    assert!(
        error.contains("h = 12 steps needs 13 rows") && error.contains("the longest series has 12"),
        "{error}"
    );
}

#[test]
fn on_etth1_within_one_percent_of_f32() {
    let Some([path]) = panels(["ETTh1.csv"]) else { return };
    let panel = Panel::from_csv(path, &ReadOptions::new().wide()).expect("a panel");
    let panel = panel.without_last(panel.max_len() - 8640);
    let specs = ["MLP", "NHITS", "NLinear", "TiDE", "RNN"].map(|name| spec(name, 24, 1));
    let checked = Forecaster::new(specs)
        .expect("models")
        .cross_validate(&panel, &ValidationOptions::new(10, 24))
        .expect("a validation");
    let scores =
        checked.fitted.compare_precisions(&panel, [10, 24], 24, &WeightPrecision::ALL).expect("scores");
    for score in &scores {
        let (name, precision) = (&score.metrics.model, score.precision);
        println!(
            "{name} in {precision}: MAE {:.4} ({:+.3} %), RMSE {:+.3} %, {} bytes",
            score.metrics.mae, score.mae_change, score.rmse_change, score.weight_bytes
        );
        assert!(score.mae_change.abs() < 1.0 && score.rmse_change.abs() < 1.0, "{name} in {precision}");
    }
}
