//! Whatever the bytes of a file of a model directory are, reading it gives a value or an error, never a panic,
//! and takes no more memory than a file of its size has any right to.
//!
//! `FUZZ_SECONDS=600 cargo test -p foretell-checkpoint --test fuzz -- --nocapture configuration` looks longer.

use std::fs;
use std::path::{Path, PathBuf};

use foretell_checkpoint::{Checkpoint, CheckpointError, TensorData, TensorFile};
use foretell_fuzz::{FuzzTarget, fuzz};

/// A directory's files are some 30 kB; JSON values take ten times their text.
const ALWAYS: usize = 2 << 20;
const FACTOR: usize = 60;

const WORDS: &[&str] = &[
    "null",
    "{}",
    "[]",
    "true",
    "-1",
    "1e300",
    "\"",
    "'",
    "[",
    "[[[[[[[[",
    "{\"a\":",
    "\\u0000",
    "tensor",
    "array",
    "index",
    "series",
    "datetime64",
    "scaler",
    "loss",
    "values",
    "data",
    "shape",
    "\"key\":",
    "\"kind\":",
    "F32",
    "F64",
    "I64",
    "BOOL",
    "BF16",
    "data_offsets",
    "__metadata__",
    "nf_format",
    "shared",
    "__hparams__.",
    "__nf__",
    "mapping",
    "dataframe",
    "prediction_intervals",
    "numpy",
    "torch",
    "dtype",
    "int64",
    "float32",
    ",",
];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Loads a directory and asks its models for everything they can say.
fn use_all(dir: &Path) -> Result<(), CheckpointError> {
    let checkpoint = Checkpoint::load(dir)?;
    for model in &checkpoint.models {
        let _ = (model.arguments(), model.loss(), model.valid_loss(), model.weights());
    }
    let _ = checkpoint.configuration.ds.map(|ds| ds.to_microseconds());
    Ok(())
}

/// Damages one file of copies of the directories that have it.
fn damage(file: &str, directories: &[&str]) {
    let home = tempfile::tempdir().unwrap();
    let copies: Vec<PathBuf> = directories.iter().map(|name| home.path().join(name)).collect();
    let mut seeds = Vec::new();
    for (name, copy) in directories.iter().zip(&copies) {
        fs::create_dir(copy).unwrap();
        for entry in fs::read_dir(fixture(name)).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, copy.join(path.file_name().unwrap())).unwrap();
        }
        seeds.push(fs::read(copy.join(file)).unwrap());
    }
    let whole = seeds.clone();
    let target = FuzzTarget { name: file, seeds, words: WORDS, always: ALWAYS, factor: FACTOR };
    fuzz(&target, |bytes, choice| {
        // A sound file goes where it belongs, a damaged one anywhere.
        let place = whole.iter().position(|whole| whole == bytes).unwrap_or(choice as usize % copies.len());
        fs::write(copies[place].join(file), bytes).unwrap();
        use_all(&copies[place])
    });
}

#[test]
fn configuration() {
    damage("configuration.json", &["plain", "exogenous", "integers", "conformal"]);
}

#[test]
fn configuration_tensors() {
    damage("configuration.safetensors", &["plain", "exogenous", "conformal"]);
}

#[test]
fn dataset() {
    damage("dataset.json", &["plain", "exogenous", "conformal"]);
}

#[test]
fn dataset_tensors() {
    damage("dataset.safetensors", &["plain", "exogenous", "conformal"]);
}

#[test]
fn model() {
    damage("NLinear_0.safetensors", &["plain", "conformal"]);
}

#[test]
fn safetensors() {
    let large = TensorFile {
        metadata: [("nf_format".to_owned(), "2".to_owned())].into(),
        tensors: (0..30)
            .map(|i| (format!("layers.{i}.weight"), TensorData::f32([16, 16], vec![0.5; 256])))
            .collect(),
    };
    let small = fs::read(fixture("plain/my_model_0.safetensors")).unwrap();
    let target = FuzzTarget {
        name: "safetensors",
        seeds: vec![small, large.to_bytes()],
        words: WORDS,
        always: ALWAYS,
        factor: FACTOR,
    };
    fuzz(&target, |bytes, _| {
        let file = TensorFile::from_bytes(bytes, Path::new("hostile.safetensors"))?;
        // What was read can be written, and is then the same.
        let again = TensorFile::from_bytes(&file.to_bytes(), Path::new("again.safetensors"));
        assert_eq!(again.unwrap().metadata, file.metadata);
        Ok::<(), CheckpointError>(())
    });
}
