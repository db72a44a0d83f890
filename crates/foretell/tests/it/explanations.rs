//! Contributions of inputs to forecasts: they add up, whatever the network.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use foretell::{
    Attribution, DecomposeOptions, ExplainOptions, Fitted, Forecaster, Frame, Freq, Future, LocalScaler,
    ModelSpec, Panel, PredictOptions, ReadOptions, TimeKind,
};
use serde_json::{Value, json};

const H: usize = 3;
const L: usize = 12;

type Settings = Vec<(&'static str, Value)>;

/// Two series of 60 rows with a column of the past, one of the future and a static one.
fn panel() -> Panel {
    let freq = Freq::parse("1").expect("a frequency");
    let times: Vec<i64> = (0..60).collect();
    let mut builder = Panel::builder(TimeKind::Integer).freq(freq);
    for (id, phase) in [("a", 0.0), ("b", 1.0)] {
        let y: Vec<f32> = times.iter().map(|t| (*t as f32 * 0.7 + phase).sin() + 5.0 + phase).collect();
        builder = builder.series(id, &times, &y);
    }
    let [past, ahead] =
        [0.3, 0.5].map(|speed: f32| (0..120).map(|t| (t as f32 * speed).cos()).collect::<Vec<_>>());
    let panel = builder.column("past", &past).column("ahead", &ahead).build().expect("a panel");
    panel.with_static("size", &[("a", 1.0), ("b", 2.0)]).expect("a static column")
}

fn future() -> Future {
    Future::new(&panel(), H, &[("ahead", &[0.5, -0.5, 0.25, 1.0, 0.75, -1.0])]).expect("a table")
}

fn fit(name: &str, settings: &[(&str, Value)], scaler: Option<LocalScaler>) -> Fitted {
    let common =
        [("max_steps", json!(20)), ("windows_batch_size", json!(32)), ("scaler_type", json!("standard"))];
    let spec = ModelSpec::new(name, H, L).expect("a model");
    let spec = common
        .iter()
        .chain(settings)
        .cloned()
        .fold(spec, |spec, (name, value)| spec.set(name, value).expect(name));
    let forecaster = Forecaster::new([spec]).expect("a model");
    scaler.into_iter().fold(forecaster, Forecaster::local_scaler).fit(&panel()).expect("a fit")
}

fn explain(fitted: &Fitted, method: Attribution) -> Frame {
    fitted.explain(&panel(), &ExplainOptions::new(method).future(&future())).expect("contributions")
}

/// The largest difference of the sums of the contributions from the forecasts, relative to the sum of their sizes.
fn gap(fitted: &Fitted, frame: &Frame) -> f32 {
    let forecast = fitted.predict(&panel(), Some(&future())).expect("a forecast");
    distance(frame, &forecast.columns[0].1)
}

/// The same of a column of forecasts.
fn distance(frame: &Frame, forecast: &[f32]) -> f32 {
    assert_eq!(frame.n_rows(), forecast.len());
    let row = |row: usize| {
        let values = || frame.columns.iter().map(|(_, values)| values[row]);
        let sizes: f32 = values().skip(1).map(f32::abs).sum();
        (values().sum::<f32>() - forecast[row]).abs() / sizes.max(0.1)
    };
    (0..forecast.len()).map(row).fold(0.0, f32::max)
}

/// Step by step each step reads those before it again, so that graphs grow by the square of the steps.
#[test]
fn gradients_of_many_steps_are_refused_before_they_take_memory() {
    let settings = [("encoder_hidden_size", json!(8)), ("recurrent", json!(true)), ("max_steps", json!(1))];

    let fitted =
        settings.into_iter().fold(ModelSpec::new("LSTM", H, L).expect("a model"), |spec, (name, value)| {
            spec.set(name, value).expect(name)
        });
    let fitted =
        Forecaster::new([fitted]).expect("a model").max_memory(300_000_000).fit(&panel()).expect("a fit");
    let explain = |method, h| fitted.explain(&panel(), &ExplainOptions::new(method).h(h));
    let gradients = Attribution::IntegratedGradients { points: 50 };
    let refused = explain(gradients, 1500).expect_err("more than the limit").to_string();
    assert!(
        refused.contains("the graphs of gradients") && refused.contains("fewer series, steps"),
        "{refused}"
    );
    assert!(explain(gradients, 2 * H).is_ok());
}

/// Models of all kinds with small sizes, and the gap that integrated gradients at 100 points may leave: points are too few where
/// a forecast bends sharply.
fn models() -> Vec<(&'static str, Settings, f32)> {
    let columns = |more: Settings| {
        let columns = [("hist_exog_list", "past"), ("futr_exog_list", "ahead"), ("stat_exog_list", "size")];
        columns.into_iter().map(|(list, column)| (list, json!([column]))).chain(more).collect::<Vec<_>>()
    };
    let recurrent = |more: Settings| {
        columns([vec![("encoder_hidden_size", json!(6)), ("decoder_hidden_size", json!(6))], more].concat())
    };
    let transformer = vec![("hidden_size", json!(8)), ("n_head", json!(2)), ("conv_hidden_size", json!(8))];
    vec![
        ("NLinear", vec![], 1e-5),
        ("DLinear", vec![("moving_avg_window", json!(5))], 1e-5),
        ("RLinear", vec![], 0.02),
        ("MLP", columns(vec![("hidden_size", json!(16))]), 0.02),
        ("NHITS", columns(vec![("mlp_units", json!([[8, 8], [8, 8], [8, 8]]))]), 0.02),
        ("NBEATS", vec![("mlp_units", json!([[8, 8], [8, 8], [8, 8]]))], 0.02),
        ("TiDE", columns(vec![("hidden_size", json!(8))]), 0.05),
        ("DeepNPTS", columns(vec![("hidden_size", json!(8))]), 0.02),
        ("GRU", recurrent(vec![]), 0.02),
        ("LSTM", recurrent(vec![("recurrent", json!(true))]), 0.02),
        ("TFT", columns(vec![("hidden_size", json!(8)), ("n_head", json!(2))]), 0.05),
        (
            "PatchTST",
            vec![
                ("hidden_size", json!(8)),
                ("n_heads", json!(2)),
                ("linear_hidden_size", json!(8)),
                ("patch_len", json!(4)),
                ("stride", json!(2)),
            ],
            1e-4,
        ),
        ("VanillaTransformer", transformer, 0.05),
        ("TSMixerx", columns(vec![("ff_dim", json!(8))]), 0.02),
        ("iTransformer", vec![("hidden_size", json!(8)), ("n_heads", json!(2)), ("d_ff", json!(8))], 0.1),
    ]
}

#[test]
fn contributions_add_up_to_the_forecast() {
    for (name, settings, most) in models() {
        let fitted = fit(name, &settings, None);
        let integrated = explain(&fitted, Attribution::IntegratedGradients { points: 100 });
        let found = gap(&fitted, &integrated);
        assert!(found <= most, "{name}: {found}");
        let shapley = explain(&fitted, Attribution::ShapleySampling { permutations: 2, seed: 1 });
        let found = gap(&fitted, &shapley);
        assert!(found <= 2e-4, "{name}, Shapley: {found}");
        assert_eq!(integrated.columns.len(), shapley.columns.len());
    }
}

#[test]
fn inputs_have_their_names() {
    let fitted = fit("MLP", &models()[3].1, None);
    let frame = explain(&fitted, Attribution::InputXGradient);
    let names: Vec<&str> = frame.columns.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names.len(), 1 + L + L + (L + H) + 1);
    assert_eq!(names[..2], ["MLP:baseline", "MLP:y@-11"]);
    assert_eq!([names[L], names[2 * L], names[2 * L + L + H]], ["MLP:y@0", "MLP:past@0", "MLP:ahead@3"]);
    assert_eq!(names[names.len() - 1], "MLP:size");
    let mixer = fit("TSMixerx", &models()[13].1, None);
    let frame = explain(&mixer, Attribution::InputXGradient);
    assert_eq!(frame.columns.len(), 1 + 2 * (names.len() - 1));
    assert!(frame.column("TSMixerx:b/ahead@3").is_some());
}

