//! The operations, one family a file.

pub(crate) mod arithmetic;
pub(crate) mod concat;
pub(crate) mod flip;
pub(crate) mod pad;
pub(crate) mod reduce;
pub(crate) mod slice;
