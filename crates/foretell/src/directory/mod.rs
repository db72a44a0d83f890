//! Model directories: written, read, described, and imported from files of PyTorch's.

pub(crate) mod dataset;
pub(crate) mod import;
pub(crate) mod inspect;
pub(crate) mod kept;
pub(crate) mod saving;
