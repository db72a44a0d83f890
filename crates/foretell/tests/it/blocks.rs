//! Forecasts of a large panel in blocks of series are the same to the last bit.

use std::collections::BTreeMap;

use foretell::{
    CsvWriter, Fitted, Forecaster, Frame, Freq, Future, InsampleOptions, LocalScaler, ModelSpec, Panel,
    PredictOptions, PredictionIntervals, TimeKind,
};
use serde_json::json;

const H: usize = 2;
const ROWS: usize = 24;

/// This many series of a wave each, with a column known in advance, one of categories, and a static one.
fn panel(n_series: usize) -> Panel {
    let freq = Freq::parse("1").expect("a frequency");
    let times: Vec<i64> = (0..ROWS as i64).collect();
    let mut builder = Panel::builder(TimeKind::Integer).freq(freq);
    let wave =
        |series: usize, row: usize| 5.0 + (row as f32 * 0.7 + series as f32).sin() + series as f32 * 1e-3;
    let ids: Vec<String> = (0..n_series).map(|series| format!("{series:06}")).collect();
    for (series, id) in ids.iter().enumerate() {
        let y: Vec<f32> = (0..ROWS).map(|row| wave(series, row)).collect();
        builder = builder.series(id, &times, &y);
    }
    let known: Vec<f32> = (0..n_series * ROWS).map(|row| (row % 3) as f32).collect();
    let panel = builder.column("known", &known).build().expect("a panel");
    let sizes: Vec<(&str, f32)> =
        ids.iter().enumerate().map(|(i, id)| (id.as_str(), (i % 7) as f32)).collect();
    panel.with_static("size", &sizes).expect("a static column")
}

fn future(panel: &Panel, h: usize) -> Future {
    let known: Vec<f32> = (0..panel.n_series() * h).map(|row| (row % 3) as f32).collect();
    Future::new(panel, h, &[("known", &known)]).expect("a future")
}

fn spec(model: &str) -> ModelSpec {
    let spec = ModelSpec::new(model, H, 8).expect("a model").set("max_steps", 2).expect("steps");
    spec.set("windows_batch_size", 32).expect("windows")
}

/// Models of a point, of quantiles, and step by step, with everything that a panel can be scaled by.
fn fitted() -> Fitted {
    let set = |spec: ModelSpec, name: &str, value: serde_json::Value| spec.set(name, value).expect("a value");
    let mlp = set(spec("MLP"), "futr_exog_list", json!(["known"]));
    let mlp = set(set(mlp, "stat_exog_list", json!(["size"])), "cat_exog_list", json!(["known"]));
    let mlp = set(set(mlp, "hidden_size", json!(16)), "loss", json!({ "MQLoss": { "level": [80] } }));
    let gru = set(set(spec("GRU"), "recurrent", json!(true)), "encoder_hidden_size", json!(8));
    let forecaster = Forecaster::new([spec("NLinear"), mlp, gru]).expect("models").threads(2);
    let forecaster = forecaster.local_scaler(LocalScaler::Standard).local_static_scaler(LocalScaler::MinMax);
    forecaster.fit(&panel(40)).expect("a training")
}

/// Each column's bits.
fn bits(frame: &Frame) -> BTreeMap<&str, Vec<u32>> {
    let bits = |values: &[f32]| values.iter().map(|y| y.to_bits()).collect();
    frame.columns.iter().map(|(name, values)| (name.as_str(), bits(values))).collect()
}

fn csv(frame: &Frame) -> Vec<u8> {
    let mut out = Vec::new();
    frame.write_csv(&mut out).expect("a text");
    out
}

#[test]
fn blocks_are_the_whole_forecast() {
    let panel = panel(20_000);
    let plain = fitted();
    let calibrated = fitted().calibrate(&panel, PredictionIntervals::default()).expect("a calibration");
    for (h, fitted, level) in [(H, &calibrated, &[80.0][..]), (2 * H + 1, &plain, &[])] {
        let future = future(&panel, h);
        let options = PredictOptions::new().future(&future).h(h).level(level);
        let whole = fitted.predict_with(&panel, &options).expect("a forecast");
        assert_eq!(whole.n_rows(), 20_000 * h);

        let blocks = fitted.predict_blocks(&panel, &options).expect("blocks");
        let mut writer = CsvWriter::new(Vec::new(), blocks.time_style().expect("a style"));
        let mut count = 0;
        for block in blocks {
            writer.write(&block.expect("a block")).expect("a text");
            count += 1;
        }
        assert!(count > 1, "one block of all series");
        assert_eq!(writer.finish().expect("a text"), csv(&whole), "h = {h}");

        // Some of the series by themselves, where windows meet the same threads: within a block, over its end.
        for places in [128..512, 16_000..17_024] {
            let part = panel.of_series(places.clone());
            let future = future.of_series(places.clone()).expect("a future");
            let options = options.future(&future);
            let alone = fitted.predict_with(&part, &options).expect("a forecast");
            // MLP sees a static column, whose statistics are those of the series that are forecast.
            for (name, values) in bits(&alone).into_iter().filter(|(name, _)| !name.starts_with("MLP")) {
                let rows = places.start * h..places.end * h;
                assert!(values == bits(&whole)[name][rows], "h = {h}: {name} of {places:?}");
            }
        }
    }
}

#[test]
fn blocks_of_the_history_are_the_whole_table() {
    let (fitted, panel) = (fitted(), panel(3_000));
    let whole = fitted.predict_insample(&panel, 3).expect("a table");
    let blocks = fitted.predict_insample_blocks(&panel, &InsampleOptions::new(3)).expect("blocks");
    let mut writer = CsvWriter::new(Vec::new(), blocks.time_style().expect("a style"));
    let frames: Vec<Frame> = blocks.map(|block| block.expect("a block")).collect();
    assert!(frames.len() > 1);
    frames.iter().for_each(|frame| writer.write(frame).expect("a text"));
    assert_eq!(writer.finish().expect("a text"), csv(&whole));
    // Windows at 0, 3, ..., of 24 rows less the horizon.
    assert_eq!(whole.n_rows(), 3_000 * 8 * H);
}
