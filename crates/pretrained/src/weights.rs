//! Tensors of a folder, each checked against the shape that the configuration gives it before anything is made of it.

use std::path::{Path, PathBuf};

use foretell_checkpoint::{OpenTensors, TensorData, TensorValues};

use crate::error::PretrainedError;

/// The tensors of a file, each read from it when the network takes it.
pub(crate) struct Weights {
    path: PathBuf,
    tensors: OpenTensors,
}

impl Weights {
    /// Those of a safetensors file.
    pub(crate) fn open(path: &Path) -> Result<Self, PretrainedError> {
        Ok(Self { path: path.to_owned(), tensors: OpenTensors::open(path)? })
    }

    /// Numbers of all tensors but scales.
    pub(crate) fn count(&self) -> usize {
        let is_weight = |(name, _): &(&str, usize)| !name.ends_with(".scale");
        self.tensors.sizes().filter(is_weight).map(|(_, numbers)| numbers).sum()
    }

    /// The file, for the bytes that it has.
    pub(crate) fn file(&mut self) -> &mut OpenTensors {
        &mut self.tensors
    }

    /// The numbers of a tensor, row-major: 32-bit or brain floats, or 8-bit integers (`.qweight`) with a scale for each row or one for
    /// all (`.scale`). It is taken out.
    pub(crate) fn take(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, PretrainedError> {
        let values = match self.describe(name) {
            None => self.take_quantised(name, shape)?,
            Some((found, found_shape)) => match self.take_of(name, found_shape == shape)? {
                Some(TensorValues::F32(values)) => values,
                Some(TensorValues::BF16(bits)) => {
                    bits.into_iter().map(|bits| f32::from_bits(u32::from(bits) << 16)).collect()
                }
                _ => return Err(self.misfit(name, shape, found)),
            },
        };
        match values.iter().all(|x| x.is_finite()) {
            true => Ok(values),
            false => Err(self.misfit(name, shape, "numbers that are not finite".to_owned())),
        }
    }

    /// The values of a tensor, if it fits and is there.
    fn take_of(&mut self, name: &str, fits: bool) -> Result<Option<TensorValues>, PretrainedError> {
        let taken = if fits { self.tensors.take(name)? } else { None };
        Ok(taken.map(TensorData::into_values))
    }

    /// What a tensor is, in words, and its shape.
    fn describe(&self, name: &str) -> Option<(String, Vec<usize>)> {
        let (dtype, shape) = self.tensors.kind(name)?;
        Some((format!("{dtype} of shape {shape:?}"), shape.to_vec()))
    }

    fn take_quantised(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, PretrainedError> {
        let [whole, scale] = ["qweight", "scale"].map(|end| format!("{name}.{end}"));
        let (Some((found, whole_shape)), Some((found_scale, scale_shape))) =
            (self.describe(&whole), self.describe(&scale))
        else {
            return Err(self.misfit(name, shape, "none".to_owned()));
        };
        let found = format!("{found} with scales {found_scale}");
        let rows = shape.first().copied().unwrap_or(1);
        let scales: usize = scale_shape.iter().product();
        let fits = whole_shape == shape && (scales == 1 || scales == rows);
        let (Some(TensorValues::I8(whole)), Some(TensorValues::F32(scale))) =
            (self.take_of(&whole, fits)?, self.take_of(&scale, fits)?)
        else {
            return Err(self.misfit(name, shape, found));
        };
        let row = whole.len().checked_div(rows).unwrap_or(0).max(1);
        let by_row = |(i, &x): (usize, &i8)| f32::from(x) * scale[if scale.len() == 1 { 0 } else { i / row }];
        Ok(whole.iter().enumerate().map(by_row).collect())
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
