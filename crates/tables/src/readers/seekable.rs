//! Files, or their bytes in memory, that are read from any place.

use std::io::{Read, Seek};

/// A file, or its bytes.
pub(super) trait Seekable: Read + Seek {}

impl<T: Read + Seek> Seekable for T {}
