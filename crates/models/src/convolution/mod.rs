//! Convolutions over time.

pub(crate) mod bitcn;
pub(crate) mod tcn;
