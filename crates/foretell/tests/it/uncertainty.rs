//! Intervals that need no calibration: by dropout, and by the spread of an ensemble.

use std::sync::{Arc, Mutex};

use foretell::{
    Ensemble, Error, Fitted, Forecaster, Frame, Freq, Intervals, ModelSpec, Panel, PredictOptions,
    ValidationOptions, Value, Warning, json,
};

const H: usize = 4;

fn panel(ids: &[&str]) -> Panel {
    let series = ids.iter().map(|&id| {
        let phase = f32::from(id.as_bytes()[0]);
        (id, 0, (0..90).map(|t| (t as f32 * 0.6 + phase).sin() * 3.0 + phase).collect::<Vec<f32>>())
    });
    Panel::from_series(Freq::parse("D").expect("a frequency"), series).expect("a panel")
}

fn spec(model: &str, settings: &Value) -> ModelSpec {
    let common = json!({"max_steps": 10, "windows_batch_size": 32, "scaler_type": "standard"});
    let all = [&common, settings];
    let all = all.into_iter().flat_map(|settings| settings.as_object().expect("an object"));
    let spec = ModelSpec::new(model, H, 12).expect("a model");
    all.fold(spec, |spec, (name, value)| spec.set(name, value.clone()).expect("a value"))
}

/// Dropout in a network of one series, in one of several and in one that forecasts step by step.
fn dropping() -> Vec<ModelSpec> {
    vec![
        // With its norm of one number the last layer is a constant, whatever was dropped before.
        spec(
            "TiDE",
            &json!({"hidden_size": 8, "decoder_output_dim": 4, "temporal_decoder_dim": 8, "layernorm": false}),
        ),
        spec("TSMixer", &json!({"ff_dim": 4, "dropout": 0.3, "windows_batch_size": 8})),
        spec("LSTM", &json!({"encoder_hidden_size": 8, "encoder_dropout": 0.3, "recurrent": true})),
    ]
}

fn fit(specs: Vec<ModelSpec>, intervals: Intervals) -> Result<Fitted, Error> {
    Forecaster::new(specs)?.intervals(intervals).fit(&panel(&["a", "b", "c"]))
}

fn at(fitted: &Fitted, panel: &Panel, level: &[f64]) -> Frame {
    fitted.predict_with(panel, &PredictOptions::new().level(level)).expect("a forecast")
}

#[test]
fn dropout_gives_intervals_that_depend_on_the_seed_and_the_window_alone() {
    let all = panel(&["a", "b", "c"]);
    let fitted = fit(dropping(), Intervals::Dropout { samples: 60 }).expect("a training");
    let frame = at(&fitted, &all, &[50.0, 90.0]);
    let plain = fitted.predict(&all, None).expect("a forecast");
    for model in ["TiDE", "TSMixer", "LSTM"] {
        let column = |suffix: &str| frame.column(&format!("{model}{suffix}")).expect("a column");
        assert_eq!(column(""), plain.column(model).expect("a column"), "{model}: the forecast stays");
        let width = |level: u32| -> f32 {
            let [low, high] = ["lo", "hi"].map(|end| column(&format!("-{end}-{level}")));
            low.iter().zip(high).map(|(low, high)| high - low).sum()
        };
        assert!(0.0 < width(50) && width(50) < width(90), "{model}: {} and {}", width(50), width(90));
    }

    let threads = fitted.clone().threads(3).expect("threads");
    assert!(at(&threads, &all, &[50.0, 90.0]).columns == frame.columns, "threads change no bit");
    let home = tempfile::tempdir().expect("a folder");
    fitted.save(home.path().join("model"), false).expect("a new directory");
    let loaded = Fitted::load(home.path().join("model")).expect("what was just written");
    assert!(at(&loaded, &all, &[50.0, 90.0]).columns == frame.columns, "a saved model draws the same");

    // Of a network of one series, whichever others are beside it.
    let own = fit(dropping().into_iter().take(1).collect(), Intervals::Dropout { samples: 60 });
    let own = own.expect("a training");
    let (alone, beside) = (at(&own, &panel(&["b"]), &[90.0]), at(&own, &all, &[90.0]));
    let low = |frame: &Frame| frame.column("TiDE-lo-90").expect("a column").to_vec();
    for (alone, beside) in low(&alone).iter().zip(&low(&beside)[H..]) {
        assert!((alone - beside).abs() < 1e-5 * beside.abs(), "{alone} and {beside}");
    }
}

/// A trained model needs no other training for them, and their coverage is scored as any other.
#[test]
fn intervals_by_dropout_are_those_of_any_trained_network() {
    let all = panel(&["a", "b", "c"]);
    let plain = Forecaster::new(dropping()).expect("models").fit(&all).expect("a training");
    let with = plain.calibrate(&all, Intervals::Dropout { samples: 60 }).expect("networks that drop");
    let fitted = fit(dropping(), Intervals::Dropout { samples: 60 }).expect("a training");
    assert!(at(&with, &all, &[80.0]).columns == at(&fitted, &all, &[80.0]).columns, "the same draws");

    let scored = Forecaster::new(dropping()).expect("models").intervals(Intervals::Dropout { samples: 20 });
    let scored = scored.cross_validate(&all, &ValidationOptions::new(2, H).level(&[80.0])).expect("scores");
    let coverage = scored.metrics(&all, 1)[0].coverage.clone();
    assert_eq!(coverage.len(), 1, "{coverage:?}");
}

