//! TimeLLM and the folder of its language model: what is saved of it, and what is said when it is missing or another one.

use std::fs;
use std::path::Path;

use foretell::{Fitted, Forecaster, Freq, ModelSpec, Panel, json};

/// The small language model of the tests.
const GPT2: &str = "../language/tests/gpt2";
const FILES: [&str; 3] = ["config.json", "model.safetensors", "tokenizer.json"];

fn panel() -> Panel {
    let y = |series: usize| (0..80).map(|t| (t as f32 * 0.5 + series as f32).sin()).collect::<Vec<f32>>();
    let series = (0..2).map(|series| (format!("s{series}"), 0, y(series)));
    Panel::from_series(Freq::parse("1").expect("a frequency"), series).expect("a panel")
}

fn spec(llm: &Path) -> ModelSpec {
    let settings = [
        ("llm", json!(llm)),
        ("d_llm", json!(32)),
        ("d_ff", json!(6)),
        ("num_tokens", json!(9)),
        ("max_steps", json!(2)),
        ("windows_batch_size", json!(8)),
    ];
    let spec = ModelSpec::new("TimeLLM", 4, 24).expect("a model");
    settings.into_iter().fold(spec, |spec, (name, value)| spec.set(name, value).expect("a setting"))
}

fn copy(to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for file in FILES {
        fs::copy(Path::new(GPT2).join(file), to.join(file)).expect("a copy");
    }
}

#[test]
fn without_a_folder_the_error_says_what_to_put_where() {
    let unset = ModelSpec::new("TimeLLM", 4, 24).expect("a model");
    let error = Forecaster::new([unset]).expect_err("no language model").to_string();
    let expected = "TimeLLM: hyper-parameter llm must be the path of a folder with config.json, model.safetensors and \
                    tokenizer.json of a GPT-2 in Hugging Face's layout";
    assert!(error.starts_with(expected) && error.ends_with("found null"), "{error}");
    let error = Forecaster::new([spec(Path::new("nowhere"))]).expect_err("no folder").to_string();
    assert!(error.starts_with(expected) && error.contains("found nowhere: cannot read "), "{error}");
    let narrow = spec(Path::new(GPT2)).set("d_llm", 30).expect("a width");
    let error = Forecaster::new([narrow]).expect_err("another width").to_string();
    assert!(error.contains("d_llm must be 32, the width of the language model in ../language"), "{error}");
}

#[test]
fn a_saved_model_knows_its_language_model_and_does_not_hold_it() {
    let home = tempfile::tempdir().expect("a directory");
    let (llm, saved) = (home.path().join("gpt2"), home.path().join("saved"));
    copy(&llm);
    let panel = panel();
    let fitted = Forecaster::new([spec(&llm)]).expect("a model").fit(&panel).expect("a training");
    fitted.save(&saved, false).expect("it is saved");
    let held: u64 = fs::read_dir(&saved)
        .expect("a directory")
        .map(|file| file.expect("a file").metadata().expect("a size").len())
        .sum();
    let weights = llm.join(FILES[1]).metadata().expect("a size").len();
    assert!(held < weights / 2, "{held} bytes were saved, the language model has {weights}");

    let forecast = |fitted: &Fitted| fitted.predict(&panel, None).expect("a forecast").columns;
    let loaded = Fitted::load(&saved).expect("it is loaded");
    assert_eq!(forecast(&loaded), forecast(&fitted));
    let known = loaded.models()[0].spec().hyper_parameters();
    assert_eq!(known["llm"], json!(llm));

    let mut tokenizer = fs::read(llm.join(FILES[2])).expect("a file");
    tokenizer.push(b'\n');
    fs::write(llm.join(FILES[2]), tokenizer).expect("a file");
    let error = Fitted::load(&saved).expect_err("another language model").to_string();
    let checksum = known["llm_checksum"].as_str().expect("a checksum");
    let expected = format!(
        "the folder of the language model that the model was trained with, of checksum {checksum}: put"
    );
    assert!(error.contains(&expected) && error.contains(&*llm.to_string_lossy()), "{error}");

    fs::remove_dir_all(&llm).expect("it is removed");
    let error = Fitted::load(&saved).expect_err("no language model").to_string();
    assert!(error.contains("config.json, model.safetensors and tokenizer.json"), "{error}");
    copy(&llm);
    assert_eq!(forecast(&Fitted::load(&saved).expect("it is back")), forecast(&fitted));
}
