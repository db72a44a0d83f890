//! Why a network is no ONNX graph.

use thiserror::Error;

/// Why a network is no ONNX graph.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum OnnxError {
    /// An operation that ONNX has not.
    #[error(
        "ONNX has no operation for `{operation}`{detail}; export another model, or serve this one with foretell"
    )]
    Operation {
        /// Its name.
        operation: &'static str,
        /// What of it ONNX has not, after a colon, if it is a part.
        detail: String,
    },
    /// Values of the windows decide which operations follow, and a graph has the same for all.
    #[error(
        "a graph has the same operations for all windows, and this model's follow from their values: {choice}; export another model, \
         or serve this one with foretell"
    )]
    Choice {
        /// What is decided.
        choice: &'static str,
    },
    /// The forecast of a loss has columns that ONNX has no operations for.
    #[error(
        "ONNX has no operations for the columns of the loss {loss}: {reason}; train with a loss of quantiles, such as MQLoss"
    )]
    Loss {
        /// The name of the loss.
        loss: String,
        /// What stands in the way.
        reason: &'static str,
    },
    /// Runs with other numbers of windows do other things.
    #[error("the operations of a forecast depend on the number of windows: {found}, at `{operation}`")]
    Batch {
        /// The operation where the runs differ.
        operation: &'static str,
        /// The difference.
        found: String,
    },
    /// A value that no recorded operation computed.
    #[error("`{operation}` reads a value that follows from the windows by an operation that is not recorded")]
    NotRecorded {
        /// The operation that reads it.
        operation: &'static str,
    },
}
