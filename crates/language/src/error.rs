//! Everything that can be wrong with the folder of a language model.

use foretell_checkpoint::CheckpointError;
use foretell_files::FileError;

/// Why a folder holds no language model that can be read. The messages are phrases; callers name the folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LanguageModelError {
    /// A file that is missing or cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// Weights that cannot be read.
    #[error(transparent)]
    Weights(#[from] CheckpointError),
    /// A `config.json` or a `tokenizer.json` that is damaged or of another kind.
    #[error("{file} in it that cannot be read: {reason}")]
    Damaged {
        /// The file.
        file: &'static str,
        /// The reader's reason.
        reason: String,
    },
    /// A setting of `config.json` that is not supported.
    #[error("config.json in it with {name} = {found}, where {expected} is expected")]
    Setting {
        /// The setting.
        name: &'static str,
        /// The values that are supported.
        expected: String,
        /// The value found.
        found: String,
    },
    /// A tensor that is missing or of another shape.
    #[error("model.safetensors in it without 32-bit floats {name} of shape {shape:?}")]
    Tensor {
        /// The name of the tensor.
        name: String,
        /// The shape that it should have by `config.json`.
        shape: Vec<usize>,
    },
    /// A program that was built without the reader of tokenizers.
    #[error("a program that was built without the Cargo feature `timellm`: build it with this feature")]
    WithoutFeature,
}
