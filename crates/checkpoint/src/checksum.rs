//! Checksums of the contents of files, so that a bit that was flipped on a disk is found before the contents are used.
//!
//! They are of the content, not of the bytes: a file that another program wrote again with the same tensors and the same
//! entries, in whatever order, keeps its checksum. neuralforecast passes over the entries that hold them.

use std::collections::BTreeMap;

use crc32fast::Hasher;
use serde_json::Value;

use crate::tensor::TensorData;

/// The name of the entry that holds a checksum.
pub(crate) const CHECKSUM: &str = "foretell_crc32";

/// The checksum of a file of tensors and entries, those in the order of their names.
pub(crate) fn of_tensors<'t>(
    metadata: &BTreeMap<String, String>,
    tensors: impl IntoIterator<Item = (&'t String, &'t TensorData)>,
) -> String {
    let mut hasher = Hasher::new();
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    for (name, value) in metadata.iter().filter(|(name, _)| *name != CHECKSUM) {
        part(name.as_bytes());
        part(value.as_bytes());
    }
    for (name, tensor) in tensors {
        part(name.as_bytes());
        part(tensor.values().dtype().to_string().as_bytes());
        tensor.shape().iter().for_each(|size| part(&(*size as u64).to_le_bytes()));
        part(tensor.values().bytes());
    }
    shown(hasher)
}

/// The checksum of a value that will be or was a document of JSON.
pub(crate) fn of_json(value: &Value) -> String {
    let mut hasher = Hasher::new();
    hasher.update(value.to_string().as_bytes());
    shown(hasher)
}

fn shown(hasher: Hasher) -> String {
    format!("{:08x}", hasher.finalize())
}
