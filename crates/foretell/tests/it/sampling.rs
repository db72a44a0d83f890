//! Forecasts by ancestral sampling.

use foretell::{Fitted, Forecaster, Frame, Freq, ModelSpec, Panel, PredictOptions, ValidationOptions};
use serde_json::{Value, json};

const H: usize = 8;

/// A number of standard normal distribution, for each place another: the mean of twelve uniform ones is close.
fn noise(state: &mut u64) -> f32 {
    let mut sum = -6.0;
    for _ in 0..12 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        sum += (*state >> 40) as f32 / (1 << 24) as f32;
    }
    sum
}

/// Autoregressions of order 1, `y[t + 1] = 0.9 y[t] + e`.
fn panel(series: usize) -> Panel {
    let mut state = 1;
    let walk = |_| {
        let mut y = 0.0;
        let mut next = |_| {
            y = 0.9 * y + noise(&mut state);
            y
        };
        (0..50).for_each(|_| _ = next(0));
        (0..300).map(next).collect::<Vec<f32>>()
    };
    let all: Vec<Vec<f32>> = (0..series).map(walk).collect();
    let freq = Freq::parse("1").expect("a frequency");
    let named = all.into_iter().enumerate().map(|(i, y)| (format!("series-{i:02}"), 0, y));
    Panel::from_series(freq, named).expect("a panel")
}

fn normal() -> Value {
    json!({ "DistributionLoss": { "distribution": "Normal", "level": [80] } })
}

fn spec(model: &str, settings: &[(&str, Value)]) -> ModelSpec {
    let common = [("loss", normal()), ("windows_batch_size", json!(64)), ("learning_rate", json!(0.01))];
    let own = match model {
        "DeepAR" => vec![
            ("lstm_hidden_size", json!(12)),
            ("lstm_n_layers", json!(1)),
            ("lstm_dropout", json!(0.0)),
            ("num_lr_decays", json!(3)),
        ],
        _ => vec![("recurrent", json!(true)), ("encoder_hidden_size", json!(8))],
    };
    let all = common.iter().chain(&own).chain(settings).cloned();
    all.fold(ModelSpec::new(model, H, 10).expect("a model"), |spec, (name, value)| {
        spec.set(name, value).expect("a value")
    })
}

fn ancestral(model: &str) -> ModelSpec {
    spec(
        model,
        &[("sampling", json!("ancestral")), ("max_steps", json!(3)), ("trajectory_samples", json!(40))],
    )
}

fn fit(spec: ModelSpec, panel: &Panel) -> Fitted {
    Forecaster::new([spec]).expect("a model").threads(1).fit(panel).expect("a fit")
}

fn column<'a>(frame: &'a Frame, name: &str) -> &'a [f32] {
    let found = frame.columns.iter().find(|(found, _)| found == name);
    &found.unwrap_or_else(|| panic!("no column {name}")).1
}

/// The share of the truth within the interval and the interval's mean width, of each step ahead.
fn intervals(sampling: &str) -> Vec<(f64, f64)> {
    let settings = [
        ("sampling", json!(sampling)),
        ("max_steps", json!(1500)),
        ("windows_batch_size", json!(128)),
        ("trajectory_samples", json!(200)),
        ("scaler_type", json!("identity")),
    ];
    let forecaster = Forecaster::new([spec("DeepAR", &settings)]).expect("a model");
    let found =
        forecaster.cross_validate(&panel(40), &ValidationOptions::new(10, H)).expect("forecasts").frame;
    let [y, low, high] = ["y", "DeepAR-lo-80", "DeepAR-hi-80"].map(|name| column(&found, name));
    let of_step = |step: usize| {
        let rows: Vec<usize> = (step..y.len()).step_by(H).collect();
        let inside = rows.iter().filter(|&&row| low[row] <= y[row] && y[row] <= high[row]).count();
        let width: f64 = rows.iter().map(|&row| f64::from(high[row] - low[row])).sum();
        (inside as f64 / rows.len() as f64, width / rows.len() as f64)
    };
    (0..H).map(of_step).collect()
}

#[test]
fn intervals_of_sample_paths_hold_what_they_promise() {
    let (sampled, fed_with_means) = (intervals("ancestral"), intervals("mean"));
    println!(
        "share in the interval and its width\nsampled: {sampled:.3?}\nfed with means: {fed_with_means:.3?}"
    );
    for (step, ((covered, width), (_, fed_width))) in sampled.iter().zip(&fed_with_means).enumerate() {
        // 400 windows: the standard error of a share is 0.02.
        assert!((covered - 0.8).abs() < 0.08, "step {step}: {covered} in an interval of 80 %");
        let deviations = f64::sqrt((0..=step).map(|k| 0.81_f64.powi(k as i32)).sum());
        let expected = 2.0 * 1.2816 * deviations;
        assert!(
            (width / expected - 1.0).abs() < 0.15,
            "step {step}: {width} wide, {expected} of the process"
        );
        assert!(step == 0 || width > &sampled[step - 1].1, "step {step}: {width} wide");
        assert!(step < 2 || *fed_width < 0.8 * width, "step {step}: {fed_width} where means are fed back");
    }
    let mean = |shares: &[(f64, f64)]| shares.iter().map(|(share, _)| share).sum::<f64>() / H as f64;
    assert!((mean(&sampled) - 0.8).abs() < 0.05, "{}", mean(&sampled));
    assert!(mean(&fed_with_means[3..]) < 0.6, "{}", mean(&fed_with_means));
}

