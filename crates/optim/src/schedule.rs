//! The learning rate over the steps of a training, as the schedules of PyTorch compute it.

use std::f64::consts::PI;
use std::sync::Arc;

use crate::setters::setters;

/// How large a step is.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Pace {
    /// The learning rate.
    pub rate: f64,
    /// The momentum in place of the rule's (of Adam's beta1), where the schedule changes it.
    pub momentum: Option<f64>,
}

setters!(Pace { momentum: Option<f64> });

impl From<f64> for Pace {
    fn from(rate: f64) -> Self {
        Self { rate, momentum: None }
    }
}

/// The rate as a function of the step, or of the validation loss.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Schedule {
    /// A factor every this many steps.
    StepDecay(StepDecay),
    /// A factor at certain steps.
    Milestones(Milestones),
    /// From one share of the rate to another, then the same.
    Ramp(Ramp),
    /// Down to nothing along a power.
    Polynomial(Polynomial),
    /// Half a wave down, and up again.
    Cosine(Cosine),
    /// Half a wave down, again and again.
    WarmRestarts(WarmRestarts),
    /// A line up, then half a wave down.
    CosineWarmup(CosineWarmup),
    /// Up, and down to almost nothing.
    OneCycle(OneCycle),
    /// A factor where the validation loss does not fall.
    Plateau(Plateau),
}

impl Schedule {
    /// The same rate in every step.
    pub fn constant(rate: f64) -> Self {
        Self::StepDecay(StepDecay { initial: rate, every: u64::MAX, factor: 1.0 })
    }

    /// The pace of step `step`, counted from 0.
    ///
    /// # Panics
    /// If a constant is one that it has no rates with; [`Schedule::check`] returns it.
    #[track_caller]
    pub fn at(&self, step: u64) -> Pace {
        self.check().unwrap_or_else(|error| panic!("{error}"));
        match self {
            Self::StepDecay(schedule) => schedule.rate(step).into(),
            Self::Milestones(schedule) => schedule.rate(step).into(),
            Self::Ramp(schedule) => schedule.rate(step).into(),
            Self::Polynomial(schedule) => schedule.rate(step).into(),
            Self::Cosine(schedule) => schedule.rate(step).into(),
            Self::WarmRestarts(schedule) => schedule.rate(step).into(),
            Self::CosineWarmup(schedule) => schedule.rate(step).into(),
            Self::OneCycle(schedule) => schedule.at(step),
            Self::Plateau(schedule) => schedule.rate.into(),
        }
    }

    /// Takes in the loss of a check on the validation windows.
    pub fn observe(&mut self, loss: f64) {
        if let Self::Plateau(schedule) = self {
            schedule.observe(loss);
        }
    }

    /// Whether the rate is the same in each of this many steps.
    pub fn is_constant_for(&self, steps: u64) -> bool {
        matches!(self, Self::StepDecay(decay) if decay.every >= steps || decay.factor == 1.0)
    }

    /// Whether it needs validation windows.
    pub fn watches(&self) -> bool {
        matches!(self, Self::Plateau(_))
    }
}

/// A rate that is multiplied by `factor` every `every` steps (`torch.optim.lr_scheduler.StepLR`).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct StepDecay {
    /// The rate of the first step.
    pub initial: f64,
    /// Steps between two changes; at least 1.
    pub every: u64,
    /// The factor of the rate.
    pub factor: f64,
}

setters!(StepDecay { factor: f64 });

impl StepDecay {
    /// A tenth of the rate after each `every` steps.
    pub fn new(initial: f64, every: u64) -> Self {
        Self { initial, every, factor: 0.1 }
    }

    /// neuralforecast's rule: `decays` halvings spread evenly over `steps` steps; none where `decays` is
    /// not positive.
    pub fn halvings(initial: f64, decays: i64, steps: u64) -> Self {
        let every =
            u64::try_from(decays).ok().and_then(|decays| steps.checked_div(decays)).unwrap_or(u64::MAX);
        Self { initial, every: every.max(1), factor: 0.5 }
    }

    fn rate(&self, step: u64) -> f64 {
        self.initial * self.factor.powi((step / self.every).min(i32::MAX as u64) as i32)
    }
}

