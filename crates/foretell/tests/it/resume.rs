//! A training that continues from its state on disk ends as one that was never interrupted, to the last bit.

use std::path::Path;
use std::sync::{Arc, Mutex};

use foretell::{
    Error, Fitted, Forecaster, Freq, ModelSpec, NetworkError, Panel, PredictOptions, PredictionIntervals,
    StateError, Verdict, remove_training_state,
};
use foretell_checkpoint::{TensorData, TensorFile};
use serde_json::{Value, json};

const STEPS: u64 = 30;

fn panel(last: f32) -> Panel {
    let series = (0..3).map(|s| {
        let mut y: Vec<f32> =
            (0..120).map(|t| (t as f32 * 0.4 + s as f32).sin() * (1.0 + s as f32)).collect();
        y[119] = last;
        (format!("series {s}"), 0, y)
    });
    Panel::from_series(Freq::parse("h").expect("a frequency"), series).expect("a panel")
}

fn spec(name: &str, settings: Value) -> ModelSpec {
    let common = json!({
        "max_steps": STEPS, "windows_batch_size": 40, "batch_size": 2, "val_check_steps": 3, "gradient_clip_val": 0.5,
    });
    let all = [common, settings];
    let all = all.iter().flat_map(|settings| settings.as_object().expect("an object"));
    let spec = ModelSpec::new(name, 6, 18).expect("a model");
    all.fold(spec, |spec, (name, value)| spec.set(name, value.clone()).expect("a value"))
}

/// Every optimiser and schedule, early stopping that goes back, dropout.
fn specs() -> Vec<ModelSpec> {
    let momentum = json!({ "momentum": 0.9, "nesterov": true });
    vec![
        spec(
            "NLinear",
            json!({ "optimizer": "SGD", "optimizer_kwargs": momentum, "lr_scheduler": "OneCycleLR" }),
        ),
        spec(
            "MLP",
            json!({
                "hidden_size": 16, "optimizer": "RMSprop", "early_stop_patience_steps": 4, "learning_rate": 0.05,
                "lr_scheduler": "ReduceLROnPlateau",
                "lr_scheduler_kwargs": { "patience": 1, "factor": 0.5, "cooldown": 1 },
            }),
        ),
        spec(
            "NHITS",
            json!({
                "mlp_units": [[16, 16], [16, 16]], "dropout_prob_theta": 0.3, "optimizer": "RAdam",
                "lr_scheduler": "CosineWarmup", "accumulate_grad_batches": 3,
            }),
        ),
        spec("GRU", json!({ "encoder_hidden_size": 8, "optimizer": "AdamW", "num_lr_decays": 3 })),
    ]
}

/// On one thread, so that models are trained one after the other; what is whole, or the rest, is on all.
fn forecaster(dir: Option<&Path>) -> Forecaster {
    let forecaster = Forecaster::new(specs()).expect("models").val_size(12).threads(1);
    match dir {
        Some(dir) => forecaster.checkpoint_to(dir, 4),
        None => forecaster,
    }
}

/// All weights, and how training ended, as bits.
fn bits(fitted: &Fitted) -> Vec<u64> {
    let mut bits = Vec::new();
    for model in fitted.models() {
        bits.extend(model.parameters_in_order().map(|value| u64::from(value.to_bits())));
        let outcome = model.outcome().expect("trained");
        bits.extend([outcome.steps, outcome.train_loss.to_bits()]);
        bits.push(outcome.valid_loss.expect("watched").to_bits());
    }
    bits
}

#[test]
fn an_interrupted_training_resumes_to_the_last_bit() {
    let whole = bits(&forecaster(None).threads(0).fit(&panel(0.0)).expect("a fit"));
    let home = tempfile::tempdir().expect("a folder");
    let dir = home.path().join("state");
    assert!(
        bits(&forecaster(Some(&dir)).fit(&panel(0.0)).expect("a fit")) == whole,
        "keeping changes nothing"
    );
    remove_training_state(&dir).expect("it is there");
    assert!(!dir.exists());

    // Interrupted once in each model, where no state would be written otherwise.
    for model in specs() {
        let (name, stop) = (model.name(), if model.name() == "MLP" { 9 } else { 17 });
        let parts = forecaster(Some(&dir)).on_progress(move |found, progress| match found == name {
            true if progress.step == stop => Verdict::Interrupt,
            _ => Verdict::Continue,
        });
        let parts = parts.fit(&panel(0.0)).expect("a part of a fit");
        let last = parts.models().last().expect("a model");
        assert_eq!((last.spec().name(), last.outcome().expect("trained").steps), (name, stop));
        assert!(parts.interrupted() && last.outcome().expect("trained").interrupted);
        parts.save(home.path().join("as it is"), true).expect("it is a model like any other");
    }
    let seen = Arc::new(Mutex::new(Vec::new()));
    let listener = seen.clone();
    let rest = forecaster(Some(&dir)).threads(0).on_progress(move |name, progress| {
        listener.lock().expect("no panic").push((name.to_owned(), progress.step));
        Verdict::Continue
    });
    assert!(bits(&rest.fit(&panel(0.0)).expect("the rest")) == whole);
    let expected: Vec<_> = (18..=STEPS).map(|step| ("GRU".to_owned(), step)).collect();
    assert_eq!(*seen.lock().expect("no panic"), expected, "nothing is trained twice");
}

