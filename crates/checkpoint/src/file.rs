//! One safetensors file.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use foretell_files::{read_regular, write_whole};
use safetensors::SafeTensors;
use safetensors::tensor::TensorInfo;
use serde_json::{Map, Value};

use crate::checksum::{self, CHECKSUM};
use crate::error::{CheckpointError, Result};
use crate::tensor::{TensorData, TensorValues};

const METADATA: &str = "__metadata__";

/// The content of a `.safetensors` file: text entries and named tensors.
///
/// Equal contents give equal bytes. The whole file is read into memory; memory use is a constant
/// factor of the file's size whatever its header claims.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TensorFile {
    /// The entries of `__metadata__`, but for that of the checksum, which is written and compared with the file.
    pub metadata: BTreeMap<String, String>,
    /// The tensors by name.
    pub tensors: BTreeMap<String, TensorData>,
}

impl TensorFile {
    /// Reads a file. Files of other programs have no checksum.
    ///
    /// # Errors
    /// The file cannot be read, is truncated or corrupt, has another checksum than it says, or a tensor of an unknown dtype.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::from_bytes(&read_regular(path)?, path)
    }

    /// Reads a file that foretell wrote, as [`read`](Self::read) does; here a missing checksum is an error.
    ///
    /// # Errors
    /// The errors of [`read`](Self::read), and [`CheckpointError::Checksum`] where there is none.
    pub fn read_checked(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::from_checked_bytes(&read_regular(path)?, path)
    }

    /// Parses the bytes of a file that foretell wrote, as [`read_checked`](Self::read_checked) does.
    pub(crate) fn from_checked_bytes(bytes: &[u8], path: &Path) -> Result<Self> {
        match Self::parse(bytes, path)? {
            (file, true) => Ok(file),
            (_, false) => Err(CheckpointError::Checksum { path: path.to_path_buf(), found: None }),
        }
    }

    /// Parses the bytes of a file; `path` serves the error messages only.
    ///
    /// # Errors
    /// They are truncated or corrupt, have another checksum than they say, or a tensor of an unknown dtype.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self> {
        Self::parse(bytes, path).map(|(file, _)| file)
    }

    /// The content, and whether there was a checksum of it.
    fn parse(bytes: &[u8], path: &Path) -> Result<(Self, bool)> {
        let (length, header) = SafeTensors::read_metadata(bytes)
            .map_err(|e| CheckpointError::Corrupt { path: path.to_path_buf(), reason: e.to_string() })?;
        let metadata = header.metadata().clone().unwrap_or_default();
        // The header is checked: every range is within the data and has the size of its tensor.
        let data = &bytes[8 + length..];
        let tensors = header
            .tensors()
            .into_iter()
            .map(|(name, info)| {
                let (start, end) = info.data_offsets;
                match TensorValues::from_bytes(info.dtype, &data[start..end]) {
                    Some(values) => Ok((name, TensorData::new(info.shape.clone(), values))),
                    None => Err(CheckpointError::Dtype {
                        path: path.to_path_buf(),
                        tensor: name,
                        dtype: info.dtype.to_string(),
                    }),
                }
            })
            .collect::<Result<_>>()?;
        let mut file = Self { metadata: metadata.into_iter().collect(), tensors };
        let Some(expected) = file.metadata.remove(CHECKSUM) else { return Ok((file, false)) };
        match checksum::of_tensors(&file.metadata, &file.tensors) {
            found if found == expected => Ok((file, true)),
            found => Err(CheckpointError::Checksum { path: path.to_path_buf(), found: Some(found) }),
        }
    }

    /// The bytes of the file.
    ///
    /// # Panics
    /// On a tensor named `__metadata__`, which the format reserves.
    pub fn to_bytes(&self) -> Vec<u8> {
        to_bytes(&self.metadata, &self.tensors)
    }

    /// Writes the file: all of it or, on failure, nothing (a new file is renamed over an old one).
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(write_whole(path.as_ref(), &self.to_bytes())?)
    }
}

/// A file's bytes, their checksum among the metadata: tensors in descending alignment, then by name, as the reference writer orders
/// them. Written here because that writer puts the metadata in a random order.
pub(crate) fn to_bytes<'t>(
    metadata: &BTreeMap<String, String>,
    tensors: impl IntoIterator<Item = (&'t String, &'t TensorData)>,
) -> Vec<u8> {
    let mut tensors: Vec<_> = tensors.into_iter().collect();
    tensors.sort_by_key(|(name, _)| *name);
    let mut metadata = metadata.clone();
    metadata.insert(CHECKSUM.to_owned(), checksum::of_tensors(&metadata, tensors.iter().copied()));
    tensors.sort_by_key(|(name, tensor)| (Reverse(tensor.values().dtype()), *name));

    let mut header = Map::new();
    header.insert(METADATA.into(), json(&metadata));
    let mut end = 0;
    for (name, tensor) in &tensors {
        assert_ne!(name.as_str(), METADATA, "a tensor cannot have this name");
        let start = end;
        end += tensor.values().bytes().len();
        let info = TensorInfo {
            dtype: tensor.values().dtype(),
            shape: tensor.shape().to_vec(),
            data_offsets: (start, end),
        };
        header.insert((*name).clone(), json(&info));
    }
    let mut header = Value::Object(header).to_string().into_bytes();
    header.resize(header.len().next_multiple_of(8), b' ');

    let mut bytes = Vec::with_capacity(8 + header.len() + end);
    bytes.extend((header.len() as u64).to_le_bytes());
    bytes.extend(header);
    for (_, tensor) in tensors {
        bytes.extend(tensor.values().bytes());
    }
    bytes
}

fn json(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).expect("maps of strings and numbers are JSON")
}