/// A rate that is multiplied by `factor` at each of these steps, as often as a step stands among them
/// (`torch.optim.lr_scheduler.MultiStepLR`).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Milestones {
    /// The rate of the first step.
    pub initial: f64,
    /// Steps at which the rate changes, in any order.
    pub steps: Arc<[u64]>,
    /// The factor of the rate.
    pub factor: f64,
}

setters!(Milestones { factor: f64 });

impl Milestones {
    /// A tenth of the rate from each of these steps on.
    pub fn new(initial: f64, steps: impl Into<Arc<[u64]>>) -> Self {
        Self { initial, steps: steps.into(), factor: 0.1 }
    }

    fn rate(&self, step: u64) -> f64 {
        let passed = self.steps.iter().filter(|&&milestone| milestone <= step).count();
        self.initial * self.factor.powi(passed.min(i32::MAX as usize) as i32)
    }
}

/// A line from the share `from` of the rate to the share `to` within `steps` steps, and that share from then on
/// (`torch.optim.lr_scheduler.LinearLR`; with `jump`, the first share until then, as `ConstantLR`).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ramp {
    /// The rate that the shares are of.
    pub rate: f64,
    /// The first share.
    pub from: f64,
    /// The last share.
    pub to: f64,
    /// Steps to the last share.
    pub steps: u64,
    /// Whether nothing is between the two.
    pub jump: bool,
}

setters!(Ramp { from: f64, to: f64, jump: bool });

impl Ramp {
    /// A line from a third of the rate to all of it.
    pub fn new(rate: f64, steps: u64) -> Self {
        Self { rate, from: 1.0 / 3.0, to: 1.0, steps, jump: false }
    }

    fn rate(&self, step: u64) -> f64 {
        let done = match (step >= self.steps, self.jump) {
            (true, _) => 1.0,
            (false, true) => 0.0,
            (false, false) => step as f64 / self.steps as f64,
        };
        self.rate * (self.from + (self.to - self.from) * done)
    }
}

/// `initial (1 - step / steps)^power`, and nothing from step `steps` on (`torch.optim.lr_scheduler.PolynomialLR`).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Polynomial {
    /// The rate of the first step.
    pub initial: f64,
    /// Steps of all; at least 1.
    pub steps: u64,
    /// The power.
    pub power: f64,
}

setters!(Polynomial { power: f64 });

impl Polynomial {
    /// A line down to nothing.
    pub fn new(initial: f64, steps: u64) -> Self {
        Self { initial, steps, power: 1.0 }
    }

    fn rate(&self, step: u64) -> f64 {
        self.initial * (1.0 - step.min(self.steps) as f64 / self.steps as f64).powf(self.power)
    }
}

/// A cosine from `initial` to `floor`, which starts again after `first` steps and then each time after `factor` times as many
/// (`torch.optim.lr_scheduler.CosineAnnealingWarmRestarts`; Loshchilov and Hutter 2017, section 3).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct WarmRestarts {
    /// The rate of each start.
    pub initial: f64,
    /// The rate that a wave goes down to.
    pub floor: f64,
    /// Steps of the first wave; at least 1.
    pub first: u64,
    /// How many times as long each wave is as the one before; at least 1.
    pub factor: u64,
}

setters!(WarmRestarts { floor: f64, factor: u64 });

impl WarmRestarts {
    /// Waves of `first` steps each, down to nothing.
    pub fn new(initial: f64, first: u64) -> Self {
        Self { initial, floor: 0.0, first, factor: 1 }
    }

    fn rate(&self, step: u64) -> f64 {
        let (mut start, mut len) = (0, self.first);
        if self.factor == 1 {
            start = step - step % len;
        }
        while step - start >= len {
            (start, len) = (start + len, len.saturating_mul(self.factor));
        }
        cosine(self.initial, self.floor, (step - start) as f64 / len as f64)
    }
}

/// A cosine from `initial` to `floor` within `steps` steps, and back within as many
/// (`torch.optim.lr_scheduler.CosineAnnealingLR`; Loshchilov and Hutter 2017, equation 5).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cosine {
    /// The rate of the first step.
    pub initial: f64,
    /// The least rate.
    pub floor: f64,
    /// Steps down; at least 1.
    pub steps: u64,
}

setters!(Cosine { floor: f64 });

impl Cosine {
    /// A wave whose least rate is nothing.
    pub fn new(initial: f64, steps: u64) -> Self {
        Self { initial, floor: 0.0, steps }
    }