#[test]
fn a_training_that_died_resumes_from_the_last_state() {
    let whole = bits(&forecaster(None).threads(0).fit(&panel(0.0)).expect("a fit"));
    let home = tempfile::tempdir().expect("a folder");
    for (name, at) in [("NLinear", 3), ("NLinear", 22), ("NHITS", 11), ("GRU", 30)] {
        let dying = forecaster(Some(home.path())).on_progress(move |found, progress| {
            assert!(found != name || progress.step != at, "the power is gone");
            Verdict::Continue
        });
        let died = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| dying.fit(&panel(0.0)).is_ok()));
        assert!(died.is_err(), "{name} at {at}");
    }
    let rest = forecaster(Some(home.path())).threads(0).fit(&panel(0.0));
    assert!(bits(&rest.expect("the rest")) == whole);
}

/// The scale of the loss is part of the state: in `f16` the first steps overflow, and are skipped.
#[cfg(feature = "amp")]
#[test]
fn a_training_in_16_bits_resumes_in_its_precision() {
    use foretell::Precision;

    let forecaster = |precision, dir: Option<&Path>| {
        let settings = json!({ "hidden_size": 16, "learning_rate": 0.05, "loss": "MSE" });
        let all = [spec("MLP", settings)];
        let forecaster = Forecaster::new(all).expect("a model").val_size(12).precision(precision);
        match dir {
            Some(dir) => forecaster.checkpoint_to(dir, 1),
            None => forecaster,
        }
    };
    // Errors of hundreds, squared: gradients are far above what half precision holds.
    let y: Vec<f32> = (0..120).map(|t| (t as f32 * 0.4).sin() * 1000.0).collect();
    let panel = Panel::from_series(Freq::parse("h").expect("a frequency"), [("a", 0, y)]).expect("a panel");
    for precision in [Precision::Bf16, Precision::F16] {
        let whole = forecaster(precision, None).fit(&panel).expect("a fit");
        let skipped = whole.models()[0].outcome().expect("trained").skipped_steps;
        assert_eq!(skipped > 0, precision == Precision::F16, "{precision}: {skipped} steps were skipped");
        let home = tempfile::tempdir().expect("a folder");
        let part = forecaster(precision, Some(home.path())).on_progress(|_, progress| match progress.step {
            9 => Verdict::Interrupt,
            _ => Verdict::Continue,
        });
        assert!(part.fit(&panel).expect("a part of a fit").interrupted());
        let refused =
            forecaster(Precision::F32, Some(home.path())).fit(&panel).expect_err("another training");
        assert!(refused.to_string().contains("precision"), "{refused}");
        let rest = forecaster(precision, Some(home.path())).fit(&panel).expect("the rest");
        assert!(bits(&rest) == bits(&whole), "{precision}");
        assert_eq!(rest.models()[0].outcome().expect("trained").skipped_steps, skipped);
        assert!(bits(&forecaster(Precision::F32, None).fit(&panel).expect("a fit")) != bits(&whole));
    }
}

#[test]
fn the_training_that_intervals_are_calibrated_by_resumes_too() {
    let calibrated = || {
        let models = [specs().remove(0), spec("DLinear", json!({}))];
        let forecaster = Forecaster::new(models).expect("models").val_size(12);
        forecaster.intervals(PredictionIntervals::default())
    };
    let forecast = |fitted: &Fitted| {
        let options = PredictOptions::new().level(&[80.0]);
        fitted.predict_with(&panel(0.0), &options).expect("a forecast").columns
    };
    let whole = calibrated().fit(&panel(0.0)).expect("a fit");
    let home = tempfile::tempdir().expect("a folder");
    // Within both models of the first training, and within both of the second.
    for stop in [20, 30, 20, 30] {
        let mut steps = 0;
        let parts = calibrated().checkpoint_to(home.path(), 7).on_progress(move |_, _| {
            steps += 1;
            if steps == stop { Verdict::Interrupt } else { Verdict::Continue }
        });
        let parts = parts.fit(&panel(0.0)).expect("a part");
        assert!(parts.interrupted());
        parts.save(home.path().join("as it is"), true).expect("it is a model like any other");
    }
    let rest = calibrated().checkpoint_to(home.path(), 7).fit(&panel(0.0)).expect("the rest");
    assert!(!rest.interrupted() && bits(&rest) == bits(&whole) && forecast(&rest) == forecast(&whole));
}

