//! Options of a product: what is applied to its sums on their way into the destination.

use std::ops::Range;

use foretell_simd::Activation;

/// The use of the destination's old values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accum {
    /// They are overwritten without being read.
    Replace,
    /// The product is added to them.
    Add,
}

/// A vector added to each row or to each column of the result.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Bias<'a> {
    /// One value per column, added to every row: the bias of a dense layer with one sample per row.
    PerColumn(&'a [f32]),
    /// One value per row, added to every column.
    PerRow(&'a [f32]),
}

/// How the operands of a product are rounded before they are multiplied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rounding {
    /// Not at all.
    #[default]
    None,
    /// To bfloat16 where the product is so large that this saves time on machines with instructions for it; else not at all.
    /// [`Rounding::of_product`] says which.
    Bf16,
    /// To half precision, beyond 65,504 to infinity. The product is computed in `f32`, so it saves no time: what 16 bits save is the
    /// memory of operands that were kept in them.
    F16,
}

impl Rounding {
    /// This one, or the other if this is none.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if self == Self::None { other } else { self }
    }
}

/// How the numbers of weights are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WeightFormat {
    /// Unchanged, in the order in which the kernels of the machine read them.
    F32,
    /// bfloat16, half of the bytes.
    Bf16,
    /// 8 bits, a quarter of the bytes, and a scale for each column.
    Int8,
}

/// `dst = activation([dst +] alpha * lhs * rhs + bias)`, by default plainly `dst = lhs * rhs`.
///
/// ```
/// use foretell_gemm::{Accum, Bias, Options};
///
/// let options = Options::default().accum(Accum::Add).alpha(0.5).bias(Bias::PerColumn(&[1.0, 2.0]));
/// assert_eq!(options.alpha, 0.5);
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Options<'a> {
    /// Whether the destination's old values take part.
    pub accum: Accum,
    /// A factor of the product.
    pub alpha: f32,
    /// Added after the product.
    pub bias: Option<Bias<'a>>,
    /// Applied last.
    pub activation: Activation,
    /// To what the operands are rounded before they are multiplied, if the right one is a matrix in `f32`.
    pub rounding: Rounding,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            accum: Accum::Replace,
            alpha: 1.0,
            bias: None,
            activation: Activation::Identity,
            rounding: Rounding::None,
        }
    }
}

impl<'a> Options<'a> {
    /// Whether the destination's old values take part.
    #[must_use]
    pub fn accum(self, accum: Accum) -> Self {
        Self { accum, ..self }
    }

    /// A factor of the product.
    #[must_use]
    pub fn alpha(self, alpha: f32) -> Self {
        Self { alpha, ..self }
    }

    /// Adds this after the product.
    #[must_use]
    pub fn bias(self, bias: impl Into<Option<Bias<'a>>>) -> Self {
        Self { bias: bias.into(), ..self }
    }

    /// Applies this last.
    #[must_use]
    pub fn activation(self, activation: Activation) -> Self {
        Self { activation, ..self }
    }

    /// Rounds the operands before they are multiplied.
    #[must_use]
    pub fn rounding(self, rounding: Rounding) -> Self {
        Self { rounding, ..self }
    }
}

impl Bias<'_> {
    /// The values for some rows and columns.
    pub(crate) fn part(self, rows: Range<usize>, cols: Range<usize>) -> Self {
        match self {
            Self::PerColumn(values) => Self::PerColumn(&values[cols]),
            Self::PerRow(values) => Self::PerRow(&values[rows]),
        }
    }

    /// The same vector for the transposed product.
    pub(crate) fn t(self) -> Self {
        match self {
            Self::PerColumn(values) => Self::PerRow(values),
            Self::PerRow(values) => Self::PerColumn(values),
        }
    }
}
