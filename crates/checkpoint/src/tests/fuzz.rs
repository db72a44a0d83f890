//! Whatever the bytes of a file of a model directory are, reading it gives a value or an error, never a panic,
//! and takes no more memory than a file of its size has any right to.
//!
//! `FUZZ_SECONDS=600 cargo test -p foretell-checkpoint --test it -- --nocapture fuzz::configuration` looks longer.

use std::fs;
use std::path::{Path, PathBuf};

use foretell_fuzz::{FuzzTarget, fuzz};

use crate::{Checkpoint, CheckpointError, TensorData, TensorFile};

/// A directory's files are some 30 kB; JSON values take ten times their text.
const ALWAYS: usize = 2 << 20;
const FACTOR: usize = 60;

const WORDS: &[&str] = &[
    "null", "{}", "[]", "true", "-1", "1e300", "\"", "'", "[", "[[[[[[[[", "{\"a\":", "\\u0000", "tensor",
    "array", "index", "series", "datetime64", "scaler", "loss", "values", "data", "shape", "\"key\":",
    "\"kind\":", "F32", "F64", "I64", "BOOL", "BF16", "data_offsets", "__metadata__", "nf_format", "shared",
    "__hparams__.", "__nf__", "mapping", "dataframe", "prediction_intervals", "numpy", "torch", "dtype",
    "int64", "float32", ",",
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

/// PyTorch's files and Python's pickles.
mod pickles {
    use std::io::{Cursor, Read as _, Write as _};

    use crate::parse_pickle;
    use zip::write::SimpleFileOptions;
    use zip::{CompressionMethod, ZipArchive, ZipWriter};

    use super::*;

    /// The memory that any pickle of Python's may take, plus a factor times its size: an instruction is a byte, and the node
    /// that it builds takes a hundred.
    const ALWAYS: usize = 2 << 20;
    const FACTOR: usize = 300;

    const WORDS: &[&str] = &[
        ".",
        "N",
        "(",
        "t",
        "}",
        "]",
        ")",
        "e",
        "u",
        "R",
        "b",
        "Q",
        "q\u{1}",
        "h\u{1}",
        "2",
        "K\u{1}",
        "J\u{0}\u{0}\u{0}\u{7f}",
        "cbuiltins\nlist\n",
        "ctorch._utils\n_rebuild_tensor_v2\n",
        "ccollections\nOrderedDict\n",
        "cnumpy.core.multiarray\n_reconstruct\n",
        "cnumpy\ndtype\n",
        "c_codecs\nencode\n",
        "storage",
        "FloatStorage",
        "DoubleStorage",
        "data.pkl",
        "byteorder",
        "PK\u{3}\u{4}",
        "PK\u{1}\u{2}",
    ];

    fn fixture(name: &str) -> Vec<u8> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../foretell/tests/fixtures/pickles");
        fs::read(folder.join(name)).unwrap()
    }

    fn target(name: &'static str, seeds: Vec<Vec<u8>>) -> FuzzTarget<'static> {
        FuzzTarget { name, seeds, words: WORDS, always: ALWAYS, factor: FACTOR }
    }

    fn read(bytes: &[u8]) -> Result<(), CheckpointError> {
        parse_pickle(bytes, Path::new("hostile.pt"), u64::MAX).map(drop)
    }

    const ARCHIVES: [&str; 4] =
        ["directory/model/NHITS_0.ckpt", "lightning/LSTM.ckpt", "lightning/Normal.ckpt", "weights/MLP.pt"];

    #[test]
    fn pickle() {
        let seeds = ["configuration.pkl", "alias_to_model.pkl", "dataset.pkl"];
        let seeds = seeds.map(|name| fixture(&format!("directory/model/{name}"))).to_vec();
        fuzz(&target("pickle", seeds), |bytes, _| read(bytes));
    }

    #[test]
    fn torch_archive() {
        fuzz(&target("torch archive", ARCHIVES.map(fixture).to_vec()), |bytes, _| read(bytes));
    }

    /// Damaged programs in sound archives, whose checksums fit.
    #[test]
    fn torch_program() {
        let files = |archive: &[u8]| -> Vec<(String, Vec<u8>)> {
            let mut zip = ZipArchive::new(Cursor::new(archive)).unwrap();
            let file = |i: usize, zip: &mut ZipArchive<Cursor<&[u8]>>| {
                let mut file = zip.by_index(i).unwrap();
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes).unwrap();
                (file.name().unwrap().into_owned(), bytes)
            };
            (0..zip.len()).map(|i| file(i, &mut zip)).collect()
        };
        let archives: Vec<_> = ARCHIVES.map(|name| files(&fixture(name))).into();
        let is_program = |(name, _): &&(String, Vec<u8>)| name.ends_with("data.pkl");
        let programs: Vec<Vec<u8>> =
            archives.iter().map(|files| files.iter().find(is_program).unwrap().1.clone()).collect();
        fuzz(&target("torch program", programs.clone()), |program, choice| {
            let place = programs.iter().position(|sound| sound == program);
            let files = &archives[place.unwrap_or(choice as usize % archives.len())];
            // As PyTorch does; a damaged length is to be seen as such.
            let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
            let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
            for (name, bytes) in files {
                zip.start_file(name.as_str(), stored).unwrap();
                zip.write_all(if name.ends_with("data.pkl") { program } else { bytes }).unwrap();
            }
            read(&zip.finish().unwrap().into_inner())
        });
    }
}