#[test]
fn of_a_linear_network_all_methods_agree() {
    for scaler in [None, Some(LocalScaler::Standard)] {
        let fitted = fit("NLinear", &[], scaler);
        let [gradients, times, shapley] = [
            Attribution::IntegratedGradients { points: 3 },
            Attribution::InputXGradient,
            Attribution::ShapleySampling { permutations: 3, seed: 1 },
        ]
        .map(|method| explain(&fitted, method));
        assert!(gap(&fitted, &gradients) < 1e-4, "{scaler:?}");
        for (place, (name, values)) in gradients.columns.iter().enumerate() {
            for other in [&times, &shapley] {
                let others = &other.columns[place].1;
                assert!(
                    values.iter().zip(others).all(|(a, b)| (a - b).abs() < 1e-3),
                    "{name}: {values:?} {others:?}"
                );
            }
        }
    }
}

#[test]
fn whatever_scales_windows_contributions_and_parts_add_up() {
    for scaler in ["identity", "standard", "robust", "minmax", "minmax1", "revin"] {
        let fitted = fit("DLinear", &[("scaler_type", json!(scaler)), ("moving_avg_window", json!(5))], None);
        let found = gap(&fitted, &explain(&fitted, Attribution::IntegratedGradients { points: 3 }));
        assert!(found <= 1e-4, "{scaler}: {found}");
        let parts = fitted.decompose(&panel(), &DecomposeOptions::new()).expect("parts");
        let forecast = fitted.predict(&panel(), None).expect("a forecast");
        let found = distance(&parts, &forecast.columns[0].1);
        assert!(found <= 1e-4, "{scaler}: {found}");
    }
}

