//! Which operations run in 16 bits: a table.
//!
//! foretell's own training uses [`Precision`] alone, and rounds what it multiplies by `Var::with_rounding` of
//! foretell-autograd; [`Autocast`] and [`OperationKind`] are for other training loops.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The format in which an operation takes its inputs. Sums within it are `f32` in each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Precision {
    /// 32 bits.
    #[default]
    F32,
    /// The range of `f32` with 8 bits of precision: needs no [`GradScaler`](crate::GradScaler).
    Bf16,
    /// 11 bits of precision, up to 65,504: its gradients are scaled.
    F16,
}

impl Precision {
    /// All precisions.
    pub const ALL: [Self; 3] = [Self::F32, Self::Bf16, Self::F16];

    /// As it is written on the command line and in files: `f32`, `bf16`, `f16`.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
            Self::F16 => "f16",
        }
    }

    /// The bytes of a number.
    pub fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::Bf16 | Self::F16 => 2,
        }
    }

    /// Whether its gradients need a [`GradScaler`](crate::GradScaler): its smallest number is far above that of `f32`.
    pub fn needs_scaler(self) -> bool {
        self == Self::F16
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A word that names no [`Precision`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPrecision(String);

impl fmt::Display for UnknownPrecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown precision `{}`: expected f32, bf16 or f16", self.0)
    }
}

impl std::error::Error for UnknownPrecision {}

impl FromStr for Precision {
    type Err = UnknownPrecision;

    fn from_str(word: &str) -> Result<Self, UnknownPrecision> {
        let precision = Self::ALL.into_iter().find(|known| known.name() == word);
        precision.ok_or_else(|| UnknownPrecision(word.to_owned()))
    }
}

/// Operations, by how they tolerate 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationKind {
    /// Products of matrices, linear layers among them.
    Product,
    /// Convolutions along time.
    Convolution,
    /// Recurrent layers: the products with their weights; states and gates stay `f32`.
    RecurrentSequence,
    /// Scores and sums of values of attention; its softmax stays `f32`.
    Attention,
    /// Sums, products and activations, element by element.
    Elementwise,
    /// Batch, layer, instance and root mean square norm.
    Norm,
    /// Softmax and its logarithm.
    Softmax,
    /// Losses and likelihoods.
    Loss,
    /// Sums, means and other reductions.
    Reduction,
    /// The step of the optimiser.
    Optimizer,
}

impl OperationKind {
    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::Product,
        Self::Convolution,
        Self::RecurrentSequence,
        Self::Attention,
        Self::Elementwise,
        Self::Norm,
        Self::Softmax,
        Self::Loss,
        Self::Reduction,
        Self::Optimizer,
    ];

    /// Whether it gains from 16 bits and tolerates them: it is a sum of products, which is where the time goes, and
    /// whose rounded inputs are many independent errors of one part in 256 (`bf16`) or 2,048 (`f16`) that mostly
    /// cancel. The others are a small share of the time, and exponentials, variances and long sums would lose the
    /// digits that matter.
    pub fn tolerates_16_bits(self) -> bool {
        match self {
            Self::Product | Self::Convolution | Self::RecurrentSequence | Self::Attention => true,
            Self::Elementwise
            | Self::Norm
            | Self::Softmax
            | Self::Loss
            | Self::Reduction
            | Self::Optimizer => false,
        }
    }
}

/// The precision in which each kind of operation runs.
///
/// ```
/// use foretell_amp::{Autocast, OperationKind, Precision};
///
/// let policy = Autocast::to(Precision::Bf16).with(OperationKind::Attention, Precision::F32);
/// assert_eq!(policy.of(OperationKind::Product), Precision::Bf16);
/// assert_eq!(policy.of(OperationKind::Attention), Precision::F32);
/// assert_eq!(policy.of(OperationKind::Norm), Precision::F32);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Autocast([Precision; OperationKind::ALL.len()]);

impl Autocast {
    /// Operations that tolerate 16 bits run in `precision`, all others in `f32`.
    pub fn to(precision: Precision) -> Self {
        Self(OperationKind::ALL.map(|kind| if kind.tolerates_16_bits() { precision } else { Precision::F32 }))
    }

    /// The same except for one kind of operation.
    #[must_use]
    pub fn with(mut self, kind: OperationKind, precision: Precision) -> Self {
        self.0[kind as usize] = precision;
        self
    }

    /// The precision of a kind of operation.
    pub fn of(&self, kind: OperationKind) -> Precision {
        self.0[kind as usize]
    }

    /// Whether any operation needs its gradients scaled.
    pub fn needs_scaler(&self) -> bool {
        self.0.iter().any(|precision| precision.needs_scaler())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_in_their_places() {
        for (i, kind) in OperationKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, i);
            let policy = Autocast::default().with(kind, Precision::Bf16);
            let narrow = OperationKind::ALL.iter().filter(|kind| policy.of(**kind) == Precision::Bf16);
            assert_eq!(narrow.collect::<Vec<_>>(), [&kind]);
        }
    }

    #[test]
    fn products_in_16_bits_the_rest_in_f32() {
        use OperationKind as Kind;
        let policy = Autocast::to(Precision::F16);
        for kind in [Kind::Product, Kind::Convolution, Kind::RecurrentSequence, Kind::Attention] {
            assert_eq!(policy.of(kind), Precision::F16);
        }
        for kind in [Kind::Norm, Kind::Softmax, Kind::Loss, Kind::Reduction, Kind::Optimizer] {
            assert_eq!(policy.of(kind), Precision::F32);
        }
        assert!(policy.needs_scaler());
        assert!(!Autocast::to(Precision::Bf16).needs_scaler() && !Autocast::default().needs_scaler());
    }

    #[test]
    fn precisions_are_read_as_they_are_written() {
        for precision in Precision::ALL {
            assert_eq!(precision.to_string().parse(), Ok(precision));
            let json = serde_json::to_string(&precision).unwrap();
            assert_eq!(json, format!("\"{precision}\""));
        }
        let error = "fp8".parse::<Precision>().unwrap_err().to_string();
        assert_eq!(error, "unknown precision `fp8`: expected f32, bf16 or f16");
    }
}
