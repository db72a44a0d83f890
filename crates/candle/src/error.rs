//! The reasons why an operation is refused.

use candle_core::{DType, DeviceLocation};

/// The result of an operation on candle's tensors.
pub type Result<T, E = OpError> = std::result::Result<T, E>;

/// Why an operation was refused. It becomes a [`candle_core::Error`] by `?`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpError {
    /// Numbers of another type.
    #[error("{op}: {operand} is of {found:?}, expected F32; convert it by to_dtype(DType::F32)")]
    Dtype {
        /// The operation.
        op: &'static str,
        /// The operand.
        operand: &'static str,
        /// Its type.
        found: DType,
    },
    /// A tensor on a graphics card.
    #[error("{op}: {operand} is on {found:?}, expected the CPU; move it by to_device(&Device::Cpu)")]
    Device {
        /// The operation.
        op: &'static str,
        /// The operand.
        operand: &'static str,
        /// Where it is.
        found: DeviceLocation,
    },
    /// A shape that does not fit the others.
    #[error("{op}: {operand} has shape {found:?}, expected {expected}")]
    Shape {
        /// The operation.
        op: &'static str,
        /// The operand.
        operand: &'static str,
        /// The shapes that fit.
        expected: String,
        /// Its shape.
        found: Vec<usize>,
    },
    /// A setting that means nothing.
    #[error("{op}: {setting} should be {expected}, found {found}")]
    Setting {
        /// The operation.
        op: &'static str,
        /// The name of the setting.
        setting: &'static str,
        /// The values that are allowed.
        expected: &'static str,
        /// The value found.
        found: String,
    },
    /// An error of candle's own.
    #[error(transparent)]
    Candle(#[from] candle_core::Error),
}

impl From<OpError> for candle_core::Error {
    fn from(error: OpError) -> Self {
        match error {
            OpError::Candle(error) => error,
            other => Self::wrap(other),
        }
    }
}
