//! The ranges of the constants of schedules.

use crate::bad_constant::BadConstant;
use crate::check::{at_least_0, require, share};
use crate::schedule::{
    Cosine, CosineWarmup, Milestones, OneCycle, PlateauConfig, Polynomial, Ramp, Schedule, StepDecay,
    WarmRestarts,
};

impl Schedule {
    /// Whether its constants are ones that it has rates with.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> Result<(), BadConstant> {
        self.constants().map_err(|bad| BadConstant { of: "a schedule", ..bad })
    }

    fn constants(&self) -> Result<(), BadConstant> {
        match self {
            Self::StepDecay(StepDecay { initial, every, factor }) => {
                at_least_0("initial", *initial)?;
                at_least_1("every", *every)?;
                at_least_0("factor", *factor)
            }
            Self::Milestones(Milestones { initial, steps: _, factor }) => {
                at_least_0("initial", *initial)?;
                at_least_0("factor", *factor)
            }
            Self::Ramp(Ramp { rate, from, to, steps: _, jump: _ }) => {
                at_least_0("rate", *rate)?;
                at_least_0("from", *from)?;
                at_least_0("to", *to)
            }
            Self::Polynomial(Polynomial { initial, steps, power }) => {
                at_least_0("initial", *initial)?;
                at_least_1("steps", *steps)?;
                at_least_0("power", *power)
            }
            Self::Cosine(Cosine { initial, floor, steps }) => {
                at_least_0("initial", *initial)?;
                at_least_0("floor", *floor)?;
                at_least_1("steps", *steps)
            }
            Self::WarmRestarts(WarmRestarts { initial, floor, first, factor }) => {
                at_least_0("initial", *initial)?;
                at_least_0("floor", *floor)?;
                at_least_1("first", *first)?;
                at_least_1("factor", *factor)
            }
            Self::CosineWarmup(CosineWarmup { peak, floor, warmup, steps }) => {
                at_least_0("peak", *peak)?;
                at_least_0("floor", *floor)?;
                require(steps > warmup, "steps", "more than its warmup", *steps as f64)
            }
            Self::OneCycle(cycle) => {
                let OneCycle { initial, peak, floor, steps, rise, momentum, three_phase: _, linear: _ } =
                    cycle;
                at_least_0("initial", *initial)?;
                at_least_0("peak", *peak)?;
                at_least_0("floor", *floor)?;
                at_least_1("steps", *steps)?;
                require((0.0..=1.0).contains(rise), "rise", "from 0 to 1", *rise)?;
                // Whether it must be below 1 is the rule's to say, which a step asks.
                momentum.iter().flatten().try_for_each(|momentum| at_least_0("momentum", *momentum))
            }
            Self::Plateau(plateau) => {
                let PlateauConfig { factor, threshold, floor, eps, .. } = plateau.config;
                at_least_0("rate", plateau.rate)?;
                share("factor", factor)?;
                at_least_0("threshold", threshold)?;
                at_least_0("floor", floor)?;
                at_least_0("eps", eps)
            }
        }
    }
}

fn at_least_1(name: &'static str, found: u64) -> Result<(), BadConstant> {
    require(found > 0, name, "at least 1", found as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Plateau;
    use crate::{Optimizer, Rule, SgdConfig};

    #[test]
    fn constants_without_rates_are_refused_by_name() {
        let plateau = |config| Schedule::Plateau(Plateau::new(0.1, config));
        for (schedule, name) in [
            (Schedule::constant(f64::NAN), "initial"),
            (Schedule::StepDecay(StepDecay::new(0.1, 0)), "every"),
            (Schedule::Milestones(Milestones::new(0.1, [5_u64]).factor(-1.0)), "factor"),
            (Schedule::Ramp(Ramp::new(0.1, 5).to(f64::INFINITY)), "to"),
            (Schedule::Polynomial(Polynomial::new(0.1, 0)), "steps"),
            (Schedule::Cosine(Cosine::new(0.1, 5).floor(-0.1)), "floor"),
            (Schedule::WarmRestarts(WarmRestarts::new(0.1, 5).factor(0)), "factor"),
            (Schedule::CosineWarmup(CosineWarmup::new(0.1, 5, 5)), "steps"),
            (Schedule::OneCycle(OneCycle::new(0.1, 5).rise(1.5)), "rise"),
            (Schedule::OneCycle(OneCycle::new(0.1, 0)), "steps"),
            (Schedule::OneCycle(OneCycle::new(0.1, 5).momentum(Some([0.9, -0.1]))), "momentum"),
            (plateau(PlateauConfig::default().factor(1.0)), "factor"),
        ] {
            let error = schedule.check().unwrap_err();
            assert_eq!(error.name, name, "{schedule:?}");
            assert!(error.to_string().starts_with(&format!("{name} of a schedule must be ")), "{error}");
        }
        assert_eq!(plateau(PlateauConfig::default()).check(), Ok(()));
        assert_eq!(Schedule::OneCycle(OneCycle::new(0.1, 5)).check(), Ok(()));
    }

    /// Velocities of SGD may grow, averages of Adam may not.
    #[test]
    fn the_momentum_of_a_cycle_is_one_that_the_rule_can_have() {
        let cycle = OneCycle::new(0.1, 5).linear(true).momentum(Some([0.9, 1.0]));
        let pace = Schedule::OneCycle(cycle).at(0);
        assert_eq!(pace.momentum, Some(1.0));
        let mut params = [1.0];
        let rule = Rule::Sgd(SgdConfig::default().momentum(0.9));
        Optimizer::new(1, rule, None).step(&mut params, &[&[1.0]], pace);
        assert!(params[0] < 1.0, "{params:?}");
        assert!(Rule::default().with_momentum(1.0).check().is_err());
    }

    /// Its waves would never end.
    #[test]
    #[should_panic(expected = "factor of a schedule must be at least 1, found 0")]
    fn a_schedule_of_such_constants_has_no_rate() {
        Schedule::WarmRestarts(WarmRestarts::new(0.1, 5).factor(0)).at(7);
    }
}
