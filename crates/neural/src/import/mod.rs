//! Networks of files of PyTorch's. Nothing in them is executed.

mod arguments;
mod json;
mod loss;

use std::collections::BTreeMap;
use std::path::Path;

use foretell_checkpoint::{CheckpointError, PickleValue, TensorData, TensorValues, read_pickle};
use foretell_messages::Setting;
use serde_json::{Map, Value};

use crate::model_file::{spec_of, with_weights};
use crate::trained_network::TrainedNetwork;
pub use json::json as json_of;

/// The network of a file that PyTorch wrote: a checkpoint of PyTorch Lightning's or a state dictionary. `alias` is that of its
/// directory, `settings` are hyper-parameters that win over those of the file; what of the file is left out is added to
/// `left_out`, in words. Objects of the file may take `memory` bytes beside its tensors.
///
/// # Errors
/// If the file cannot be read; within, in words, if it holds no network of this class.
pub fn import_model(
    path: &Path,
    class: &str,
    alias: Option<&str>,
    settings: &Map<String, Value>,
    left_out: &mut Vec<String>,
    memory: u64,
) -> Result<Result<TrainedNetwork, String>, CheckpointError> {
    let stored = read_pickle(path, memory)?;
    Ok(model_of(stored, class, alias, settings, left_out))
}

fn model_of(
    stored: PickleValue,
    class: &str,
    alias: Option<&str>,
    settings: &Map<String, Value>,
    left_out: &mut Vec<String>,
) -> Result<TrainedNetwork, String> {
    let mut arguments = match stored.entry("hyper_parameters") {
        Some(stored) => arguments::read(class, stored, settings, left_out)?,
        None => Map::new(),
    };
    if let Some(alias) = alias.filter(|alias| !alias.eq_ignore_ascii_case(class)) {
        arguments.insert("alias".to_owned(), alias.into());
    }
    arguments.extend(settings.clone());
    if !arguments.contains_key("h") {
        return Err(format!(
            "the file holds weights alone; give the hyper-parameters of {class} that they were trained with ({} {} ...)",
            Setting::ImportHyperParameter.to("h=12"),
            Setting::ImportHyperParameter.to("input_size=24")
        ));
    }
    let spec = spec_of(class, arguments).map_err(|error| error.to_string())?;
    let tensors = state_dictionary(stored)?;
    let tensors = tensors.iter().filter(|(name, _)| !of_loss(name));
    with_weights(spec, &tensors.map(|(name, tensor)| (name.as_str(), tensor)).collect())
}

/// Losses keep their quantiles beside the weights, and make them anew.
fn of_loss(name: &str) -> bool {
    ["loss.", "valid_loss.", "test_loss."].iter().any(|prefix| name.starts_with(prefix))
}

/// The tensors by their names: of a checkpoint its `state_dict`, else the whole file.
fn state_dictionary(stored: PickleValue) -> Result<BTreeMap<String, TensorData>, String> {
    const REMEDY: &str =
        "save the weights in Python, torch.save(model.state_dict(), 'weights.pt'), and import these";
    let state = stored.entry("state_dict").unwrap_or(&stored);
    let Some(entries) = state.entries() else {
        return Err(format!("the file holds {}, not a dictionary of tensors; {REMEDY}", stored.kind()));
    };
    let tensors = entries.iter().map(|(name, tensor)| match (name, tensor) {
        (PickleValue::Text(name), PickleValue::Array(tensor)) => Ok((name.clone(), single(tensor.clone()))),
        (PickleValue::Text(name), other) => {
            Err(format!("entry {name} of the file is {}, not a tensor; {REMEDY}", other.kind()))
        }
        (other, _) => Err(format!("the file has {} for the name of a tensor; {REMEDY}", other.kind())),
    });
    tensors.collect()
}

/// Real numbers in single precision, however they were stored.
fn single(tensor: TensorData) -> TensorData {
    let shape = tensor.shape().to_vec();
    match tensor.into_values() {
        TensorValues::F64(values) => TensorData::f32(shape, values.iter().map(|&x| x as f32).collect()),
        TensorValues::BF16(values) => TensorData::f32(
            shape,
            values.iter().map(|&x| foretell_simd::bf16::from_bits(x).to_f32()).collect(),
        ),
        TensorValues::F16(values) => TensorData::f32(
            shape,
            values.iter().map(|&x| foretell_simd::f16::from_bits(x).to_f32()).collect(),
        ),
        other => TensorData::new(shape, other),
    }
}
