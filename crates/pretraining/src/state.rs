//! The state of a run in a file: a header of JSON, then weights, both moments and the average of weights, as f32.

use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use foretell_nn::Params;
use foretell_pretrained::foretell0::network::PatchNetwork;
use foretell_pretrained::foretell0::weights::Provenance;
use foretell_train::Precision;
use serde::{Deserialize, Serialize};

use crate::training::{Ground, Training, optimizer};

/// Where a run stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PretrainingProgress {
    /// All runs so far, this one included.
    pub provenance: Provenance,
    /// Steps of this run.
    pub steps: u64,
    /// Losses since the last point of the curve.
    pub pending: Vec<f64>,
}

/// Writes the state, whole or not at all.
///
/// # Errors
/// If the file cannot be written.
pub fn save(path: &Path, training: &Training<'_>, progress: &PretrainingProgress) -> anyhow::Result<()> {
    let header = serde_json::to_vec(progress)?;
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header);
    let moments = training.optimizer().states().map(|(_, state)| state);
    let arenas = [training.params().arena()].into_iter().chain(moments).chain([training.average()]);
    arenas.flatten().for_each(|value| bytes.extend(value.to_le_bytes()));
    foretell_files::write_whole(path, &bytes).with_context(|| format!("writing {}", path.display()))
}

/// The training and where it stands.
///
/// # Errors
/// If the file cannot be read, or is of another network.
pub fn load<'a>(
    ground: &'a Ground,
    path: &Path,
    precision: Precision,
) -> anyhow::Result<(Training<'a>, PretrainingProgress)> {
    let bytes = std::fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    let Some((size, rest)) = bytes.split_first_chunk::<8>() else { bail!("{} is cut off", path.display()) };
    let size = usize::try_from(u64::from_le_bytes(*size))?;
    ensure!(size <= rest.len(), "{} is cut off", path.display());
    let (header, rest) = rest.split_at(size);
    let progress: PretrainingProgress = serde_json::from_slice(header)?;
    let mut params = PatchNetwork::new().1.initialise(0);
    let len = params.table().arena_len();
    ensure!(
        rest.len() == 16 * len,
        "{} holds {} bytes of weights, and this network's state {}; delete the file, and resume from the weights in the repository",
        path.display(),
        rest.len(),
        16 * len
    );
    let numbers: Vec<f32> =
        rest.as_chunks::<4>().0.iter().map(|number| f32::from_le_bytes(*number)).collect();
    let arena = |which: usize| &numbers[which * len..(which + 1) * len];
    params.arena_mut().copy_from_slice(arena(0));
    let mut optimizer = optimizer(len);
    let names: Vec<&str> = optimizer.states().map(|(name, _)| name).collect();
    optimizer.restore(progress.steps, |name| {
        arena(1 + names.iter().position(|known| *known == name).expect("a state of the optimiser"))
    });
    Ok((Training::new(ground, params, arena(3).to_vec(), optimizer, precision), progress))
}

/// A run that continues from weights, or from the initial ones, with fresh moments.
pub fn fresh(
    ground: &Ground,
    weights: Option<(Params, Provenance)>,
    seed: u64,
    precision: Precision,
) -> (Training<'_>, PretrainingProgress) {
    let (params, provenance) = weights.unwrap_or_else(|| {
        (PatchNetwork::new().1.initialise(seed), Provenance { seed, ..Provenance::default() })
    });
    let (average, len) = (params.arena().to_vec(), params.arena().len());
    let training = Training::new(ground, params, average, optimizer(len), precision);
    (training, PretrainingProgress { provenance, ..PretrainingProgress::default() })
}

#[cfg(test)]
mod tests {
    use foretell_train::Workers;

    use super::*;

    #[test]
    fn a_killed_run_goes_on_to_the_same_bits() {
        let path = std::env::temp_dir().join(format!("foretell-pretraining-{}", std::process::id()));
        let ground = Ground::new(Workers::new(1).unwrap());
        let (mut whole, mut progress) = fresh(&ground, None, 4, Precision::F32);
        let step = |training: &mut Training<'_>, step: u64| training.step(4, 5, 4 * step, 4, 1e-3);
        step(&mut whole, 0);
        progress.steps = 1;
        save(&path, &whole, &progress).unwrap();
        step(&mut whole, 1);
        let (mut resumed, found) = load(&ground, &path, Precision::F32).unwrap();
        assert_eq!(found, progress);
        step(&mut resumed, 1);
        assert_eq!(whole.params().arena(), resumed.params().arena());
        assert_eq!(whole.average(), resumed.average());

        std::fs::write(&path, &std::fs::read(&path).unwrap()[..5000]).unwrap();
        let error = load(&ground, &path, Precision::F32).unwrap_err().to_string();
        assert!(error.contains("delete the file, and resume from"), "{error}");
        std::fs::remove_file(&path).unwrap();
    }
}
