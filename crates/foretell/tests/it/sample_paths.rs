//! Sample paths: as many as asked for, with the marginals of the forecast, and the same whatever else is drawn.

use std::sync::{Arc, Mutex};

use foretell::{
    Fitted, Forecaster, Frame, Freq, ModelSpec, Panel, PathMethod, PredictOptions, PredictionIntervals,
    SimulateOptions, Warning,
};
use serde_json::{Value, json};

const H: usize = 6;

fn panel(ids: &[&str], rows: usize) -> Panel {
    let y = |phase: usize| {
        let value = move |t: usize| ((t + phase) as f32 * 0.5).sin() + 0.2 * ((t * 7919 + phase) % 11) as f32;
        (0..rows).map(value).collect::<Vec<_>>()
    };
    let series = ids.iter().map(|id| (*id, 0, y(id.len())));
    Panel::from_series(Freq::parse("1").expect("a frequency"), series).expect("a panel")
}

fn spec(name: &str, settings: &[(&str, Value)]) -> ModelSpec {
    let common = [("max_steps", json!(20)), ("windows_batch_size", json!(32))];
    let spec = ModelSpec::new(name, H, 18).expect("a model");
    common
        .iter()
        .chain(settings)
        .cloned()
        .fold(spec, |spec, (name, value)| spec.set(name, value).expect("a value"))
}

fn fit(specs: impl IntoIterator<Item = ModelSpec>, panel: &Panel) -> Fitted {
    Forecaster::new(specs).expect("models").fit(panel).expect("a fit")
}

fn normal() -> ModelSpec {
    spec(
        "NLinear",
        &[("loss", json!({"DistributionLoss": {"distribution": "Normal"}})), ("alias", json!("normal"))],
    )
}

fn of_series<'f>(frame: &'f Frame, id: &str, column: &str) -> Vec<&'f f32> {
    let values = frame.column(column).expect("a column").iter();
    frame.ids.iter().zip(values).filter(|(found, _)| &***found == id).map(|(_, value)| value).collect()
}

