//! The learning rate over the steps of a training.

/// A rate that is multiplied by `factor` every `every` steps (`torch.optim.lr_scheduler.StepLR`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepDecay {
    /// The rate of the first step.
    pub initial: f64,
    /// Steps between two changes; at least 1.
    pub every: u64,
    /// What the rate is multiplied by.
    pub factor: f64,
}

impl StepDecay {
    /// neuralforecast's rule: `decays` halvings spread evenly over `steps` steps; none where `decays` is
    /// not positive.
    pub fn halvings(initial: f64, decays: i64, steps: u64) -> Self {
        let every =
            u64::try_from(decays).ok().and_then(|decays| steps.checked_div(decays)).unwrap_or(u64::MAX);
        Self { initial, every: every.max(1), factor: 0.5 }
    }

    /// The rate of step `step`, counted from 0.
    pub fn rate(&self, step: u64) -> f64 {
        self.initial * self.factor.powi((step / self.every).min(i32::MAX as u64) as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
