//! PyTorch's classes that a network's training has.

/// PyTorch's optimisers that foretell has.
pub(crate) const OPTIMIZERS: [&str; 9] =
    ["Adam", "AdamW", "SGD", "RMSprop", "RAdam", "NAdam", "Adamax", "Adagrad", "Adadelta"];

/// PyTorch's schedules that foretell has, and our own.
pub(crate) const SCHEDULERS: [&str; 11] = [
    "StepLR", "MultiStepLR", "ExponentialLR", "ConstantLR", "LinearLR", "PolynomialLR", "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts", "OneCycleLR", "ReduceLROnPlateau", "CosineWarmup",
];
