//! Windows of a panel: which there are, which are drawn, and how they are scaled and written into slices.

pub(crate) mod cut;
pub(crate) mod cutter;
mod grid;
mod ranks;
pub(crate) mod sampler;
pub(crate) mod scaler;
pub(crate) mod spec;