#[test]
fn draws_depend_on_series_and_seed_alone() {
    let panel = panel(7);
    for model in ["DeepAR", "LSTM", "GRU", "RNN"] {
        let fitted = fit(ancestral(model), &panel);
        let whole = fitted.predict(&panel, None).expect("a forecast");
        assert_eq!(whole, fitted.predict(&panel, None).expect("a forecast"), "{model}: again");
        // Another series beside it, another order of blocks.
        let alone = fitted.predict(&panel.of_series(3..4), None).expect("a forecast");
        for ((name, all), (_, one)) in whole.columns.iter().zip(&alone.columns) {
            for (one, all) in one.iter().zip(&all[3 * H..4 * H]) {
                assert!((one - all).abs() < 1e-4, "{model}: {name} is {one} alone and {all} among others");
            }
        }
        let blocks = fitted.predict_blocks(&panel, &PredictOptions::default()).expect("blocks");
        let blocks: Vec<Frame> = blocks.collect::<Result<_, _>>().expect("forecasts");
        assert_eq!(blocks.iter().flat_map(|block| &block.columns[0].1).count(), whole.columns[0].1.len());
        let median = &column(&whole, &format!("{model}-median"))[..H];
        assert_ne!(
            median,
            &column(&whole, &format!("{model}-median"))[H..2 * H],
            "{model}: of another series"
        );

        let threads =
            Forecaster::new([ancestral(model)]).expect("a model").threads(3).fit(&panel).expect("a fit");
        assert_eq!(threads.predict(&panel, None).expect("a forecast"), whole, "{model}: three threads");
    }
    let seeded = |seed: u64| {
        let spec = ancestral("DeepAR").set("random_seed", seed).and_then(|spec| spec.set("max_steps", 1));
        fit(spec.expect("a seed"), &panel).predict(&panel, None).expect("a forecast")
    };
    assert_ne!(seeded(1), seeded(2));
}

#[test]
fn further_levels_and_steps_come_from_the_same_paths() {
    let panel = panel(2);
    let fitted = fit(ancestral("DeepAR"), &panel);
    let options = PredictOptions::new().h(3 * H).level(&[50.0, 80.0]);
    let found = fitted.predict_with(&panel, &options).expect("a forecast");
    let plain = fitted.predict(&panel, None).expect("a forecast");
    for name in ["DeepAR", "DeepAR-lo-80", "DeepAR-hi-80"] {
        assert_eq!(column(&found, name)[..H], column(&plain, name)[..H], "{name}");
    }
    let width = |step: usize| column(&found, "DeepAR-hi-80")[step] - column(&found, "DeepAR-lo-80")[step];
    assert!((0..3 * H).all(|step| width(step) > 0.0));
}

#[test]
fn directories_keep_the_way_of_sampling() {
    let panel = panel(3);
    let home = tempfile::tempdir().expect("a directory");
    for model in ["DeepAR", "LSTM"] {
        let fitted = fit(ancestral(model), &panel);
        let dir = home.path().join(model);
        fitted.save(&dir, false).expect("saved");
        let loaded = Fitted::load(&dir).expect("a model");
        let own = |fitted: &Fitted, name: &str| fitted.models()[0].spec().hyper_parameters()[name].clone();
        for name in ["sampling", "trajectory_samples"] {
            assert_eq!(own(&loaded, name), own(&fitted, name), "{model}: {name}");
        }
        assert_eq!(loaded.predict(&panel, None).ok(), fitted.predict(&panel, None).ok());

        // neuralforecast warns of names that it does not know: there are none where its own way is taken.
        let plain = home.path().join(format!("{model}-mean"));
        fit(spec(model, &[("max_steps", json!(1))]), &panel).save(&plain, false).expect("saved");
        let text = |dir: &std::path::Path| {
            let bytes = std::fs::read(dir.join(format!("{model}_0.safetensors"))).expect("a file");
            String::from_utf8_lossy(&bytes).into_owned()
        };
        assert!(text(&dir).contains("ancestral") && text(&dir).contains("trajectory_samples"));
        assert!(!text(&plain).contains("sampling") && !text(&plain).contains("trajectory_samples"));
    }
}

#[test]
fn what_cannot_be_sampled_is_an_error() {
    let with = |model: &str, settings: &[(&str, Value)]| {
        let spec =
            settings.iter().cloned().try_fold(ancestral(model), |spec, (name, value)| spec.set(name, value));
        let error = spec.map_err(foretell::Error::from).and_then(|spec| Forecaster::new([spec]));
        error.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let params = json!({ "DistributionLoss": { "distribution": "Normal", "return_params": true } });
    for (model, setting, expected) in [
        (
            "DeepAR",
            ("loss", json!("MAE")),
            "sampling must be \"mean\" for a loss other than DistributionLoss",
        ),
        ("DeepAR", ("loss", params), "sampling must be \"mean\" for a loss with return_params"),
        (
            "LSTM",
            ("recurrent", json!(false)),
            "sampling must be \"mean\" for a model that forecasts all steps at once",
        ),
        ("GRU", ("sampling", json!("paths")), "sampling must be \"mean\" or \"ancestral\", found \"paths\""),
        (
            "DeepAR",
            ("trajectory_samples", json!(0)),
            "trajectory_samples must be between 1 and 1000000, found 0",
        ),
    ] {
        let message = with(model, &[setting]);
        assert!(message.contains(expected), "{model}: {message}");
    }
}
