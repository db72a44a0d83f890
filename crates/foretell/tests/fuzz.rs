//! Model directories with a damaged file are refused or loaded, never a panic, and no more memory is asked
//! for than a model of their hyper-parameters has any right to.
//!
//! `FUZZ_SECONDS=600 cargo test -p foretell --test fuzz -- --nocapture` looks longer.

use std::fs;
use std::path::{Path, PathBuf};

use foretell::Fitted;
use foretell_fuzz::{FuzzTarget, fuzz};

const DIRECTORIES: &[&str] = &[
    "nlinear-daily/model/NLinear_0.safetensors",
    "mlp-hourly-exog/model/MLP_0.safetensors",
    "nhits-integers-mq/model/tied_0.safetensors",
    "local-exog/model/configuration.json",
    "revin-exog/model/MLP_0.safetensors",
    "nbeats/model/spline_0.safetensors",
    "recurrent-steps-exog/model/LSTM_0.safetensors",
    "distributions-counts/model/tweedie_0.safetensors",
    "losses/model/mase_0.safetensors",
];

const WORDS: &[&str] = &[
    "null",
    "{}",
    "[]",
    "true",
    "false",
    "-1",
    "-3",
    "1000000",
    "99999999999",
    "1e300",
    "[",
    "[[[[",
    "\"",
    "MAE",
    "MQLoss",
    "DistributionLoss",
    "Normal",
    "standard",
    "boxcox",
    "revin",
    "tensor",
    "scaler",
    "F32",
    "F64",
    "hidden_size",
    "n_blocks",
    "mlp_units",
    "stack_types",
    "trend",
    "seasonality",
    "input_size",
    "\"h\"",
    "alias",
    "futr_exog_list",
    "optimizer",
    "NHITS",
    "NBEATS",
    "LSTM",
    "DLinear",
    "freq",
    "h",
    "W-SUN",
];

#[test]
fn model_directories() {
    let home = tempfile::tempdir().unwrap();
    let (mut seeds, mut places) = (Vec::new(), Vec::new());
    for (i, file) in DIRECTORIES.iter().enumerate() {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/checkpoints").join(file);
        let copy = home.path().join(i.to_string());
        fs::create_dir(&copy).unwrap();
        for entry in fs::read_dir(from.parent().unwrap()).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, copy.join(path.file_name().unwrap())).unwrap();
        }
        seeds.push(fs::read(&from).unwrap());
        places.push(copy.join(from.file_name().unwrap()));
    }
    let whole = seeds.clone();
    let target = FuzzTarget { name: "model directory", seeds, words: WORDS, always: 64 << 20, factor: 100 };
    fuzz(&target, |bytes, _| {
        let place: &PathBuf = &places[nearest(&whole, bytes)];
        let kept = fs::read(place).unwrap();
        fs::write(place, bytes).unwrap();
        let outcome = Fitted::load(place.parent().unwrap());
        fs::write(place, kept).unwrap();
        outcome.map(drop)
    });
}

/// The sound file that shares most bytes with these: the directory that they belong to.
fn nearest(whole: &[Vec<u8>], bytes: &[u8]) -> usize {
    let same = |file: &Vec<u8>| file.iter().zip(bytes).filter(|(a, b)| a == b).count();
    (0..whole.len()).max_by_key(|&i| same(&whole[i])).unwrap()
}