#[test]
fn paths_have_the_quantiles_of_the_forecast() {
    const PATHS: usize = 2000;
    let panel = panel(&["a", "bb"], 200);
    let many = spec("NLinear", &[("loss", json!({"MQLoss": {"level": [50, 90]}})), ("alias", json!("many"))]);
    let point = spec("NLinear", &[("alias", json!("point"))]);
    let intervals = PredictionIntervals { n_windows: 20, ..PredictionIntervals::default() };
    let fitted = fit([normal(), many, point], &panel).calibrate(&panel, intervals).expect("a calibration");
    let asked = PredictOptions::new().level(&[50.0]);
    let expected = fitted.predict_with(&panel, &asked).expect("a forecast");
    for method in ["gaussian_copula", "schaake_shuffle"] {
        let options = SimulateOptions::new(PATHS).seed(3).method(method.parse().expect("a method"));
        let paths = fitted.simulate(&panel, &options).expect("paths");
        assert_eq!(paths.n_rows(), 2 * PATHS * H);
        assert_eq!(
            paths.columns.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
            ["sample_id", "normal", "many", "point"]
        );
        assert_eq!(paths.columns[0].1[H * (PATHS + 7)..][..H], [7.0; H]);
        assert_eq!(paths.times[..H + 1], [200, 201, 202, 203, 204, 205, 200]);
        for model in ["normal", "many", "point"] {
            for (series, id) in ["a", "bb"].into_iter().enumerate() {
                let all = of_series(&paths, id, model);
                for step in 0..H {
                    let mut samples: Vec<f32> =
                        all.iter().skip(step).step_by(H).map(|value| **value).collect();
                    samples.sort_by(f32::total_cmp);
                    let [low, high] = ["lo", "hi"].map(|end| {
                        expected.column(&format!("{model}-{end}-50")).expect("an end")[series * H + step]
                    });
                    let width = (high - low).max(1e-3);
                    // The quarters, within a fifth of the width between them.
                    for (share, end) in [(PATHS / 4, low), (3 * PATHS / 4, high)] {
                        let off = (samples[share] - end).abs();
                        assert!(
                            off < 0.2 * width,
                            "{method} {model} {id} {step}: {} and {end}",
                            samples[share]
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn paths_are_as_long_as_asked() {
    let panel = panel(&["a", "bb"], 100);
    let fitted = fit([normal(), spec("DeepAR", &[("lstm_hidden_size", json!(8))])], &panel);
    let options = |h: usize| SimulateOptions::new(300).seed(3).h(h);
    let own = fitted.simulate(&panel, &SimulateOptions::new(300).seed(3)).expect("paths");
    let mut first = own.clone();
    first.keep_first_steps(H, 2);
    assert_eq!(fitted.simulate(&panel, &options(2)).expect("paths"), first);

    let h = 2 * H + 1;
    let longer = fitted.simulate(&panel, &options(h)).expect("paths");
    let forecast =
        fitted.predict_with(&panel, &PredictOptions::new().h(h).level(&[80.0])).expect("a forecast");
    assert_eq!((longer.n_rows(), &longer.times[..h]), (2 * 300 * h, &forecast.times[..h]));
    for model in ["normal", "DeepAR"] {
        let [low, high] = ["lo", "hi"].map(|end| of_series(&forecast, "bb", &format!("{model}-{end}-80")));
        let paths = of_series(&longer, "bb", model);
        let inside = paths.iter().enumerate().filter(|(row, y)| (low[row % h]..high[row % h]).contains(*y));
        let share = inside.count() as f64 / paths.len() as f64;
        assert!((0.7..0.9).contains(&share), "{model}: 80 % hold {share}");
    }
    let deep = fit([spec("DeepAR", &[("lstm_hidden_size", json!(8))])], &panel);
    let own = deep.simulate(&panel, &options(h).method(PathMethod::Ancestral)).expect("paths");
    assert_eq!(own.n_rows(), longer.n_rows());

    // Calibrated intervals are those of the horizon.
    let point = fit([spec("NLinear", &[])], &panel);
    let intervals = PredictionIntervals { n_windows: 5, ..PredictionIntervals::default() };
    let calibrated = point.calibrate(&panel, intervals).expect("a calibration");
    assert!(calibrated.simulate(&panel, &options(H - 1)).is_ok());
    let error =
        calibrated.simulate(&panel, &options(H + 1)).expect_err("no intervals so far ahead").to_string();
    assert!(error.contains("NLinear"), "{error}");
}

#[test]
fn paths_depend_on_seed_and_series_alone() {
    let both = panel(&["a", "bb"], 100);
    let deep = spec("DeepAR", &[("lstm_hidden_size", json!(8))]);
    let fitted = fit([normal()], &both);
    let own = fit([deep], &both);
    for (fitted, method, column) in [
        (&fitted, "gaussian_copula", "normal"),
        (&fitted, "schaake_shuffle", "normal"),
        (&own, "ancestral", "DeepAR"),
    ] {
        let draw = |panel: &Panel, seed: u64, threads: usize| {
            let options = SimulateOptions::new(5).seed(seed).method(method.parse().expect("a method"));
            let fitted = fitted.clone().threads(threads).expect("threads");
            let frame = fitted.simulate(panel, &options).expect("paths");
            of_series(&frame, "bb", column).into_iter().copied().collect::<Vec<f32>>()
        };
        let paths = draw(&both, 1, 1);
        assert_eq!(paths.len(), 5 * H);
        assert_eq!(paths, draw(&both, 1, 2), "{method}");
        assert_ne!(paths, draw(&both, 2, 1), "{method}");
        let alone = draw(&panel(&["bb"], 100), 1, 1);
        assert!(
            paths.iter().zip(&alone).all(|(a, b)| (a - b).abs() < 1e-4),
            "{method}: {paths:?}, {alone:?}"
        );
        assert_ne!(paths[..H], paths[H..2 * H]);
    }
}

/// The paths of DeepAR are those that its quantiles are of.
#[test]
fn ancestral_paths_are_those_behind_the_forecast() {
    let panel = panel(&["a"], 100);
    let fitted = fit(
        [spec(
            "DeepAR",
            &[
                ("lstm_hidden_size", json!(8)),
                ("sampling", json!("ancestral")),
                ("trajectory_samples", json!(4000)),
            ],
        )],
        &panel,
    );
    let options = SimulateOptions::new(4000).method(PathMethod::Ancestral);
    let paths = fitted.simulate(&panel, &options).expect("paths");
    let forecast = fitted.predict_with(&panel, &PredictOptions::new().level(&[50.0])).expect("a forecast");
    for step in 0..H {
        let values = paths.column("DeepAR").expect("a column").iter().skip(step).step_by(H);
        let mut samples: Vec<f32> = values.copied().collect();
        samples.sort_by(f32::total_cmp);
        let [low, high] =
            ["lo", "hi"].map(|end| forecast.column(&format!("DeepAR-{end}-50")).expect("an end")[step]);
        for (share, end) in [(1000, low), (3000, high)] {
            assert!(
                (samples[share] - end).abs() < 0.15 * (high - low),
                "{step}: {} and {end}",
                samples[share]
            );
        }
    }
}

#[test]
fn what_has_no_paths_is_refused() {
    let panel = panel(&["a"], 100);
    let message = |fitted: &Fitted, options: SimulateOptions<'_>| {
        fitted.simulate(&panel, &options).expect_err("refused").to_string()
    };
    let point = fit([spec("NLinear", &[])], &panel);
    assert!(message(&point, SimulateOptions::new(5)).contains("NLinear has no intervals"));
    let normal = fit([normal()], &panel);
    assert!(message(&normal, SimulateOptions::new(5).quantiles(&[0.5])).contains("two quantiles or more"));
    assert!(message(&normal, SimulateOptions::new(0)).contains("found 0"));
    assert!(message(&normal, SimulateOptions::new(5).quantiles(&[0.5, 2.0])).contains("found 2"));
    let ancestral = SimulateOptions::new(5).method(PathMethod::Ancestral);
    assert!(message(&normal, ancestral).contains("normal draws no paths of its own"));
    let short = SimulateOptions::new(5).method("schaake_shuffle".parse().expect("a method"));
    let error = normal.simulate(&panel.last(H - 1), &short).expect_err("too short").to_string();
    assert!(error.contains("series a: the Schaake shuffle takes stretches of 6 steps"), "{error}");
}

#[test]
fn paths_are_drawn_of_the_models_that_have_some() {
    let panel = panel(&["a", "b"], 100);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let into = heard.clone();
    let both = Forecaster::new([normal(), spec("NLinear", &[])]).expect("models");
    let both = both.on_warning(move |warning| into.lock().expect("no panic").push(warning.clone()));
    let fitted = both.fit(&panel).expect("a fit");
    let options = SimulateOptions::new(5);
    let paths = fitted.simulate(&panel, &options).expect("paths");
    let alone = fit([normal()], &panel).simulate(&panel, &options).expect("paths");
    assert_eq!(paths.columns, alone.columns);
    assert_eq!(
        heard.lock().expect("no panic")[..],
        [Warning::NoPaths { models: vec!["NLinear".to_owned()], has_loss: true }]
    );
}