#[test]
fn the_mean_of_a_distribution_has_shapley_values() {
    let normal = json!({"DistributionLoss": {"distribution": "Normal"}});
    let recurrent: Settings = vec![("lstm_hidden_size", json!(6)), ("lstm_dropout", json!(0.0))];
    let models: [(&str, Settings); 4] = [
        ("NLinear", vec![("loss", normal.clone())]),
        (
            "MLP",
            vec![
                ("loss", json!({"GMM": {"n_components": 2}})),
                ("hidden_size", json!(8)),
                ("futr_exog_list", json!(["ahead"])),
            ],
        ),
        ("TSMixerx", vec![("loss", normal), ("ff_dim", json!(8))]),
        ("DeepAR", recurrent),
    ];
    for (name, settings) in models {
        let fitted = fit(name, &settings, None);
        let frame = explain(&fitted, Attribution::ShapleySampling { permutations: 2, seed: 1 });
        let found = gap(&fitted, &frame);
        assert!(found <= 2e-4, "{name}: {found}");
        let slip =
            fitted.explain(&panel(), &ExplainOptions::default().future(&future())).expect_err("gradients");
        assert!(slip.to_string().contains("choose Shapley sampling"), "{slip}");
    }
}

#[test]
fn what_has_no_contributions_is_refused() {
    let message = |fitted: &Fitted, options: ExplainOptions<'_>| {
        fitted.explain(&panel(), &options).expect_err("refused").to_string()
    };
    let normal = fit("NLinear", &[("loss", json!({"DistributionLoss": {"distribution": "Normal"}}))], None);
    assert!(message(&normal, ExplainOptions::default()).contains("parameters of a distribution"));
    let linear = fit("NLinear", &[], None);
    assert!(message(&linear, ExplainOptions::default().output(1)).contains("no output 1"));
    let other = ["NHITS".to_owned()];
    assert!(message(&linear, ExplainOptions::default().models(&other)).contains("those here are: NLinear"));
    let naive = Forecaster::new([ModelSpec::new("Naive", H, 1).expect("a model")]).expect("a model");
    let naive = naive.fit(&panel()).expect("a fit");
    let told = message(&naive, ExplainOptions::default());
    assert!(
        told.contains("that foretell trains, of Foretell0 and of Auto, and no model here is one"),
        "{told}"
    );
}

