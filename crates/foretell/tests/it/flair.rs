//! FLAIR in the facade: forecast with quantiles and columns, scored, saved, loaded, taken apart and simulated like any model.

use foretell::{
    DecomposeOptions, Fitted, Forecaster, Freq, Future, ModelSpec, Panel, PathMethod, PredictOptions,
    SimulateOptions, TimeKind, ValidationOptions,
};
use serde_json::json;

const DAYS: usize = 140;
const WEEK: [f32; 7] = [30.0, 10.0, 40.0, 10.0, 50.0, 90.0, 20.0];

/// Days of a week that grows, and series of a few rows.
fn panel() -> Panel {
    let y = |day: usize| (1.0 + day as f32 / 100.0) * WEEK[day % 7] + ((day * day) as f32).sin();
    let long = (0..DAYS).map(y).collect();
    let few = [vec![3.5], vec![3.5, -8.0], vec![1e30, 3e30, 2e30], vec![0.0; 20], vec![-1e-30; 9]];
    let names = ["one", "two", "three", "zeros", "tiny"];
    let all = std::iter::once(("long", 0, long)).chain(names.into_iter().zip(few).map(|(id, y)| (id, 0, y)));
    Panel::from_series(Freq::parse("D").expect("days"), all).expect("a panel")
}

/// The first series without the others.
fn alone(panel: &Panel) -> Panel {
    Panel::from_series(panel.freq(), [("long", 0, panel.y(0).to_vec())]).expect("a panel")
}

fn flair(h: usize) -> ModelSpec {
    ModelSpec::new("FLAIR", h, 1).expect("a model")
}

#[test]
fn it_is_forecast_saved_and_loaded_like_any_model_at_any_number_of_threads() {
    let panel = panel();
    let quantiles = [0.05, 0.5, 0.95];
    let options = PredictOptions::new().quantiles(&quantiles).h(21);
    let [one, three] = [1, 3].map(|threads| {
        let fitted =
            Forecaster::new([flair(14)]).expect("a model").threads(threads).fit(&panel).expect("a fit");
        let forecast = fitted.predict_with(&panel, &options).expect("a forecast");
        (fitted, forecast)
    });
    assert_eq!(one.1.columns, three.1.columns);
    let columns: Vec<&[f32]> = one.1.columns.iter().map(|(_, values)| &values[..]).collect();
    let [point, low, median, high] = columns[..] else { panic!("{:?}", one.1.columns.len()) };
    assert!(columns.iter().copied().flatten().all(|y| y.is_finite()));
    assert_eq!(point, median);
    assert!((0..point.len()).all(|i| low[i] <= median[i] && median[i] <= high[i]));
    for step in 0..21 {
        let expected = (1.0 + (DAYS + step) as f32 / 100.0) * WEEK[(DAYS + step) % 7];
        assert!((point[step] / expected - 1.0).abs() < 0.15, "{} is not {expected}", point[step]);
    }
    // Alone a series is forecast as beside others.
    assert_eq!(one.0.predict_with(&alone(&panel), &options).expect("a forecast").columns[0].1, point[..21]);
    let home = tempfile::tempdir().expect("a directory");
    one.0.save(home.path().join("model"), false).expect("it is saved");
    let loaded = Fitted::load(home.path().join("model")).expect("it is loaded");
    assert_eq!(loaded.predict_with(&panel, &options).expect("a forecast").columns, one.1.columns);
    let parts = loaded.decompose(&panel, &DecomposeOptions::new().h(21)).expect("parts");
    let part = |name: &str| parts.column(name).expect("a part");
    let (level, season) = (part("FLAIR:level"), part("FLAIR:season"));
    assert!((0..point.len()).all(|i| (level[i] + season[i] - point[i]).abs() <= 1e-5 * point[i].abs()));
    assert!((level[0] / 250.0 * 7.0 - 2.4).abs() < 0.2 && (season[0] - (point[0] - level[0])).abs() < 1e-3);
}

#[test]
fn it_is_scored_with_its_own_intervals_and_draws_paths() {
    let panel = alone(&panel());
    let level = [80.0];
    let naive = ModelSpec::new("SeasonalNaive", 7, 1).expect("a model");
    let options = ValidationOptions::new(2, 7).level(&level);
    let validation =
        Forecaster::new([flair(7), naive]).expect("models").cross_validate(&panel, &options).expect("scores");
    let metrics = validation.metrics(&panel, 7);
    assert!(metrics[0].mae < metrics[1].mae, "{} {}", metrics[0].mae, metrics[1].mae);
    assert!(validation.frame.column("FLAIR-lo-80").is_some());
    let fitted = Forecaster::new([flair(7)]).expect("a model").fit(&panel).expect("a fit");
    let paths = |method: PathMethod| {
        fitted.simulate(&panel, &SimulateOptions::new(30).method(method)).expect("paths").columns
    };
    for method in [PathMethod::default(), PathMethod::Ancestral] {
        assert!(paths(method).iter().all(|(_, values)| values.iter().all(|y| (0.0..300.0).contains(y))));
    }
}

#[test]
fn columns_known_ahead_move_its_level() {
    let freq = Freq::parse("D").expect("days");
    let on: Vec<f32> = (0..DAYS + 7).map(|day| f32::from(u8::from(day / 7 % 3 == 2))).collect();
    let y: Vec<f32> = (0..DAYS).map(|day| WEEK[day % 7] * (1.0 + 0.5 * on[day])).collect();
    let times = freq.times(0, DAYS).expect("days");
    let builder = Panel::builder(TimeKind::Timestamp).freq(freq).series("shop", &times, &y);
    let panel = builder.column("open_late", &on[..DAYS]).build().expect("a panel");
    let spec = flair(7).set("futr_exog_list", json!(["open_late"])).expect("a column");
    let fitted = Forecaster::new([spec]).expect("a model").fit(&panel).expect("a fit");
    let week = |value: f32| {
        let future = Future::new(&panel, 7, &[("open_late", &[value; 7])]).expect("a column");
        let forecast =
            fitted.predict_with(&panel, &PredictOptions::new().future(&future)).expect("a forecast");
        forecast.columns[0].1.iter().sum::<f32>() / WEEK.iter().sum::<f32>()
    };
    assert!((week(1.0) - 1.5).abs() < 0.05 && (week(0.0) - 1.0).abs() < 0.05, "{} {}", week(1.0), week(0.0));
    let error = fitted.predict(&panel, None).expect_err("a column is needed").to_string();
    assert!(error.contains("open_late"), "{error}");
}
