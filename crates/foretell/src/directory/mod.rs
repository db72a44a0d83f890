//! Model directories: written, read, described, and made of files of PyTorch's.

#[cfg(feature = "pickle")]
pub(crate) mod import;
pub(crate) mod inspect;
pub(crate) mod saving;
