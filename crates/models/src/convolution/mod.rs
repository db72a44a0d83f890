//! Convolutions over time.

pub(crate) mod tcn;
