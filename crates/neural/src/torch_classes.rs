//! PyTorch's classes that a network's training has.

/// PyTorch's optimisers that foretell has.
pub(crate) const OPTIMIZERS: [&str; 5] = ["Adam", "AdamW", "SGD", "RMSprop", "RAdam"];

/// PyTorch's schedules that foretell has, and our own.
pub(crate) const SCHEDULERS: [&str; 5] =
    ["StepLR", "CosineAnnealingLR", "OneCycleLR", "ReduceLROnPlateau", "CosineWarmup"];
