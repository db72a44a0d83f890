//! Update rules: how a gradient changes parameters, as the optimisers of PyTorch compute it.

use foretell_simd::{self as simd, AdamStep, RmsPropStep, SgdStep};

use crate::adaptive::{Numbers, adadelta, adagrad, adamax, nadam};
use crate::constants::{AdadeltaConfig, AdagradConfig, AdamConfig, NAdamConfig, RmsPropConfig, SgdConfig};

/// An update rule and its constants. The rate comes with each step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Rule {
    /// `torch.optim.Adam` (Kingma and Ba 2015, algorithm 1).
    Adam(AdamConfig),
    /// `torch.optim.AdamW` (Loshchilov and Hutter 2019, algorithm 2): the weight decay, times the rate, is
    /// taken off the parameters.
    AdamW(AdamConfig),
    /// `torch.optim.RAdam` (Liu et al. 2020, algorithm 2).
    RAdam(AdamConfig),
    /// `torch.optim.SGD`.
    Sgd(SgdConfig),
    /// `torch.optim.RMSprop` without centring (Hinton 2012, lecture 6e).
    RmsProp(RmsPropConfig),
    /// `torch.optim.NAdam` (Dozat 2016).
    NAdam(NAdamConfig),
    /// `torch.optim.Adamax` (Kingma and Ba 2015, algorithm 2).
    Adamax(AdamConfig),
    /// `torch.optim.Adagrad` (Duchi, Hazan, Singer 2011).
    Adagrad(AdagradConfig),
    /// `torch.optim.Adadelta` (Zeiler 2012, algorithm 1).
    Adadelta(AdadeltaConfig),
}

impl Default for Rule {
    fn default() -> Self {
        Self::Adam(AdamConfig::default())
    }
}

impl Rule {
    /// PyTorch's names of the numbers that are kept for each parameter.
    pub fn state_names(&self) -> &'static [&'static str] {
        match self {
            Self::Adam(_) | Self::AdamW(_) | Self::RAdam(_) | Self::NAdam(_) => &["exp_avg", "exp_avg_sq"],
            Self::Adamax(_) => &["exp_avg", "exp_inf"],
            Self::Adagrad(_) => &["sum"],
            Self::Adadelta(_) => &["square_avg", "acc_delta"],
            Self::Sgd(SgdConfig { momentum, .. }) if *momentum == 0.0 => &[],
            Self::Sgd(_) => &["momentum_buffer"],
            Self::RmsProp(RmsPropConfig { momentum, .. }) if *momentum == 0.0 => &["square_avg"],
            Self::RmsProp(_) => &["square_avg", "momentum_buffer"],
        }
    }

    /// The rule with another momentum, which is what Adam and its kin call beta1; itself, if it has none or, as NAdam, changes
    /// it by a schedule of its own.
    pub fn with_momentum(mut self, new: f64) -> Self {
        match &mut self {
            Self::Adam(config) | Self::AdamW(config) | Self::RAdam(config) | Self::Adamax(config) => {
                config.beta1 = new;
            }
            Self::NAdam(_) | Self::Adagrad(_) | Self::Adadelta(_) => {}
            Self::Sgd(config) => config.momentum = new,
            Self::RmsProp(config) => config.momentum = new,
        }
        self
    }

    /// Step number `step`, counted from 1, of these parameters at rate `lr`.
    pub(crate) fn apply(
        &self,
        lr: f64,
        step: u64,
        params: &mut [f32],
        grads: &[f32],
        [first, second]: [&mut [f32]; 2],
    ) {
        let adam = |AdamConfig { beta1, beta2, eps, weight_decay }| AdamStep {
            lr,
            beta1,
            beta2,
            eps,
            weight_decay,
            step,
        };
        let numbers = |params, first, second| Numbers { params, grads, first, second };
        match *self {
            Self::NAdam(config) => nadam(numbers(params, first, second), lr, step, config),
            Self::Adamax(config) => adamax(numbers(params, first, second), lr, step, config),
            Self::Adagrad(config) => adagrad(numbers(params, first, second), lr, step, config),
            Self::Adadelta(config) => adadelta(numbers(params, first, second), lr, config),
            Self::Adam(config) => simd::adam(params, grads, first, second, &adam(config)),
            Self::AdamW(config) => simd::adamw(params, grads, first, second, &adam(config)),
            Self::RAdam(config) => simd::radam(params, grads, first, second, &adam(config)),
            Self::Sgd(SgdConfig { momentum, dampening, nesterov, weight_decay }) => {
                let at = SgdStep { lr, momentum, dampening, nesterov, weight_decay, step };
                simd::sgd(params, grads, first, &at);
            }
            Self::RmsProp(RmsPropConfig { alpha, eps, momentum, weight_decay }) => {
                let at = RmsPropStep { lr, alpha, eps, weight_decay, momentum };
                simd::rmsprop(params, grads, first, second, &at);
            }
        }
    }
}