#[test]
fn parts_add_up_to_the_forecast() {
    let small = json!([[8, 8], [8, 8], [8, 8]]);
    let transformer = [("hidden_size", json!(8)), ("n_head", json!(2)), ("conv_hidden_size", json!(8))];
    let models: [(&str, Settings, &[&str]); 5] = [
        ("NBEATS", vec![("mlp_units", small.clone())], &["level", "identity_1", "trend_2", "seasonality_3"]),
        ("NHITS", vec![("mlp_units", small)], &["level", "block_1", "block_2", "block_3"]),
        ("DLinear", vec![("moving_avg_window", json!(5))], &["trend", "seasonality"]),
        ("Autoformer", transformer.to_vec(), &["trend", "seasonality"]),
        (
            "FEDformer",
            vec![("hidden_size", json!(8)), ("conv_hidden_size", json!(8))],
            &["trend", "seasonality"],
        ),
    ];
    for (name, settings, expected) in models {
        for scaler in [None, Some(LocalScaler::Standard)] {
            let fitted = fit(name, &settings, scaler);
            // The horizon, some of it, and more, which are forecast from forecasts.
            for h in [H, 1, 2 * H + 1] {
                let parts = fitted.decompose(&panel(), &DecomposeOptions::new().h(h)).expect("parts");
                let names: Vec<&str> =
                    parts.columns.iter().filter_map(|(part, _)| part.split(':').nth(1)).collect();
                assert_eq!(names, expected, "{name}");
                let forecast =
                    fitted.predict_with(&panel(), &PredictOptions::new().h(h)).expect("a forecast");
                assert_eq!((&parts.ids, &parts.times), (&forecast.ids, &forecast.times));
                for (row, forecast) in forecast.columns[0].1.iter().enumerate() {
                    let sum: f32 = parts.columns.iter().map(|(_, values)| values[row]).sum();
                    assert!((sum - forecast).abs() < 1e-3, "{name}, {h} steps: {sum} and {forecast}");
                }
            }
        }
    }
}

#[test]
fn a_model_that_is_not_taken_apart_leaves_the_others_theirs() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let into = told.clone();
    let normal = json!({"DistributionLoss": {"distribution": "Normal"}});
    let [parted, whole] = [("DLinear", json!("MAE")), ("MLP", normal)].map(|(name, loss)| {
        let spec = ModelSpec::new(name, H, L).expect("a model").set("max_steps", 2).expect("steps");
        spec.set("loss", loss).expect("a loss")
    });
    let forecaster = Forecaster::new([parted, whole.clone()]).expect("models");
    let forecaster =
        forecaster.on_warning(move |warning| into.lock().expect("no panic").push(warning.to_string()));
    let parts = forecaster
        .fit(&panel())
        .expect("a fit")
        .decompose(&panel(), &DecomposeOptions::new())
        .expect("parts");
    assert_eq!(
        parts.columns.iter().map(|(name, _)| &**name).collect::<Vec<_>>(),
        ["DLinear:trend", "DLinear:seasonality"]
    );
    let told = told.lock().expect("no panic").join("\n");
    assert!(told.contains("MLP") && told.contains("the table has no parts of it"), "{told}");
    // Nothing but such a model has nothing.
    let alone = Forecaster::new([whole]).expect("a model").fit(&panel()).expect("a fit");
    let error = alone.decompose(&panel(), &DecomposeOptions::new()).expect_err("no parts").to_string();
    assert!(error.contains("parameters of a distribution"), "{error}");
}

