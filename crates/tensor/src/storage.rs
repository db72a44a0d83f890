//! The numbers behind a tensor: one reference-counted pool buffer. The only file of the crate with
//! `unsafe` code.

use std::fmt;
use std::sync::Arc;

use foretell_pool::{Buffer, Pod};

/// A buffer of `len` values that `write` fills.
///
/// `write` is handed memory of unspecified values (in debug builds NaN) and must write all of it
/// before it reads any of it: clearing first would cost a pass over memory per operation.
#[allow(unsafe_code)]
pub(crate) fn written<T: Pod>(len: usize, write: impl FnOnce(&mut [T])) -> Buffer<T> {
    // SAFETY: the memory is initialised, so whatever `write` does, nothing undefined happens. That
    // nothing is read before it is written, which `stale` also asks for, is the documented duty of
    // whoever passes `write`; debug builds poison the buffer with NaN, so a test that breaks it
    // sees NaN.
    let mut buffer = unsafe { Buffer::stale(len) };
    write(&mut buffer);
    buffer
}

/// A reference-counted `f32` buffer from the pool; tensors are views into one.
#[derive(Clone)]
pub struct Storage(Arc<Buffer<f32>>);

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Storage({} values)", self.0.len())
    }
}

impl Storage {
    /// Takes over a buffer.
    pub fn new(buffer: Buffer<f32>) -> Self {
        Self(Arc::new(buffer))
    }

    /// A buffer of `len` values that `write` fills, as [`written`].
    pub(crate) fn build(len: usize, write: impl FnOnce(&mut [f32])) -> Self {
        Self::new(written(len, write))
    }

    /// All values.
    pub fn values(&self) -> &[f32] {
        &self.0
    }

    /// All values, to be changed, if nothing else refers to them.
    pub fn unique(&mut self) -> Option<&mut [f32]> {
        Arc::get_mut(&mut self.0).map(|buffer| &mut buffer[..])
    }
}
