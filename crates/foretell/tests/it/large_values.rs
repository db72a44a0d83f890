//! Series whose steps single precision would lose: they are held relative to a level, which forecasts bring back.

use std::sync::{Arc, Mutex};

use foretell::{
    Fitted, Forecaster, Freq, ModelSpec, Panel, PredictionIntervals, ReadOptions, SeriesLevel,
    SimulateOptions, ValidationOptions, Warning,
};
use serde_json::{Value, json};

const ROWS: i64 = 90;

/// An id, and the value of each row.
type Case = (&'static str, fn(i64) -> f64);

/// A flag about 20000000, a meter about 1e9, and a series next to zero.
const CASES: [Case; 3] = [
    ("toggle", |t| 20_000_000.0 + (t % 2) as f64),
    ("meter", |t| 1e9 + 3.0 * t as f64),
    ("tiny", |t| 1e-30 * t as f64),
];

fn read(rows: std::ops::Range<i64>, ids: &[&str]) -> Panel {
    let mut csv = "unique_id,ds,y\n".to_owned();
    for (id, value) in CASES.iter().filter(|(id, _)| ids.contains(id)) {
        rows.clone().for_each(|t| csv += &format!("{id},{t},{:?}\n", value(t)));
    }
    Panel::read_csv(csv.as_bytes(), "large.csv", &ReadOptions::default()).expect("a panel")
}

fn all() -> Panel {
    read(0..ROWS, &["toggle", "meter", "tiny"])
}

fn spec(model: &str, settings: &[(&str, Value)]) -> ModelSpec {
    let spec = ModelSpec::new(model, 4, 8).expect("a model");
    settings.iter().fold(spec, |spec, (name, value)| spec.set(name, value.clone()).expect("a value"))
}

fn networks() -> [ModelSpec; 2] {
    [
        spec("NLinear", &[("max_steps", json!(20))]),
        // Without a scaler it sees values as they are held.
        spec(
            "MLP",
            &[("max_steps", json!(20)), ("hidden_size", json!(8)), ("scaler_type", json!("identity"))],
        ),
    ]
}

/// The same numbers as the panel holds, as ordinary values.
fn twin(panel: &Panel) -> Panel {
    let series = (0..panel.n_series()).map(|series| (panel.id(series).clone(), 0, panel.y(series).to_vec()));
    Panel::from_series(Freq::parse("1").expect("steps"), series).expect("a panel")
}

fn at_level(panel: &Panel, id: &str, y: f32) -> f64 {
    panel.level(panel.find(id).expect("a series")).value(y)
}

#[test]
fn networks_forecast_as_they_do_without_the_level() {
    let panel = all();
    let fit =
        |panel: &Panel| Forecaster::new(networks()).expect("models").threads(1).fit(panel).expect("a fit");
    let (fitted, other) = (fit(&panel), fit(&twin(&panel)));
    let (forecast, ordinary) =
        (fitted.predict(&panel, None).expect("a forecast"), other.predict(&twin(&panel), None).expect("one"));
    assert!(ordinary.wide.is_empty());
    for model in ["NLinear", "MLP"] {
        let (wide, held) = (&forecast.wide[model], ordinary.column(model).expect("a column"));
        for (row, id) in forecast.ids.iter().enumerate() {
            assert_eq!(wide[row], at_level(&panel, id, held[row]), "{model}, {id}");
            assert_eq!(forecast.column(model).expect("a column")[row], wide[row] as f32);
        }
        let steps: Vec<f64> = (0..4).map(|row| wide[row + 4]).collect();
        let tiny = wide[4..8].iter().all(|value| value.abs() < 1e-27);
        assert!(tiny, "{steps:?}");
    }
    let insample = fitted.predict_insample(&panel, 4).expect("rows");
    let (truth, meter) =
        (&insample.wide["y"], insample.ids.iter().position(|id| &**id == "meter").expect("rows"));
    let before = insample.times[meter];
    assert_eq!(truth[meter], 1e9 + 3.0 * before as f64);
    // A model that was saved sees the same, also of fewer rows, whose own middle is elsewhere.
    let bytes = fitted.to_bytes().expect("bytes");
    let again = Fitted::from_bytes(&bytes).expect("models");
    let last = read(ROWS - 20..ROWS, &["toggle", "meter", "tiny"]);
    assert_ne!(last.level(0), panel.level(0));
    assert_eq!(again.predict(&last, None).expect("a forecast").wide["NLinear"], forecast.wide["NLinear"]);
    // And so it does of the panel that is kept with it.
    let home = tempfile::tempdir().expect("a directory");
    fitted.save_with_panel(&panel, home.path().join("m"), false).expect("it is saved");
    let (again, stored) = Fitted::load_with_panel(home.path().join("m")).expect("models");
    let stored = stored.expect("a panel");
    assert_eq!(stored.known_values(0, 0..9), panel.known_values(0, 0..9));
    assert_eq!(again.predict(&stored, None).expect("a forecast").wide, forecast.wide);
}

#[test]
fn classical_models_read_and_forecast_all_digits() {
    let panel = all();
    let specs = ["SeasonalNaive", "Naive", "AutoETS", "AutoARIMA"].map(|model| match model {
        "SeasonalNaive" => spec(model, &[("season_length", json!(2))]),
        model => spec(model, &[]),
    });
    let fitted = Forecaster::new(specs).expect("models").fit(&panel).expect("a fit");
    let forecast = fitted.predict(&panel, None).expect("a forecast");
    let of = |model: &str, id: &str| -> Vec<f64> {
        let rows = forecast.ids.iter().zip(&forecast.wide[model]).filter(|(own, _)| &***own == id);
        rows.map(|(_, value)| *value).collect()
    };
    assert_eq!(of("SeasonalNaive", "toggle"), [20_000_000.0, 20_000_001.0, 20_000_000.0, 20_000_001.0]);
    assert_eq!(of("Naive", "meter"), [1e9 + 267.0; 4]);
    for model in ["AutoETS", "AutoARIMA"] {
        let (meter, tiny) = (of(model, "meter"), of(model, "tiny"));
        for step in 0..4 {
            let t = (ROWS + step as i64) as f64;
            assert!((meter[step] - (1e9 + 3.0 * t)).abs() < 0.5, "{model}: {meter:?}");
            assert!((tiny[step] - 1e-30 * t).abs() < 2e-31, "{model}: {tiny:?}");
        }
    }
}

#[test]
fn scores_intervals_and_paths_know_the_level() {
    let panel = all();
    let naive = || Forecaster::new([spec("Naive", &[])]).expect("a model");
    let validation = naive().cross_validate(&panel, &ValidationOptions::new(1, 1)).expect("forecasts");
    let truth = &validation.frame.wide["y"];
    for (row, id) in validation.frame.ids.iter().enumerate() {
        let (_, value) = CASES.iter().find(|(own, _)| *own == &**id).expect("a series");
        assert!((truth[row] - value(validation.frame.times[row])).abs() <= 1e-6 * value(1).abs().min(1.0));
    }
    // Of the meter 3, 6, 9 and 12, of the toggle 1, 0, 1, 0, of the last nothing beside them.
    let mae = validation.metrics(&panel, 1)[0].mae;
    assert!((mae - 32.0 / 12.0).abs() < 1e-9, "{mae}");
    let anew = naive().cross_validate(&panel, &ValidationOptions::new(1, 1).refit(1)).expect("forecasts");
    assert_eq!(anew.frame.wide, validation.frame.wide);

    let intervals = PredictionIntervals { n_windows: 4, ..PredictionIntervals::default() };
    let [nlinear, _] = networks();
    let fitted =
        Forecaster::new([nlinear]).expect("a model").intervals(intervals).fit(&panel).expect("a fit");
    let options = foretell::PredictOptions::new().level(&[80.0]);
    let forecast = fitted.predict_with(&panel, &options).expect("a forecast");
    for (id, extent) in [("meter", 300.0), ("toggle", 4.0)] {
        let row = forecast.ids.iter().position(|own| &**own == id).expect("rows");
        let width = forecast.wide["NLinear-hi-80"][row] - forecast.wide["NLinear-lo-80"][row];
        assert!(width > 0.0 && width < extent, "{id}: {width}");
    }
    let paths =
        naive().fit(&panel).expect("a fit").simulate(&panel, &SimulateOptions::new(20)).expect("paths");
    assert!(!paths.wide.contains_key("sample_id"));
    let toggled = paths.ids.iter().zip(&paths.wide["Naive"]).filter(|(id, _)| &***id == "toggle");
    assert!(toggled.map(|(_, value)| *value).all(|value| (value - 2e7).abs() < 50.0));
}

#[test]
fn losses_that_know_where_zero_is_see_values_as_they_are() {
    let heard: Arc<Mutex<Vec<Warning>>> = Arc::default();
    let into = heard.clone();
    let relative = spec("NLinear", &[("max_steps", json!(2)), ("loss", json!("MAPE"))]);
    let panel = read(0..ROWS, &["toggle"]);
    let forecaster = Forecaster::new([relative]).expect("a model");
    let forecaster =
        forecaster.on_warning(move |warning| into.lock().expect("no panic").push(warning.clone()));
    let forecast = forecaster.fit(&panel).expect("a fit").predict(&panel, None).expect("a forecast");
    assert!(forecast.wide.is_empty() && (forecast.column("NLinear").expect("a column")[0] - 2e7).abs() < 1e3);
    let expected = Warning::CoarseValues {
        series: vec!["toggle".to_owned()],
        without_levels: vec!["NLinear".to_owned()],
    };
    let heard = heard.lock().expect("no panic");
    assert!(heard.contains(&expected), "{heard:?}");
    assert!(heard[0].to_string().contains("with another loss"), "{}", heard[0]);
}

#[test]
fn series_that_training_saw_without_a_level_are_forecast_without_one() {
    let text = |rows: std::ops::Range<i64>| {
        let rows: String =
            rows.map(|t| format!("a,{t},{}\n", if t < 60 { 5 * t } else { 3_000_000 + t % 2 })).collect();
        Panel::read_csv(format!("unique_id,ds,y\n{rows}").as_bytes(), "t.csv", &ReadOptions::default())
            .expect("a panel")
    };
    let (whole, end) = (text(0..90), text(70..90));
    assert!(whole.level(0) == SeriesLevel::default() && end.level(0) != SeriesLevel::default());
    let fitted = Forecaster::new(networks()).expect("models").fit(&whole).expect("a fit");
    let forecast = |panel: &Panel| fitted.predict(panel, None).expect("a forecast").columns;
    assert_eq!(forecast(&end), forecast(&whole));
}
