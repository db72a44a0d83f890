//! The public types as values: serialised and read back, compared, and shown by their sizes.

use std::time::Duration;

use foretell::{
    ColumnNames, Coverage, Fill, Forecaster, Frame, Freq, Loss, Metrics, ModelSpec, Outcome, Panel, Progress,
    ReadOptions, TimeFormat, Zone, json,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn panel() -> Panel {
    let wave = |phase: f32| (0..2000).map(|day| (day as f32 * 0.9 + phase).sin()).collect::<Vec<_>>();
    let freq = Freq::parse("D").expect("a frequency");
    Panel::from_series(freq, [("a", 0, wave(0.0)), ("b", 0, wave(1.0))]).expect("a panel")
}

#[track_caller]
fn again<T: Serialize + DeserializeOwned>(value: &T) -> T {
    let text = serde_json::to_string(value).expect("serialised");
    let read: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(serde_json::to_string(&read).expect("serialised"), text);
    read
}

#[test]
fn what_is_serialised_is_read_back() {
    let spec = ModelSpec::new("NHITS", 24, 96)
        .and_then(|spec| spec.set("learning_rate", 0.1 + 0.2))
        .and_then(|spec| spec.set("loss", json!({ "MQLoss": { "level": [80, 90] } })))
        .and_then(|spec| spec.set("n_pool_kernel_size", json!([4, 2, 1])))
        .expect("a model");
    assert_eq!(again(&spec), spec);
    assert_ne!(again(&spec), spec.set("max_steps", 7).expect("a number"));
    for name in Loss::NAMES {
        // Some need an argument.
        let needed = [
            json!({}),
            json!({ "seasonality": 7 }),
            json!({ "q": 0.3 }),
            json!({ "distribution": "Normal" }),
        ];
        let loss = needed.iter().find_map(|arguments| Loss::parse(&json!({ name: arguments })).ok());
        let loss = loss.unwrap_or_else(|| panic!("{name} needs another argument"));
        assert_eq!(again(&loss), loss);
    }
    let weighted = Loss::parse(&json!({ "MAE": { "horizon_weight": [0.1, 0.9] } })).expect("a loss");
    assert_eq!(again(&weighted), weighted);

    let outcome =
        Outcome { steps: 7, train_loss: 0.1, valid_loss: Some(0.3), interrupted: true, skipped_steps: 2 };
    assert_eq!(again(&outcome), outcome);
    assert!(again(&Outcome { train_loss: f64::NAN, ..outcome }).train_loss.is_nan());
    let progress = Progress {
        step: 3,
        max_steps: 9,
        train_loss: 0.5,
        valid_loss: None,
        learning_rate: 1e-3,
        skipped_steps: 1,
        elapsed: Duration::from_millis(1234),
    };
    assert_eq!(again(&progress), progress);
    let metrics = Metrics {
        scored_windows: 12,
        scored_series: 3,
        mase_series: 2,
        missing: 0,
        model: "MLP".to_owned(),
        mae: 1.0,
        rmse: 2.0,
        smape: 0.1,
        mase: f64::NAN,
        mqloss: None,
        coverage: vec![Coverage { level: 80.0, coverage: 0.75 }],
    };
    let read = again(&metrics);
    assert!(read.mase.is_nan());
    assert_eq!(Metrics { mase: 0.0, ..read }, Metrics { mase: 0.0, ..metrics });

    let options = ReadOptions::new()
        .time_col("day")
        .freq(Freq::parse("2h").expect("a frequency"))
        .zone(Zone::parse("Europe/Berlin").expect("a zone"))
        .time_format(TimeFormat::parse("%d.%m.%Y").expect("a format"))
        .fill(Fill::Interpolate);
    assert_eq!(again(&options), options);
    let few: ReadOptions = serde_json::from_str(r#"{"target_col": "sales"}"#).expect("the rest by default");
    assert_eq!(few, ReadOptions::new().target_col("sales"));
    assert_eq!(again(&ColumnNames::default()), ColumnNames::default());
}

#[test]
fn impossible_values_are_errors_when_they_are_read() {
    let read = |text: &str| serde_json::from_str::<ModelSpec>(text).unwrap_err().to_string();
    let found = read(r#"{"model": "NHIST", "hyper_parameters": {"h": 2}}"#);
    assert!(found.contains("did you mean NHITS?"), "{found}");
    let found = read(r#"{"model": "NHITS", "hyper_parameters": {"h": 2, "max_step": 3}}"#);
    assert!(found.contains("did you mean max_steps?"), "{found}");
    let found = read(r#"{"model": "NHITS", "hyper_parameters": {}}"#);
    assert!(found.contains("hyper-parameter h must be"), "{found}");
    let found = serde_json::from_str::<Loss>(r#""MEA""#).unwrap_err().to_string();
    assert!(found.contains("loss must be one of MAE, ") && found.contains("found \"MEA\""), "{found}");
    assert!(serde_json::from_str::<ReadOptions>(r#"{"target": "y"}"#).is_err());
}

#[test]
fn forecasts_and_models_are_values_that_show_their_sizes() {
    let spec = ModelSpec::new("NLinear", 7, 28).and_then(|spec| spec.set("max_steps", 2)).expect("a model");
    let panel = panel();
    let fitted = Forecaster::new([spec]).expect("a forecaster").fit(&panel).expect("a fit");
    let frame = fitted.predict(&panel, None).expect("a forecast");
    let read: Frame = again(&frame);
    assert_eq!(read, frame);
    assert_eq!(fitted.clone().predict(&panel, None).expect("a forecast"), frame);

    let shown =
        [format!("{panel:?}"), format!("{frame:?}"), format!("{fitted:?}"), format!("{:?}", fitted.models())];
    for text in &shown {
        assert!(text.len() < 300, "{text}");
    }
    assert!(shown[0].contains("rows: 4000") && shown[1].contains("rows: 14"), "{shown:?}");
}