#[test]
fn a_forecast_of_prophet_is_taken_apart() {
    let freq = Freq::parse("D").expect("a frequency");
    let y = |height: f32| (0..200).map(|t| height + 0.1 * t as f32 + (t % 7) as f32).collect::<Vec<_>>();
    let first = foretell::jiff::civil::date(2024, 1, 1);
    let panel = Panel::from_series(freq, [("a", first, y(1.0)), ("b", first, y(50.0))]).expect("a panel");
    for mode in ["additive", "multiplicative"] {
        let spec = ModelSpec::new("Prophet", 7, 1)
            .and_then(|spec| spec.set("seasonality_mode", mode))
            .expect("a model");
        let fitted = Forecaster::new([spec]).expect("a model").fit(&panel).expect("a fit");
        let parts = fitted.decompose(&panel, &DecomposeOptions::new().h(10)).expect("parts");
        assert!(parts.column("Prophet:trend").is_some() && parts.column("Prophet:weekly").is_some());
        let forecast = fitted.predict_with(&panel, &PredictOptions::new().h(10)).expect("a forecast");
        assert_eq!(parts.times, forecast.times);
        for (row, forecast) in forecast.columns[0].1.iter().enumerate() {
            let sum: f32 = parts.columns.iter().map(|(_, values)| values[row]).sum();
            assert!((sum - forecast).abs() < 1e-3 * forecast.abs(), "{mode}: {sum} and {forecast}");
        }
    }
    let naive = Forecaster::new([ModelSpec::new("Naive", 7, 1).expect("a model")]).expect("a model");
    let naive = naive.fit(&panel).expect("a fit").decompose(&panel, &DecomposeOptions::new());
    assert!(naive.expect_err("no parts").to_string().contains("NHITS"));
}

/// Contributions of inputs by their names, of each method, model and case: what `compare/explanations.py` wrote.
type Fixture = BTreeMap<String, BTreeMap<String, BTreeMap<String, BTreeMap<String, Vec<f32>>>>>;

#[test]
fn contributions_are_those_of_neuralforecast() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let json = std::fs::read_to_string(fixtures.join("explanations.json")).expect("a fixture");
    let fixture: Fixture = serde_json::from_str(&json).expect("contributions");
    assert_eq!(fixture.len(), 2);
    for (case, models) in fixture {
        let case = fixtures.join("checkpoints").join(case);
        let fitted = Fitted::load(case.join("model")).expect("a directory");
        let options = ReadOptions::new().freq(fitted.freq());
        let mut panel = Panel::from_csv(case.join("panel.csv"), &options).expect("a panel");
        if case.join("static.csv").exists() {
            panel = panel.with_static_file(case.join("static.csv"), &options).expect("static columns");
        }
        let futr = Some(case.join("futr.csv")).filter(|path| path.exists());
        let future = futr.map(|path| Future::from_file(path, &options, &panel, fitted.h()).expect("a table"));
        for (model, methods) in models {
            for (name, expected) in methods {
                let method = match name.as_str() {
                    "integrated_gradients" => Attribution::IntegratedGradients { points: 50 },
                    "input_x_gradient" => Attribution::InputXGradient,
                    other => panic!("no method {other}"),
                };
                let options = ExplainOptions::new(method).future(future.as_ref());
                let found = fitted.explain(&panel, &options).expect("contributions");
                let largest = expected.iter().filter(|(input, _)| *input != "baseline");
                let largest =
                    largest.flat_map(|(_, values)| values).fold(0.0_f32, |most, x| most.max(x.abs()));
                // neuralforecast has a baseline of the methods whose contributions add up.
                assert!(found.columns.len() - expected.len() <= 1, "{model}: other inputs");
                for (input, expected) in expected {
                    let column = format!("{model}:{input}");
                    let found = found.column(&column).unwrap_or_else(|| panic!("no {column}"));
                    assert_eq!(found.len(), expected.len(), "{column}");
                    for (found, expected) in found.iter().zip(&expected) {
                        let most = 1e-4 * largest.max(expected.abs());
                        assert!((found - expected).abs() <= most, "{name}, {column}: {found}, {expected}");
                    }
                }
            }
        }
    }
}

