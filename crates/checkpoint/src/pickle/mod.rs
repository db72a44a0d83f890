//! PyTorch's files and Python's pickles, read without running anything.
//!
//! A pickle is a program for a small machine whose instructions build objects, some of them by calling Python functions by
//! their names. [`machine`] runs the instructions and calls nothing: a call is kept as what it is, the name and the arguments.
//! [`tensors`] knows the few calls that stand for plain data (PyTorch's tensors, numpy's arrays and numbers, ordered
//! dictionaries); every other object stays a name with attributes, [`PickledObject`], or [`PickleValue::Unknown`].
//!
//! Memory is a constant factor of the file's size, whatever the file says: [`Budget`].

mod archive;
mod machine;
mod tensors;
mod value;

use std::path::Path;

use archive::Archive;
use value::{Budget, Builder};
pub use value::{PickleValue, PickledObject};

use crate::error::{CheckpointError, Result};

/// How files of PyTorch's old format begin: a pickle of the number 0x1950a86a20f9469cfc6c.
const OLD_FORMAT: [u8; 6] = [0x80, 0x02, 0x8a, 0x0a, 0x6c, 0xfc];

/// Reads a file that `torch.save` wrote (`.pt`, `.pth`, `.ckpt`), or one that Python's `pickle` wrote (`.pkl`). Nothing in it is
/// executed.
///
/// # Errors
/// The file cannot be read, is cut off or damaged, or is of a kind that needs Python; the message says how to get around it.
pub fn read_pickle(path: impl AsRef<Path>) -> Result<PickleValue> {
    let path = path.as_ref();
    let bytes = std::fs::read(path).map_err(|e| CheckpointError::io("read", path, e))?;
    parse_pickle(&bytes, path)
}

/// Reads the bytes of a file as [`read_pickle`] does; `path` serves the error messages only.
///
/// # Errors
/// They are cut off or damaged, or of a kind that needs Python.
pub fn parse_pickle(bytes: &[u8], path: &Path) -> Result<PickleValue> {
    let read = || -> Result<PickleValue, String> {
        if !bytes.starts_with(b"PK") {
            if bytes.starts_with(&OLD_FORMAT) {
                return Err("it is in PyTorch's format from before version 1.6".to_owned());
            }
            let (nodes, root) = machine::run(bytes)?;
            return Builder::new(&nodes, None, Budget::of(bytes.len())).value(root);
        }
        let mut archive = Archive::open(bytes)?;
        let program = archive.program()?;
        let (nodes, root) = machine::run(&program)?;
        Builder::new(&nodes, Some(&mut archive), Budget::of(bytes.len())).value(root)
    };
    read().map_err(|reason| CheckpointError::Pickle { path: path.to_path_buf(), reason })
}
