//! In which format weights are held for forecasts.

use std::fmt;
use std::str::FromStr;

use foretell_autograd::WeightFormat;
use serde::{Deserialize, Serialize};

/// The format in which the weights of products are held for forecasts.
///
/// Training, its validation and saved weights are in `f32`; see [`Params::hold`](crate::Params::hold).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum WeightPrecision {
    /// As they were trained.
    #[default]
    F32,
    /// bfloat16: half the bytes, 8 bits of precision. Activations are rounded to it too, sums are `f32`.
    Bf16,
    /// Whole numbers from -127 to 127 and a scale for each output: a quarter of the bytes. Activations are rounded row by row
    /// in the same way, sums are exact.
    Int8,
}

impl WeightPrecision {
    /// All precisions.
    pub const ALL: [Self; 3] = [Self::F32, Self::Bf16, Self::Int8];

    /// As it is written on the command line and in files: `f32`, `bf16`, `int8`.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
            Self::Int8 => "int8",
        }
    }

    /// The format, if it has fewer bits than `f32`; without the feature `amp` there is none, and products with such
    /// weights are not even linked.
    pub(crate) fn narrow(self) -> Option<WeightFormat> {
        match self {
            _ if !crate::AMP => None,
            Self::F32 => None,
            Self::Bf16 => Some(WeightFormat::Bf16),
            Self::Int8 => Some(WeightFormat::Int8),
        }
    }
}

impl fmt::Display for WeightPrecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A word that names no [`WeightPrecision`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown precision of weights `{found}`: expected f32, bf16 or int8")]
pub struct UnknownWeightPrecision {
    found: String,
}

impl FromStr for WeightPrecision {
    type Err = UnknownWeightPrecision;

    fn from_str(word: &str) -> Result<Self, UnknownWeightPrecision> {
        let precision = Self::ALL.into_iter().find(|known| known.name() == word);
        precision.ok_or_else(|| UnknownWeightPrecision { found: word.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for precision in WeightPrecision::ALL {
            assert_eq!(precision.to_string().parse(), Ok(precision));
        }
        let error = "f16".parse::<WeightPrecision>().unwrap_err().to_string();
        assert_eq!(error, "unknown precision of weights `f16`: expected f32, bf16 or int8");
    }
}
