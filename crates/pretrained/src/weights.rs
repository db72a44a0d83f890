//! Tensors of a folder, each checked against the shape that the configuration gives it before anything is made of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use foretell_checkpoint::{TensorData, TensorFile, TensorValues};

use crate::error::PretrainedError;

/// The tensors of a file.
pub(crate) struct Weights {
    path: PathBuf,
    tensors: BTreeMap<String, TensorData>,
}

impl Weights {
    /// Those in the bytes of a safetensors file; `path` is for messages.
    pub(crate) fn parse(bytes: &[u8], path: &Path) -> Result<Self, PretrainedError> {
        Ok(Self { path: path.to_owned(), tensors: TensorFile::from_bytes(bytes, path)?.tensors })
    }

    /// Numbers of all tensors but scales.
    pub(crate) fn count(&self) -> usize {
        let is_weight = |(name, _): &(&String, &TensorData)| !name.ends_with(".scale");
        self.tensors.iter().filter(is_weight).map(|(_, tensor)| tensor.values().len()).sum()
    }

    /// The numbers of a tensor, row-major: 32-bit or brain floats, or 8-bit integers (`.qweight`) with a scale for each row or one for
    /// all (`.scale`). It is taken out.
    pub(crate) fn take(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, PretrainedError> {
        let values = match self.tensors.remove(name) {
            Some(tensor) => {
                let wrong = tensor.shape() != shape;
                let found = describe(&tensor);
                let values = match tensor.into_values() {
                    _ if wrong => None,
                    TensorValues::F32(values) => Some(values),
                    TensorValues::BF16(bits) => {
                        Some(bits.into_iter().map(|bits| f32::from_bits(u32::from(bits) << 16)).collect())
                    }
                    _ => None,
                };
                values.ok_or_else(|| self.misfit(name, shape, found))?
            }
            None => self.take_quantised(name, shape)?,
        };
        match values.iter().all(|x| x.is_finite()) {
            true => Ok(values),
            false => Err(self.misfit(name, shape, "numbers that are not finite".to_owned())),
        }
    }

    fn take_quantised(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, PretrainedError> {
        let mut take = |end: &str| self.tensors.remove(&format!("{name}.{end}"));
        let (Some(whole), Some(scale)) = (take("qweight"), take("scale")) else {
            return Err(self.misfit(name, shape, "none".to_owned()));
        };
        let found = format!("{} with scales {}", describe(&whole), describe(&scale));
        let fits = whole.shape() == shape;
        let (whole, scale) = (whole.into_values(), scale.into_values());
        let (TensorValues::I8(whole), TensorValues::F32(scale), true) = (whole, scale, fits) else {
            return Err(self.misfit(name, shape, found));
        };
        let rows = shape.first().copied().unwrap_or(1);
        let row = whole.len().checked_div(rows).unwrap_or(0).max(1);
        let by_row = |(i, &x): (usize, &i8)| f32::from(x) * scale[if scale.len() == 1 { 0 } else { i / row }];
        match scale.len() == 1 || scale.len() == rows {
            true => Ok(whole.iter().enumerate().map(by_row).collect()),
            false => Err(self.misfit(name, shape, found)),
        }
    }

    fn misfit(&self, name: &str, shape: &[usize], found: String) -> PretrainedError {
        PretrainedError::Tensor {
            path: self.path.clone(),
            name: name.to_owned(),
            expected: format!("32-bit or brain floats or scaled 8-bit integers of shape {shape:?}"),
            found,
        }
    }
}

fn describe(tensor: &TensorData) -> String {
    format!("{} of shape {:?}", tensor.dtype(), tensor.shape())
}
