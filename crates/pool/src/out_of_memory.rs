//! The panic's payload where the system has no memory.

use std::error::Error;
use std::fmt;
use std::panic::panic_any;

/// The payload of the panic of a thread that asks for a buffer for which the system has no memory, after all idle memory within reach
/// went back. Nothing is lost but the work of that thread: `catch_unwind` returns this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutOfMemory {
    /// The bytes that the system refused.
    pub bytes: usize,
}

impl OutOfMemory {
    #[cold]
    pub(crate) fn panic(bytes: usize) -> ! {
        panic_any(Self { bytes })
    }
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the system refused {} bytes of memory", self.bytes)
    }
}

impl Error for OutOfMemory {}
