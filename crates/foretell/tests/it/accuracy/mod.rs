//! Shared parts of the accuracy tests: where the panels are, and how models are trained on them.

use std::path::PathBuf;

use foretell::ModelSpec;

const MULTIVARIATE: [&str; 6] =
    ["TSMixer", "TSMixerx", "MLPMultivariate", "iTransformer", "SOFTS", "SOFTSSharp"];

/// The paths of files in the folder that `FORETELL_DATA` names, if all are there; else says what is missing.
pub(crate) fn panels<const N: usize>(files: [&str; N]) -> Option<[PathBuf; N]> {
    let Some(folder) = std::env::var_os("FORETELL_DATA").map(PathBuf::from) else {
        eprintln!("skipped: FORETELL_DATA does not name a folder with {}", files.join(", "));
        return None;
    };
    let paths = files.map(|file| folder.join(file));
    if let Some(missing) = paths.iter().find(|path| !path.exists()) {
        eprintln!("skipped: no {}", missing.display());
        return None;
    }
    Some(paths)
}

/// A model as `compare/measure.py` and `compare/m4.py` train it.
pub(crate) fn spec(name: &str, h: usize, seed: u64) -> ModelSpec {
    // Windows of all series count for as many rows as the panel has series.
    let windows = if MULTIVARIATE.contains(&name) { 32 } else { 128 };
    ModelSpec::new(name, h, 96)
        .and_then(|spec| spec.set("max_steps", 300))
        .and_then(|spec| spec.set("learning_rate", 1e-3))
        .and_then(|spec| spec.set("scaler_type", "standard"))
        .and_then(|spec| spec.set("windows_batch_size", windows))
        .and_then(|spec| spec.set("random_seed", seed))
        .expect("valid hyper-parameters")
}
