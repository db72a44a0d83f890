//! The numbers behind a tensor: one reference-counted pool buffer.

use std::fmt;
use std::sync::{Arc, OnceLock};

use foretell_gemm::Rounding;
use foretell_pool::{Buffer, Pod};

use crate::half_values::HalfValues;

/// A buffer of `len` values that `write` fills.
///
/// `write` is handed initialised memory of unspecified values (in debug builds NaN) and writes all of it before it
/// reads any of it: clearing first would cost a pass over memory per operation.
pub(crate) fn written<T: Pod>(len: usize, write: impl FnOnce(&mut [T])) -> Buffer<T> {
    let mut buffer = Buffer::stale(len);
    write(&mut buffer);
    buffer
}

/// A reference-counted `f32` buffer from the pool; tensors are views into one.
#[derive(Clone)]
pub struct Storage(Arc<Shared>);

struct Shared {
    values: Buffer<f32>,
    /// The same in 16 bits, where they are kept so.
    half: OnceLock<Arc<HalfValues>>,
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Storage({} values)", self.0.values.len())
    }
}

impl Storage {
    /// Takes over a buffer.
    pub fn new(buffer: Buffer<f32>) -> Self {
        Self(Arc::new(Shared { values: buffer, half: OnceLock::new() }))
    }

    /// A buffer of `len` values that `write` fills, as [`written`].
    pub(crate) fn build(len: usize, write: impl FnOnce(&mut [f32])) -> Self {
        Self::new(written(len, write))
    }

    /// Where it is in memory, as long as it is there.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// All values.
    pub fn values(&self) -> &[f32] {
        &self.0.values
    }

    /// All values, to be changed, if nothing else refers to them.
    pub fn unique(&mut self) -> Option<&mut [f32]> {
        Arc::get_mut(&mut self.0).map(|shared| {
            shared.half.take();
            &mut shared.values[..]
        })
    }

    /// All values in 16 bits; callers that ask for the same rounding share them.
    pub(crate) fn in_half(&self, rounding: Rounding) -> Arc<HalfValues> {
        let make = || Arc::new(HalfValues::of(&self.0.values, rounding));
        let first = self.0.half.get_or_init(make);
        if first.rounding() == rounding { first.clone() } else { make() }
    }
}
