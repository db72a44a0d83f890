//! The ranges of the constants of each update rule.

use crate::bad_constant::BadConstant;
use crate::constants::{AdadeltaConfig, AdagradConfig, AdamConfig, NAdamConfig, RmsPropConfig, SgdConfig};
use crate::rule::Rule;

type Checked = Result<(), BadConstant>;

pub(crate) fn require(holds: bool, name: &'static str, expected: &'static str, found: f64) -> Checked {
    if holds { Ok(()) } else { Err(BadConstant { name, of: "an optimiser", expected, found }) }
}

/// The share of something that is kept.
pub(crate) fn share(name: &'static str, found: f64) -> Checked {
    require((0.0..1.0).contains(&found), name, "from 0 to below 1", found)
}

pub(crate) fn at_least_0(name: &'static str, found: f64) -> Checked {
    require(found >= 0.0 && found.is_finite(), name, "a finite number of at least 0", found)
}

impl Rule {
    /// Whether its constants are ones that it can train with.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> Result<(), BadConstant> {
        match *self {
            Self::Adam(config) | Self::AdamW(config) | Self::RAdam(config) | Self::Adamax(config) => {
                adam(config)
            }
            Self::NAdam(NAdamConfig { adam: config, momentum_decay }) => {
                adam(config)?;
                at_least_0("momentum_decay", momentum_decay)
            }
            Self::Sgd(SgdConfig { momentum, dampening, weight_decay, .. }) => {
                at_least_0("momentum", momentum)?;
                require(dampening.is_finite(), "dampening", "a finite number", dampening)?;
                at_least_0("weight_decay", weight_decay)
            }
            Self::RmsProp(RmsPropConfig { alpha, eps, momentum, weight_decay }) => {
                require((0.0..=1.0).contains(&alpha), "alpha", "from 0 to 1", alpha)?;
                at_least_0("eps", eps)?;
                at_least_0("momentum", momentum)?;
                at_least_0("weight_decay", weight_decay)
            }
            Self::Adagrad(AdagradConfig { lr_decay, initial, eps, weight_decay }) => {
                at_least_0("lr_decay", lr_decay)?;
                at_least_0("initial", initial)?;
                at_least_0("eps", eps)?;
                at_least_0("weight_decay", weight_decay)
            }
            Self::Adadelta(AdadeltaConfig { rho, eps, weight_decay }) => {
                require((0.0..=1.0).contains(&rho), "rho", "from 0 to 1", rho)?;
                at_least_0("eps", eps)?;
                at_least_0("weight_decay", weight_decay)
            }
        }
    }
}

fn adam(AdamConfig { beta1, beta2, eps, weight_decay }: AdamConfig) -> Checked {
    share("beta1", beta1)?;
    share("beta2", beta2)?;
    at_least_0("eps", eps)?;
    at_least_0("weight_decay", weight_decay)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clip, Optimizer, Pace};

    #[test]
    fn constants_that_cannot_train_are_refused_by_name() {
        let adam = AdamConfig::default();
        for (rule, name) in [
            (Rule::Adam(AdamConfig { beta2: 1.5, ..adam }), "beta2"),
            (Rule::AdamW(AdamConfig { beta1: f64::NAN, ..adam }), "beta1"),
            (Rule::RAdam(AdamConfig { eps: -1.0, ..adam }), "eps"),
            (Rule::Adamax(AdamConfig { weight_decay: f64::INFINITY, ..adam }), "weight_decay"),
            (Rule::NAdam(NAdamConfig { adam, momentum_decay: -1.0 }), "momentum_decay"),
            (Rule::Sgd(SgdConfig { momentum: -0.1, ..SgdConfig::default() }), "momentum"),
            (Rule::RmsProp(RmsPropConfig { alpha: 1.1, ..RmsPropConfig::default() }), "alpha"),
            (Rule::Adagrad(AdagradConfig { initial: -1.0, ..AdagradConfig::default() }), "initial"),
            (Rule::Adadelta(AdadeltaConfig { rho: 2.0, ..AdadeltaConfig::default() }), "rho"),
        ] {
            assert_eq!(Optimizer::try_new(1, rule, None).unwrap_err().name, name);
        }
        for clip in [Clip::Norm(-1.0), Clip::Value(f64::NAN)] {
            let message = Optimizer::try_new(1, Rule::default(), Some(clip)).unwrap_err().to_string();
            assert!(
                message.contains("the bound of a gradient of an optimiser must be at least 0"),
                "{message}"
            );
        }
        assert!(Optimizer::try_new(1, Rule::default(), Some(Clip::Norm(f64::INFINITY))).is_ok());
    }

    #[test]
    #[should_panic(expected = "beta2 of an optimiser must be from 0 to below 1, found 1.5")]
    fn an_optimiser_of_such_constants_is_not_made() {
        Optimizer::new(1, Rule::Adam(AdamConfig { beta2: 1.5, ..AdamConfig::default() }), None);
    }

    #[test]
    #[should_panic(expected = "beta1 of an optimiser must be from 0 to below 1, found 1")]
    fn a_momentum_that_never_forgets_is_no_step() {
        let pace = Pace::from(0.1).momentum(Some(1.0));
        Optimizer::new(1, Rule::default(), None).step(&mut [1.0], &[&[1.0]], pace);
    }

    #[test]
    #[should_panic(expected = "a step at a rate of NaN")]
    fn a_rate_that_is_no_number_is_no_step() {
        Optimizer::new(1, Rule::default(), None).step(&mut [1.0], &[&[1.0]], f64::NAN);
    }
}
