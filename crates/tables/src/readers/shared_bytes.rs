//! The bytes of a file that several readers share.

use std::sync::Arc;

/// The bytes of a file, of which no reader needs a copy.
#[derive(Clone)]
pub(crate) struct SharedBytes(pub(super) Arc<Vec<u8>>);

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(feature = "parquet")]
impl From<SharedBytes> for bytes::Bytes {
    fn from(bytes: SharedBytes) -> Self {
        Self::from_owner(bytes)
    }
}