#[test]
fn networks_that_drop_nothing_have_no_intervals_by_dropout() {
    let refused = |spec: ModelSpec| {
        fit(vec![spec], Intervals::Dropout { samples: 9 }).expect_err("refused").to_string()
    };
    let message = refused(spec("NLinear", &json!({})));
    assert!(message.contains("none of the models is one: NLinear; leave them out"), "{message}");
    let message = refused(spec("NHITS", &json!({"mlp_units": [[8, 8], [8, 8], [8, 8]]})));
    assert!(message.contains("set dropout_prob_theta of NHITS above 0 and train with it"), "{message}");
    // A distribution has quantiles of its own, which those of another model may stand next to.
    let normal = || spec("NLinear", &json!({"loss": {"DistributionLoss": {"distribution": "Normal"}}}));
    let message = refused(normal());
    assert!(message.contains("none of the models is one: NLinear"), "{message}");
    let both = dropping().into_iter().take(1).chain([normal()]).collect();
    fit(both, Intervals::Dropout { samples: 9 }).expect("a training");
}

#[test]
fn intervals_by_dropout_stand_beside_models_that_have_none() {
    let models = || {
        let idle = spec("NHITS", &json!({"mlp_units": [[8, 8], [8, 8], [8, 8]]}));
        let local = ModelSpec::new("AutoETS", H, 1).expect("a model");
        let dropping = dropping().into_iter().take(1);
        dropping.chain([idle, spec("NLinear", &json!({})), local]).collect::<Vec<_>>()
    };
    let all = panel(&["a", "b", "c"]);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let told = heard.clone();
    let forecaster = Forecaster::new(models()).expect("models").intervals(Intervals::Dropout { samples: 20 });
    let forecaster = forecaster.on_warning(move |warning| told.lock().unwrap().push(warning.clone()));
    let fitted = forecaster.fit(&all).expect("a training");
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let told = std::mem::take(&mut *heard.lock().unwrap());
    let of_dropout = told.iter().filter(|warning| matches!(warning, Warning::WithoutDropout { .. }));
    let expected = Warning::WithoutDropout {
        own: names(&["AutoETS"]),
        none: names(&["NHITS", "NLinear"]),
        to_set: true,
    };
    assert_eq!(of_dropout.collect::<Vec<_>>(), [&expected]);
    let home = tempfile::tempdir().expect("a folder");
    fitted.save(home.path().join("model"), false).expect("a new directory");
    let loaded = Fitted::load(home.path().join("model")).expect("what was just written");
    let plain = Forecaster::new(models()).expect("models").fit(&all).expect("a training");
    let after = plain.calibrate(&all, Intervals::Dropout { samples: 20 }).expect("a network that drops");
    for fitted in [&fitted, &loaded, &after] {
        let frame = at(fitted, &all, &[80.0]);
        let bounds = frame.columns.iter().map(|(name, _)| &**name).filter(|name| name.contains("-lo-"));
        assert_eq!(bounds.collect::<Vec<_>>(), ["TiDE-lo-80", "AutoETS-lo-80"]);
    }
}

#[test]
fn the_spread_of_an_ensemble_is_its_interval() {
    let members = || {
        let seeds = [1, 2, 3].map(|seed| {
            spec("MLP", &json!({"hidden_size": 8, "random_seed": seed, "alias": format!("mlp{seed}")}))
        });
        seeds.to_vec()
    };
    let all = panel(&["a", "b"]);
    let forecaster =
        |specs: Vec<ModelSpec>| Forecaster::new(specs).expect("models").intervals(Intervals::Spread);
    let fitted = forecaster(members()).ensemble(Ensemble::Mean).fit(&all).expect("a training");
    let frame = at(&fitted, &all, &[80.0]);
    let names: Vec<&str> = frame.columns.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["mlp1", "mlp2", "mlp3", "EnsembleMean", "EnsembleMean-lo-80", "EnsembleMean-hi-80"]);
    let column = |i: usize| frame.columns[i].1[0];
    let mean = (column(0) + column(1) + column(2)) / 3.0;
    let deviation = ((0..3).map(|i| (column(i) - mean).powi(2)).sum::<f32>() / 2.0).sqrt();
    // The quantile 0.9 of Student's t distribution of two degrees of freedom.
    let half = 1.885_618 * deviation * (4.0_f32 / 3.0).sqrt();
    assert!((column(3) - mean).abs() < 1e-4 && half > 0.0);
    assert!((column(4) - (mean - half)).abs() < 1e-4 && (column(5) - (mean + half)).abs() < 1e-4);

    let home = tempfile::tempdir().expect("a folder");
    fitted.save(home.path().join("model"), false).expect("a new directory");
    let loaded = Fitted::load(home.path().join("model")).expect("what was just written");
    assert_eq!(at(&loaded, &all, &[80.0]).columns, frame.columns);
    let message = forecaster(members()).fit(&all).expect_err("no ensemble").to_string();
    assert!(message.contains("are those of an ensemble of two models or more"), "{message}");
}

#[test]
fn intervals_are_read_as_they_are_written() {
    for text in ["10:conformal_error:2", "dropout:7", "spread"] {
        assert_eq!(text.parse::<Intervals>().expect("intervals").to_string(), text);
    }
    assert_eq!("dropout".parse::<Intervals>().expect("intervals"), Intervals::Dropout { samples: 100 });
    for text in ["dropout:1", "dropout:", "dropout:x", "spread:3", "1", "guess"] {
        let message = text.parse::<Intervals>().expect_err("no intervals").to_string();
        assert!(message.contains("2"), "{text}: {message}");
    }
}