    fn rate(&self, step: u64) -> f64 {
        cosine(self.initial, self.floor, step as f64 / self.steps as f64)
    }
}

/// A line that rises to `peak` in `warmup` steps, and a cosine down to `floor`, which is reached at step
/// `steps` and kept.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CosineWarmup {
    /// The largest rate, that of step `warmup`.
    pub peak: f64,
    /// The last rate.
    pub floor: f64,
    /// Steps before the peak.
    pub warmup: u64,
    /// Steps of all; more than `warmup`.
    pub steps: u64,
}

setters!(CosineWarmup { floor: f64 });

impl CosineWarmup {
    /// A rise of `warmup` of all `steps`, and a fall to nothing.
    pub fn new(peak: f64, warmup: u64, steps: u64) -> Self {
        Self { peak, floor: 0.0, warmup, steps }
    }

    fn rate(&self, step: u64) -> f64 {
        if step < self.warmup {
            return self.peak * (step + 1) as f64 / (self.warmup + 1) as f64;
        }
        let done = (step - self.warmup) as f64 / (self.steps - self.warmup) as f64;
        cosine(self.peak, self.floor, done.min(1.0))
    }
}

/// A rise to `peak` and a fall far below the first rate (`torch.optim.lr_scheduler.OneCycleLR`; Smith and Topin
/// 2018). The momentum, where it takes part, does the opposite.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct OneCycle {
    /// The first rate.
    pub initial: f64,
    /// The largest rate.
    pub peak: f64,
    /// The last rate.
    pub floor: f64,
    /// Steps of all; at least 1.
    pub steps: u64,
    /// The share of the steps that the rise takes.
    pub rise: f64,
    /// Whether the fall is first one to the first rate, of as many steps as the rise, and then one to the last.
    pub three_phase: bool,
    /// Whether rises and falls are lines instead of cosines.
    pub linear: bool,
    /// The momentum at the peak and at the first rate.
    pub momentum: Option<[f64; 2]>,
}

setters!(OneCycle {
    initial: f64,
    floor: f64,
    rise: f64,
    three_phase: bool,
    linear: bool,
    momentum: Option<[f64; 2]>,
});

impl OneCycle {
    /// A rise from a 25th of the largest rate within three tenths of the steps, a fall to a 10,000th of the first one, and a
    /// momentum of 0.85 at the peak and 0.95 at the first rate: PyTorch's defaults.
    pub fn new(peak: f64, steps: u64) -> Self {
        let initial = peak / 25.0;
        let (floor, momentum) = (initial / 1e4, Some([0.85, 0.95]));
        Self { initial, peak, floor, steps, rise: 0.3, three_phase: false, linear: false, momentum }
    }

    fn at(&self, step: u64) -> Pace {
        let (rise, last) = (self.rise * self.steps as f64, self.steps as f64 - 1.0);
        // Where each phase ends, and the rate and the height of the cycle at that step.
        let up = (rise - 1.0, self.peak, 1.0);
        let (back, down) = ((2.0 * rise - 2.0, self.initial, 0.0), (last, self.floor, 0.0));
        let phases = if self.three_phase { &[up, back, down][..] } else { &[up, down] };
        let step = step as f64;
        let (mut start, mut from) = (0.0, (self.initial, 0.0));
        let place = phases.iter().position(|(end, ..)| step <= *end).unwrap_or(phases.len() - 1);
        for &(end, rate, height) in &phases[..place] {
            (start, from) = (end, (rate, height));
        }
        let (end, rate, height) = phases[place];
        let done = if end > start { (step - start) / (end - start) } else { 1.0 };
        let anneal = |from: f64, to: f64| match self.linear {
            true => (to - from) * done + from,
            false => cosine(from, to, done),
        };
        let momentum = self.momentum.map(|[base, max]| {
            let at = |height: f64| if height == 1.0 { base } else { max };
            anneal(at(from.1), at(height))
        });
        Pace { rate: anneal(from.0, rate), momentum }
    }
}

/// A rate that is multiplied by `factor` after more than `patience` checks of the validation loss without a new
/// best one (`torch.optim.lr_scheduler.ReduceLROnPlateau`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plateau {
    pub(crate) rate: f64,
    pub(crate) config: PlateauConfig,
    best: f64,
    bad: u64,
    cooling: u64,
}

