//! Model directories with a damaged file are refused or loaded, never a panic, and no more memory is asked
//! for than a model of their hyper-parameters has any right to.
//!
//! `FUZZ_SECONDS=600 cargo test -p foretell --test measured -- --nocapture fuzz::` looks longer.

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
    "null", "{}", "[]", "true", "false", "-1", "-3", "1000000", "99999999999", "1e300", "[", "[[[[", "\"",
    "MAE", "MQLoss", "DistributionLoss", "Normal", "standard", "boxcox", "revin", "tensor", "scaler", "F32",
    "F64", "hidden_size", "n_blocks", "mlp_units", "stack_types", "trend", "seasonality", "input_size",
    "\"h\"", "alias", "futr_exog_list", "optimizer", "NHITS", "NBEATS", "LSTM", "DLinear", "freq", "h",
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

/// Imports of models whose pickle is damaged within a sound archive, and of directories with a damaged configuration.
#[test]
fn imports() {
    use std::io::{Cursor, Read as _, Write as _};

    use foretell::{Freq, ImportOptions};
    use zip::write::SimpleFileOptions;
    use zip::{CompressionMethod, ZipArchive, ZipWriter};

    const CHECKPOINTS: [&str; 4] = [
        "directory/model/NHITS_0.ckpt", "lightning/LSTM.ckpt", "lightning/Normal.ckpt", "lightning/MLP.ckpt",
    ];
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pickles");
    let files = |path: &str| -> Vec<(String, Vec<u8>)> {
        let mut zip = ZipArchive::new(Cursor::new(fs::read(fixtures.join(path)).unwrap())).unwrap();
        let names: Vec<String> = zip.file_names().map(|name| name.unwrap().into_owned()).collect();
        let bytes = |name: &str, zip: &mut ZipArchive<Cursor<Vec<u8>>>| {
            let mut bytes = Vec::new();
            zip.by_name(name).unwrap().read_to_end(&mut bytes).unwrap();
            bytes
        };
        names.into_iter().map(|name| (name.clone(), bytes(&name, &mut zip))).collect()
    };
    let home = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(fixtures.join("directory/model")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, home.path().join(path.file_name().unwrap())).unwrap();
    }
    let archives = CHECKPOINTS.map(files);
    let is_program = |name: &str| name.ends_with("data.pkl");
    let program = |files: &Vec<(String, Vec<u8>)>| {
        files.iter().find(|(name, _)| is_program(name)).map(|(_, bytes)| bytes.clone()).unwrap()
    };
    let mut seeds: Vec<Vec<u8>> = archives.iter().map(program).collect();
    seeds.push(fs::read(home.path().join("configuration.pkl")).unwrap());
    let whole = seeds.clone();
    let options = |i: usize| {
        ImportOptions::new().class(["NHITS", "LSTM", "NLinear", "MLP"][i]).freq(Freq::parse("D").unwrap())
    };
    let target = FuzzTarget { name: "import", seeds, words: WORDS, always: 64 << 20, factor: 100 };
    fuzz(&target, |bytes, _| {
        let i = nearest(&whole, bytes);
        if i == archives.len() {
            fs::write(home.path().join("configuration.pkl"), bytes).unwrap();
            return Fitted::import(home.path(), &ImportOptions::default()).map(drop);
        }
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        // As PyTorch does; a damaged length is to be seen as such.
        let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        for (name, sound) in &archives[i] {
            zip.start_file(name.as_str(), stored).unwrap();
            zip.write_all(if is_program(name) { bytes } else { sound }).unwrap();
        }
        let path = home.path().join("one.pt");
        fs::write(&path, zip.finish().unwrap().into_inner()).unwrap();
        Fitted::import(path, &options(i)).map(drop)
    });
}

/// The sound file that shares most bytes with these: the directory that they belong to.
fn nearest(whole: &[Vec<u8>], bytes: &[u8]) -> usize {
    let same = |file: &Vec<u8>| file.iter().zip(bytes).filter(|(a, b)| a == b).count();
    (0..whole.len()).max_by_key(|&i| same(&whole[i])).unwrap()
}
