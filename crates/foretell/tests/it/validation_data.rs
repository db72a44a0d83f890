//! Validation on data of their own, as with neuralforecast's `val_df`.

use std::sync::{Arc, Mutex};

use foretell::{
    Error, Fitted, Forecaster, Freq, LocalScaler, ModelSpec, Panel, PlanError, PredictionIntervals,
    UsageError, ValidationOptions, Verdict,
};
use serde_json::json;

const H: usize = 6;

fn panel(rows: std::ops::Range<usize>) -> Panel {
    let y = |phase: f32| {
        rows.clone().map(move |t| (t as f32 * 0.7 + phase).sin() + 0.01 * t as f32).collect::<Vec<_>>()
    };
    let series = [("a", rows.start as i64, y(0.0)), ("b", rows.start as i64, y(1.0))];
    Panel::from_series(Freq::parse("1").expect("a frequency"), series).expect("a panel")
}

fn spec() -> ModelSpec {
    let settings = [
        ("max_steps", json!(40)),
        ("val_check_steps", json!(10)),
        ("windows_batch_size", json!(32)),
        ("early_stop_patience_steps", json!(3)),
    ];
    let spec = ModelSpec::new("NLinear", H, 18).expect("a model");
    settings.into_iter().fold(spec, |spec, (name, value)| spec.set(name, value).expect("a value"))
}

fn forecaster() -> Forecaster {
    Forecaster::new([spec()]).expect("a model")
}

/// The validation losses on the way, and the weights in the end.
fn trained(forecaster: Forecaster, panel: &Panel) -> (Vec<f64>, Vec<u32>) {
    let losses = Arc::new(Mutex::new(Vec::new()));
    let seen = losses.clone();
    let forecaster = forecaster.on_progress(move |_, progress| {
        seen.lock().expect("a list").extend(progress.valid_loss);
        Verdict::Continue
    });
    let fitted = forecaster.fit(panel).expect("a fit");
    let weights = fitted.models()[0].parameters_in_order().map(|weight| weight.to_bits()).collect();
    (losses.lock().expect("a list").clone(), weights)
}

#[test]
fn rows_of_their_own_are_those_that_follow() {
    for scaler in [None, Some(LocalScaler::Standard)] {
        let forecaster = || scaler.into_iter().fold(forecaster(), Forecaster::local_scaler);
        let whole = trained(forecaster().val_size(12), &panel(0..100));
        assert_eq!(whole.0.len(), 4);
        let apart = trained(forecaster().val_data(&panel(88..100)), &panel(0..88));
        assert_eq!(whole, apart);
        // Rows count as steps, whatever their times are.
        let (mut later, at) = (panel(88..100), 1000);
        later = Panel::from_series(
            later.freq(),
            [("a", at, later.y(0).to_vec()), ("b", at, later.y(1).to_vec())],
        )
        .expect("a panel");
        assert_eq!(whole, trained(forecaster().val_data(&later), &panel(0..88)));
        assert_ne!(whole, trained(forecaster().val_data(&panel(400..412)), &panel(0..88)));
    }
}

#[test]
fn intervals_are_calibrated_before_the_rows_that_are_validated_on() {
    let intervals = PredictionIntervals { n_windows: 4, ..PredictionIntervals::default() };
    let fit = |forecaster: Forecaster| forecaster.intervals(intervals).fit(&panel(0..88)).expect("a fit");
    let fitted = fit(forecaster().val_data(&panel(88..100)));
    let weights = |fitted: &Fitted| fitted.models()[0].parameters_in_order().copied().collect::<Vec<f32>>();
    let plain = forecaster().val_data(&panel(88..100)).fit(&panel(0..88)).expect("a fit");
    assert_eq!(weights(&fitted), weights(&plain));
    assert_eq!(fitted.prediction_intervals(), Some(intervals));
}

#[test]
fn data_that_cannot_be_validated_on_are_refused() {
    let error = |forecaster: Forecaster| forecaster.fit(&panel(0..88)).expect_err("refused");
    let both = error(forecaster().val_size(12).val_data(&panel(88..100)));
    assert!(
        matches!(both, Error::Usage(UsageError::Plan(PlanError::TwoValidations { val_size: 12 }))),
        "{both}"
    );
    let short = error(forecaster().val_data(&panel(88..93)));
    assert!(short.to_string().contains("at least h = 6, found 5"), "{short}");
    assert!(short.to_string().starts_with("the data to validate on need rows"), "{short}");
    let uneven = Panel::from_series(
        Freq::parse("1").expect("a frequency"),
        [("a", 0, vec![0.0_f32; 12]), ("b", 0, vec![0.0; 13])],
    );
    let uneven = error(forecaster().val_data(&uneven.expect("a panel")));
    assert!(uneven.to_string().contains("found 12 of one and 13 of another"), "{uneven}");
    let freq = Freq::parse("1").expect("a frequency");
    let other = Panel::from_series(freq, [("a", 0, vec![0.0_f32; 12])]).expect("a panel");
    let other = error(forecaster().val_data(&other));
    assert!(other.to_string().contains("series b is missing in the data to validate on"), "{other}");
    let column = spec_with_column();
    let missing = Forecaster::new([column]).expect("a model").val_data(&panel(88..100));
    let with_column = {
        let y = panel(0..88);
        let times: Vec<i64> = (0..88).collect();
        let builder = Panel::builder(foretell::TimeKind::Integer).freq(y.freq());
        let builder = builder.series("a", &times, y.y(0)).series("b", &times, y.y(1));
        builder.column("x", &[0.5; 176]).build().expect("a panel")
    };
    let missing = missing.fit(&with_column).expect_err("refused").to_string();
    assert!(missing.contains('x'), "{missing}");
    let validated =
        forecaster().val_data(&panel(88..100)).cross_validate(&panel(0..88), &ValidationOptions::new(1, 1));
    assert!(validated.expect_err("refused").to_string().contains("set val_size"));
}

fn spec_with_column() -> ModelSpec {
    let spec = ModelSpec::new("MLP", H, 18).and_then(|spec| spec.set("hist_exog_list", json!(["x"])));
    spec.and_then(|spec| spec.set("hidden_size", 8))
        .and_then(|spec| spec.set("max_steps", 2))
        .expect("a model")
}
