//! Layers and losses against PyTorch and neuralforecast, and blocks that are computed again.

mod layers;
mod losses;
mod recompute;