/// The constants of a [`Plateau`], with PyTorch's defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlateauConfig {
    /// The factor of the rate; below 1.
    pub factor: f64,
    /// Checks without a new best one that are borne.
    pub patience: u64,
    /// How much better a new best loss must be.
    pub threshold: f64,
    /// Whether `threshold` is a share of the best loss; a difference otherwise.
    pub relative: bool,
    /// Checks after a change that do not count.
    pub cooldown: u64,
    /// The least rate.
    pub floor: f64,
    /// Changes of the rate that are no larger than this are not made.
    pub eps: f64,
}

impl Default for PlateauConfig {
    fn default() -> Self {
        Self {
            factor: 0.1,
            patience: 10,
            threshold: 1e-4,
            relative: true,
            cooldown: 0,
            floor: 0.0,
            eps: 1e-8,
        }
    }
}

setters!(PlateauConfig {
    factor: f64,
    patience: u64,
    threshold: f64,
    relative: bool,
    cooldown: u64,
    floor: f64,
    eps: f64,
});

impl Plateau {
    /// A schedule that starts with this rate.
    pub fn new(initial: f64, config: PlateauConfig) -> Self {
        Self { rate: initial, config, best: f64::INFINITY, bad: 0, cooling: 0 }
    }

    fn observe(&mut self, loss: f64) {
        let PlateauConfig { factor, patience, threshold, relative, cooldown, floor, eps } = self.config;
        let bar = if relative { self.best * (1.0 - threshold) } else { self.best - threshold };
        if loss < bar {
            (self.best, self.bad) = (loss, 0);
        } else {
            self.bad += 1;
        }
        if self.cooling > 0 {
            (self.cooling, self.bad) = (self.cooling - 1, 0);
        }
        if self.bad > patience {
            let lower = (self.rate * factor).max(floor);
            if self.rate - lower > eps {
                self.rate = lower;
            }
            (self.cooling, self.bad) = (cooldown, 0);
        }
    }
}

/// Half a wave from `from` to `to`, of which the share `done` is done.
fn cosine(from: f64, to: f64, done: f64) -> f64 {
    to + (from - to) / 2.0 * (1.0 + (PI * done).cos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_rate_stays() {
        let schedule = Schedule::constant(0.25);
        assert!([0, 1, 1000, u64::MAX].map(|step| schedule.at(step)) == [Pace::from(0.25); 4]);
        assert!(!schedule.watches());
    }

    #[test]
    fn three_halvings_in_ten_steps() {
        let schedule = StepDecay::halvings(1.0, 3, 10);
        let rates: Vec<f64> = (0..10).map(|step| schedule.rate(step)).collect();
        assert_eq!(rates, [1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125]);
    }

    #[test]
    fn no_decay_and_more_decays_than_steps() {
        assert_eq!(StepDecay::halvings(0.1, -1, 100).rate(99), 0.1);
        assert_eq!(StepDecay::halvings(0.1, 0, 100).rate(99), 0.1);
        assert_eq!(StepDecay::halvings(1.0, 8, 4).rate(2), 0.25);
    }

    #[test]
    fn a_warm_up_rises_by_equal_steps_to_the_peak() {
        let schedule = CosineWarmup { peak: 1.0, floor: 0.2, warmup: 3, steps: 7 };
        let rates: Vec<f64> = (0..9).map(|step| schedule.rate(step)).collect();
        let half = 0.4 * (1.0 + (PI / 4.0).cos());
        let expected = [0.25, 0.5, 0.75, 1.0, 0.2 + half, 0.6, 1.0 - half, 0.2, 0.2];
        for (found, expected) in rates.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{rates:?}");
        }
        assert_eq!(CosineWarmup { warmup: 0, ..schedule }.rate(0), 1.0);
    }

    #[test]
    fn a_cycle_of_very_few_steps_has_rates() {
        for steps in 1..6 {
            for (rise, three_phase) in [(0.0, false), (0.3, false), (0.3, true), (1.0, false), (0.5, true)] {
                let schedule = OneCycle {
                    initial: 0.1,
                    peak: 1.0,
                    floor: 0.0,
                    steps,
                    rise,
                    three_phase,
                    linear: true,
                    momentum: None,
                };
                for step in 0..steps {
                    let rate = schedule.at(step).rate;
                    assert!((0.0..=1.0).contains(&rate), "{schedule:?}: {rate} at step {step}");
                }
            }
        }
    }
}
