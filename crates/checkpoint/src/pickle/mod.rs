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
use foretell_files::read_regular;
use value::{Budget, Builder};
pub use value::{PickleValue, PickledObject};

use crate::error::{CheckpointError, Result};

/// How files of PyTorch's old format begin: a pickle of the number 0x1950a86a20f9469cfc6c.
const OLD_FORMAT: [u8; 6] = [0x80, 0x02, 0x8a, 0x0a, 0x6c, 0xfc];

/// Reads a file that `torch.save` wrote (`.pt`, `.pth`, `.ckpt`), or one that Python's `pickle` wrote (`.pkl`). Nothing in it is
/// executed. Its objects may take `memory` bytes, beside the file itself and the numbers of its tensors, which are a constant factor of
/// its size.
///
/// # Errors
/// The file cannot be read, is cut off or damaged, takes more memory, or is of a kind that needs Python; the message says how to get
/// around it.
pub fn read_pickle(path: impl AsRef<Path>, memory: u64) -> Result<PickleValue> {
    let path = path.as_ref();
    parse_pickle(&read_regular(path)?, path, memory)
}

/// Reads the bytes of a file as [`read_pickle`] does; `path` serves the error messages only.
///
/// # Errors
/// They are cut off or damaged, take more memory, or are of a kind that needs Python.
pub fn parse_pickle(bytes: &[u8], path: &Path, memory: u64) -> Result<PickleValue> {
    // The nodes that instructions build and the values built from them exist at the same time.
    let most = usize::try_from(memory / 2).unwrap_or(usize::MAX);
    let read = || -> Result<PickleValue, String> {
        if !bytes.starts_with(b"PK") {
            if bytes.starts_with(&OLD_FORMAT) {
                return Err("it is in PyTorch's format from before version 1.6".to_owned());
            }
            let (nodes, root) = machine::run(bytes, most)?;
            return Builder::new(&nodes, None, Budget::of(bytes.len(), most)).value(root);
        }
        let mut archive = Archive::open(bytes)?;
        let program = archive.program()?;
        let (nodes, root) = machine::run(&program, most)?;
        // The bytes of tensors are in the archive, and are counted with the file.
        let most = most.saturating_add(bytes.len().saturating_mul(2));
        Builder::new(&nodes, Some(&mut archive), Budget::of(bytes.len(), most)).value(root)
    };
    read().map_err(|reason| CheckpointError::Pickle { path: path.to_path_buf(), reason })
}
