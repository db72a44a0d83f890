//! The file of the optimisers of a directory's networks.
//!
//! It has the layout of safetensors under a name that neuralforecast does not load: of the network in `NHITS_0.safetensors` the
//! array `exp_avg` is the tensor `NHITS_0.exp_avg`, and what else there is to know is the entry `NHITS_0`.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::{CheckpointError, Result};
use crate::file::TensorFile;
use crate::model::{FORMAT, ModelFile};
use crate::optimizer_state::OptimizerState;
use crate::tensor::{TensorData, TensorValues};

/// The file of the optimisers of these networks, each with the name of its file less the ending; none if none is kept.
pub(crate) fn optimizers_file(models: &[(String, &ModelFile)]) -> Option<TensorFile> {
    let mut file = TensorFile {
        metadata: [("nf_format".to_owned(), FORMAT.to_owned())].into(),
        tensors: BTreeMap::new(),
    };
    for (name, state) in models.iter().filter_map(|(name, model)| Some((name, model.optimizer.as_ref()?))) {
        let text = serde_json::to_string(state).expect("names and numbers are JSON");
        file.metadata.insert(name.clone(), text);
        let arrays = state.arrays.iter().map(|(array, values)| {
            (format!("{name}.{array}"), TensorData::f32([values.len()], values.clone()))
        });
        file.tensors.extend(arrays);
    }
    (file.metadata.len() > 1).then_some(file)
}

/// Puts the optimisers of the file's bytes into the networks of these names.
///
/// # Errors
/// The bytes are not as they were written, or hold something else.
pub(crate) fn read_optimizers<'m>(
    models: impl Iterator<Item = (&'m str, &'m mut ModelFile)>,
    bytes: &[u8],
    path: &Path,
) -> Result<()> {
    let mut file = TensorFile::from_checked_bytes(bytes, path)?;
    for (name, model) in models {
        let Some(text) = file.metadata.get(name) else { continue };
        let mut state: OptimizerState = serde_json::from_str(text).map_err(|source| {
            CheckpointError::Json { place: format!("{}, entry `{name}`", path.display()), source }
        })?;
        let start = format!("{name}.");
        let own: Vec<String> = file.tensors.keys().filter(|key| key.starts_with(&start)).cloned().collect();
        for key in own {
            if let Some(TensorValues::F32(values)) = file.tensors.remove(&key).map(TensorData::into_values) {
                state.arrays.insert(key[start.len()..].to_owned(), values);
            }
        }
        model.optimizer = Some(state);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> ModelFile {
        let mut model = ModelFile::new("NHITS", "NHITS");
        let arrays = [("exp_avg", vec![0.5, -1.0]), ("exp_avg_sq", vec![0.25, 2.0])];
        let arrays = arrays.map(|(name, values)| (name.to_owned(), values)).into();
        model.optimizer = Some(OptimizerState {
            optimizer: "Adam".to_owned(),
            steps: 9,
            updates: 8,
            scaler: serde_json::Value::Null,
            arrays,
        });
        model
    }

    fn read(bytes: &[u8], models: &mut [ModelFile]) -> Result<()> {
        let names = ["NHITS_0", "NHITS_1"];
        read_optimizers(names.into_iter().zip(models), bytes, Path::new("file"))
    }

    #[test]
    fn optimisers_come_back_to_their_networks() {
        let (with, without) = (model(), ModelFile::new("NHITS", "NHITS"));
        let file = optimizers_file(&[("NHITS_0".to_owned(), &without), ("NHITS_1".to_owned(), &with)]);
        let bytes = file.expect("one is kept").to_bytes();
        let mut models = [without.clone(), ModelFile { optimizer: None, ..with.clone() }];
        read(&bytes, &mut models).unwrap();
        assert_eq!(models, [without.clone(), with]);
        assert!(optimizers_file(&[("NHITS_0".to_owned(), &without)]).is_none());
    }

    #[test]
    fn a_bit_that_was_flipped_is_found() {
        let with = model();
        let mut bytes = optimizers_file(&[("NHITS_0".to_owned(), &with)]).unwrap().to_bytes();
        *bytes.last_mut().unwrap() ^= 1;
        let error = read(&bytes, &mut [ModelFile::new("NHITS", "NHITS")]).unwrap_err();
        assert!(matches!(error, CheckpointError::Checksum { .. }), "{error}");
    }
}