#[test]
fn another_training_or_a_damaged_state_is_an_error() {
    let home = tempfile::tempdir().expect("a folder");
    let dir = home.path().join("state");
    let stopped = forecaster(Some(&dir)).on_progress(|_, _| Verdict::Interrupt);
    stopped.fit(&panel(0.0)).expect("a step");
    let error = |forecaster: Forecaster, panel: &Panel| forecaster.fit(panel).expect_err("an error");

    let data = error(forecaster(Some(&dir)), &panel(1.0)).to_string();
    assert!(data.contains("another training: data.values was "), "{data}");
    let val_size = error(forecaster(Some(&dir)).val_size(18), &panel(0.0)).to_string();
    assert!(val_size.contains("val_size was 12 and is 18"), "{val_size}");
    let fewer = Forecaster::new(specs().into_iter().take(1)).expect("models").val_size(12);
    let fewer = error(fewer.checkpoint_to(&dir, 4), &panel(0.0)).to_string();
    assert!(fewer.contains("MLP was there") && fewer.contains("GRU was there"), "{fewer}");
    let turned = Forecaster::new(specs().into_iter().rev()).expect("models").val_size(12);
    let turned = error(turned.checkpoint_to(&dir, 4), &panel(0.0)).to_string();
    assert!(turned.contains("NLinear.place among the models was 0 and is 3"), "{turned}");

    let path = dir.join("training-0-model-0.safetensors");
    let whole = std::fs::read(&path).expect("a state");
    let mut file = TensorFile::read(&path).expect("a state");
    file.tensors.insert("params".to_owned(), TensorData::f32([1], vec![0.0]));
    file.write(&path).expect("it is written again");
    let short = error(forecaster(Some(&dir)), &panel(0.0));
    assert!(
        matches!(short, Error::Network(NetworkError::State(StateError::State { .. })))
            && short.to_string().contains("params has 1 numbers"),
        "{short}"
    );
    file.tensors.remove("params");
    file.write(&path).expect("it is written again");
    assert!(error(forecaster(Some(&dir)), &panel(0.0)).to_string().contains("no params in it"));
    file.metadata.insert("step".to_owned(), "many".to_owned());
    file.write(&path).expect("it is written again");
    assert!(error(forecaster(Some(&dir)), &panel(0.0)).to_string().contains("not what foretell wrote"));
    for len in [0, 8, 100, whole.len() - 1] {
        std::fs::write(&path, &whole[..len]).expect("it is cut");
        assert!(matches!(error(forecaster(Some(&dir)), &panel(0.0)), Error::Checkpoint(_)), "{len} bytes");
    }
    let nowhere = home.path().join("file");
    std::fs::write(&nowhere, "").expect("a file");
    let nowhere = error(forecaster(Some(&nowhere)), &panel(0.0)).to_string();
    assert!(nowhere.contains("cannot keep the state of training in"), "{nowhere}");
}

#[test]
fn only_files_of_the_training_are_removed() {
    let home = tempfile::tempdir().expect("a folder");
    let stopped = forecaster(Some(home.path())).on_progress(|_, _| Verdict::Interrupt);
    stopped.fit(&panel(0.0)).expect("a step");
    let others =
        ["training-data.safetensors", ".writing-plan", "training-1-model-b.safetensors", ".notes.lock"];
    others.iter().for_each(|name| std::fs::write(home.path().join(name), "mine").expect("a file"));
    // What a kill in the middle of writing leaves.
    let left = [".training-0-model-0.safetensors.new-abcdef", ".lock"];
    left.iter().for_each(|name| std::fs::write(home.path().join(name), "").expect("a file"));
    remove_training_state(home.path()).expect("it is there");
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("a name").file_name();
    let mut found: Vec<_> = std::fs::read_dir(home.path()).expect("a folder").map(name).collect();
    found.sort();
    let mut expected = others.map(std::ffi::OsString::from);
    expected.sort();
    assert_eq!(found, expected);
}
