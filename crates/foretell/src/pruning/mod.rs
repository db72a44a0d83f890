//! Smaller networks: without weights or units that count little.

pub(crate) mod options;
pub(crate) mod prune;
pub(crate) mod score;