#[test]
fn steps_beyond_the_horizon_add_up_to_their_forecasts() {
    let ahead = vec![("futr_exog_list", json!(["ahead"])), ("stat_exog_list", json!(["size"]))];
    let recurrent = vec![("recurrent", json!(true)), ("encoder_hidden_size", json!(6))];
    let models: [(&str, Settings, f32); 4] = [
        ("NLinear", vec![], 1e-4),
        ("MLP", ahead.clone(), 0.02),
        ("LSTM", recurrent, 0.02),
        ("TSMixerx", ahead, 0.02),
    ];
    for (name, settings, most) in models {
        for scaler in [None, Some(LocalScaler::Standard)] {
            let fitted = fit(name, &settings, scaler);
            // No multiple of the horizon: the last one overlaps with the one before it.
            for h in [2 * H + 1, H - 1] {
                let values: Vec<f32> = (0..2 * h.max(H)).map(|t| (t as f32 * 0.4).sin()).collect();
                let future = Future::new(&panel(), h.max(H), &[("ahead", &values)]).expect("a table");
                let asked = PredictOptions::new().h(h).future(&future);
                let forecast = fitted.predict_with(&panel(), &asked).expect("a forecast");
                let method = Attribution::IntegratedGradients { points: 100 };
                let options = ExplainOptions::new(method).h(h).future(&future);
                let frame = fitted.explain(&panel(), &options).expect("contributions");
                assert_eq!((&frame.ids, &frame.times), (&forecast.ids, &forecast.times));
                let found = distance(&frame, &forecast.columns[0].1);
                assert!(found <= most, "{name}, {h} steps: {found}");
            }
        }
    }
}

#[test]
fn gradients_of_categories_are_those_of_their_embeddings() {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/checkpoints/categorical");
    let fitted = Fitted::load(case.join("model")).expect("a directory");
    let options = ReadOptions::new().freq(fitted.freq()).categories(fitted.categories());
    let panel = Panel::from_csv(case.join("panel.csv"), &options)
        .and_then(|panel| panel.with_static_file(case.join("static.csv"), &options))
        .expect("a panel");
    let future = Future::from_file(case.join("futr.csv"), &options, &panel, fitted.h()).expect("a table");
    let models = ["MLP".to_owned()];
    let explain =
        |method| fitted.explain(&panel, &ExplainOptions::new(method).models(&models).future(&future));
    let gradients = explain(Attribution::IntegratedGradients { points: 100 }).expect("contributions");
    let shapley = explain(Attribution::ShapleySampling { permutations: 2, seed: 1 }).expect("contributions");
    let names = |frame: &Frame| frame.columns.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&gradients), names(&shapley));
    let forecast = fitted.predict(&panel, Some(&future)).expect("a forecast");
    let forecast = forecast.column("MLP").expect("a column");
    assert!(distance(&gradients, forecast) <= 0.02);
    for category in fitted.categories() {
        let of = |name: &str| name.split([':', '@']).nth(1) == Some(&category);
        let mut columns = gradients.columns.iter().filter(|(name, _)| of(name));
        assert!(columns.any(|(_, values)| values.iter().any(|value| *value != 0.0)), "{category}");
    }
    for (row, forecast) in forecast.iter().enumerate() {
        let sum: f32 = shapley.columns.iter().map(|(_, values)| values[row]).sum();
        assert!((sum - forecast).abs() < 1e-4 * forecast.abs().max(1.0), "{sum} and {forecast}");
    }
}
