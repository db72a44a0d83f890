//! What the first forecast makes is made before it, and nothing else changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use foretell::{Fitted, Forecaster, Freq, Future, ModelSpec, Panel, TimeKind, Value, WeightPrecision, json};

const H: usize = 4;
const ROWS: usize = 48;

fn spec(name: &str, more: &[(&str, Value)]) -> ModelSpec {
    let spec = ModelSpec::new(name, H, 12).expect("a model").set("max_steps", 1).expect("steps");
    more.iter().fold(spec, |spec, (name, value)| spec.set(name, value.clone()).expect("a setting"))
}

/// Series with a column known ahead, one known for the past alone, and a static one of categories.
fn panel(n_series: usize) -> Panel {
    let ids: Vec<String> = (0..n_series).map(|number| format!("s{number:02}")).collect();
    let freq = Freq::parse("D").expect("a frequency");
    let mut builder = Panel::builder(TimeKind::Timestamp).freq(freq);
    let wave = |phase: usize| (0..ROWS).map(move |t| ((t + phase) as f32 * 0.7).sin() * 3.0 + 9.0);
    let times = freq.times(0, ROWS).expect("times");
    for (number, id) in ids.iter().enumerate() {
        builder = builder.series(id, &times, &wave(number).collect::<Vec<_>>());
    }
    for (name, shift) in [("price", 5), ("visits", 11)] {
        let values: Vec<f32> = (0..n_series).flat_map(|number| wave(number + shift)).collect();
        builder = builder.column(name, &values);
    }
    let labels: Vec<(&str, &str)> = ids
        .iter()
        .enumerate()
        .map(|(i, id)| (id.as_str(), if i % 2 == 0 { "red" } else { "blue" }))
        .collect();
    builder.build().expect("a panel").with_static_categories("color", &labels).expect("colors")
}

fn forecast(fitted: &Fitted, n_series: usize) -> Vec<(String, Vec<f32>)> {
    let panel = panel(n_series);
    let price: Vec<f32> = (0..n_series * H).map(|t| (t % 5) as f32 + 7.0).collect();
    let future = Future::new(&panel, H, &[("price", &price)]).expect("a future");
    fitted.predict(&panel, Some(&future)).expect("a forecast").columns
}

fn bytes(fitted: &Fitted) -> Vec<usize> {
    fitted.models().iter().map(|model| model.weight_bytes()).collect()
}

#[test]
fn the_first_forecast_makes_no_copy_of_weights_after_it_and_is_the_same() {
    let columns = [
        ("futr_exog_list", json!(["price"])),
        ("hist_exog_list", json!(["visits"])),
        ("stat_exog_list", json!(["color"])),
        ("cat_exog_list", json!(["color"])),
    ];
    let units = [("encoder_hidden_size", json!(24)), ("decoder_hidden_size", json!(24))];
    let nhits = spec("NHITS", &[("mlp_units", json!([[130, 130], [130, 130], [130, 130]]))]);
    let mlp = spec("MLP", &[("hidden_size", json!(140))]);
    let mlp = columns.iter().fold(mlp, |spec, (name, value)| spec.set(name, value.clone()).expect("columns"));
    let specs = [nhits, mlp, spec("LSTM", &units), ModelSpec::new("SeasonalNaive", H, 1).expect("a model")];
    let fitted = Forecaster::new(specs).expect("models").fit(&panel(3)).expect("a training");
    let home = tempfile::tempdir().expect("a directory");
    let dir = home.path().join("model");
    fitted.save(&dir, false).expect("saved");

    let precisions: &[WeightPrecision] =
        if cfg!(feature = "amp") { &WeightPrecision::ALL } else { &[WeightPrecision::F32] };
    for &precision in precisions {
        let warnings = Arc::new(AtomicUsize::new(0));
        let counted = warnings.clone();
        let loaded = || Fitted::load(&dir).expect("loaded").weight_precision(precision).expect("a precision");
        let (cold, warm) = (loaded(), loaded().threads(2).expect("threads"));
        let warm = warm.on_warning(move |_| _ = counted.fetch_add(1, Ordering::Relaxed));
        let before = bytes(&warm);
        assert_eq!(warm.warm_up(1).and(warm.warm_up(16)).map_err(|error| error.to_string()), Ok(()));
        assert_eq!(warnings.load(Ordering::Relaxed), 0, "made-up values are no data to warn of");
        let held = bytes(&warm);
        assert_ne!(held[0], before[0], "{precision}: the layers of NHITS are multiplied");
        // Clones share what was made, on any number of threads.
        for threads in [1, 2] {
            let warm = warm.clone().threads(threads).expect("threads");
            for n_series in [1, 3, 16] {
                assert_eq!(
                    forecast(&warm, n_series),
                    forecast(&cold, n_series),
                    "{precision}, {n_series} series"
                );
            }
            assert_eq!(bytes(&warm), held, "{precision}");
        }
        assert_eq!(bytes(&cold), held, "{precision}: nothing was made that forecasts do not make");
    }
}

#[test]
fn one_that_cannot_forecast_made_up_values_leaves_the_others_warm() {
    // 12,000 years leave the calendar.
    let long = spec("NLinear", &[("input_size", json!(12_000)), ("start_padding_enabled", json!(true))]);
    let values: Vec<f32> = (0..ROWS).map(|t| (t % 3) as f32).collect();
    let years =
        Panel::from_series(Freq::parse("YS").expect("a frequency"), [("a", 0, values)]).expect("a panel");
    let fitted =
        Forecaster::new([long, spec("NHITS", &[])]).expect("models").fit(&years).expect("a training");
    let home = tempfile::tempdir().expect("a directory");
    fitted.save(home.path().join("model"), false).expect("saved");
    let loaded = || Fitted::load(home.path().join("model")).expect("loaded");
    let (warm, cold) = (loaded(), loaded());
    let error = warm.warm_up(1).expect_err("times beyond the calendar").to_string();
    assert!(error.contains("leave the years"), "{error}");
    assert_ne!(bytes(&warm)[1], bytes(&cold)[1]);
    assert_eq!(
        warm.predict(&years, None).expect("a forecast").columns,
        cold.predict(&years, None).expect("a forecast").columns
    );
    assert_eq!(bytes(&warm), bytes(&cold));
    let small = cold.only(&[1]).expect("a model").max_memory(1);
    let refused = small.warm_up(1).expect_err("more than a byte").to_string();
    assert!(refused.contains("memory"), "{refused}");
}
