//! The constants of the update rules, with PyTorch's defaults.

use crate::setters::setters;

/// The constants of Adam and its kin.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct AdamConfig {
    /// How much of the mean of gradients is kept each step.
    pub beta1: f64,
    /// How much of the mean of squared gradients is kept each step.
    pub beta2: f64,
    /// Added to the root of the second moment.
    pub eps: f64,
    /// Times the parameter, added to the gradient; by AdamW taken off the parameter.
    pub weight_decay: f64,
}

impl Default for AdamConfig {
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 0.0 }
    }
}

setters!(AdamConfig { beta1: f64, beta2: f64, eps: f64, weight_decay: f64 });

/// The constants of gradient descent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SgdConfig {
    /// How much of the velocity is kept each step; with 0 there is none.
    pub momentum: f64,
    /// Taken off the weight of the gradient in the velocity, except in the first step.
    pub dampening: f64,
    /// Whether the step looks ahead along the velocity (Sutskever et al. 2013).
    pub nesterov: bool,
    /// Times the parameter, added to the gradient.
    pub weight_decay: f64,
}

setters!(SgdConfig { momentum: f64, dampening: f64, nesterov: bool, weight_decay: f64 });

/// The constants of RMSprop.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RmsPropConfig {
    /// How much of the mean of squared gradients is kept each step.
    pub alpha: f64,
    /// Added to the root of that mean.
    pub eps: f64,
    /// How much of the velocity is kept each step; with 0 there is none.
    pub momentum: f64,
    /// Times the parameter, added to the gradient.
    pub weight_decay: f64,
}

impl Default for RmsPropConfig {
    fn default() -> Self {
        Self { alpha: 0.99, eps: 1e-8, momentum: 0.0, weight_decay: 0.0 }
    }
}

setters!(RmsPropConfig { alpha: f64, eps: f64, momentum: f64, weight_decay: f64 });

/// The constants of NAdam.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct NAdamConfig {
    /// Those that it has in common with Adam.
    pub adam: AdamConfig,
    /// How fast the momentum grows to beta1.
    pub momentum_decay: f64,
}

impl Default for NAdamConfig {
    fn default() -> Self {
        Self { adam: AdamConfig::default(), momentum_decay: 4e-3 }
    }
}

setters!(NAdamConfig { adam: AdamConfig, momentum_decay: f64 });

/// The constants of Adagrad.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct AdagradConfig {
    /// Step t has the rate divided by `1 + (t - 1) lr_decay`.
    pub lr_decay: f64,
    /// The sum of squared gradients before the first step.
    pub initial: f64,
    /// Added to the root of that sum.
    pub eps: f64,
    /// Times the parameter, added to the gradient.
    pub weight_decay: f64,
}

impl Default for AdagradConfig {
    fn default() -> Self {
        Self { lr_decay: 0.0, initial: 0.0, eps: 1e-10, weight_decay: 0.0 }
    }
}

setters!(AdagradConfig { lr_decay: f64, initial: f64, eps: f64, weight_decay: f64 });

/// The constants of Adadelta.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct AdadeltaConfig {
    /// How much of the means of squares is kept each step.
    pub rho: f64,
    /// Added to both means before their roots are taken.
    pub eps: f64,
    /// Times the parameter, added to the gradient.
    pub weight_decay: f64,
}

impl Default for AdadeltaConfig {
    fn default() -> Self {
        Self { rho: 0.9, eps: 1e-6, weight_decay: 0.0 }
    }
}

setters!(AdadeltaConfig { rho: f64, eps: f64, weight_decay: f64 });
