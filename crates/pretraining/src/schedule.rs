//! The learning rate: up, level, down (Hu et al. 2024, arXiv 2404.06395), so that a run can be prolonged until it begins to fall.

/// The learning rate of each step of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearningRate {
    /// The rate between rise and fall.
    pub peak: f64,
    /// Steps of the rise.
    pub warm_up: u64,
    /// Steps of the run.
    pub steps: u64,
    /// The share of the steps in which it falls to 0 at the end.
    pub decay: f64,
}

impl LearningRate {
    /// The rate of the step after `step` steps.
    pub fn at(&self, step: u64) -> f64 {
        let rise = (step + 1) as f64 / self.warm_up.max(1) as f64;
        let falling = (self.steps as f64 * self.decay).max(1.0);
        let fall = self.steps.saturating_sub(step) as f64 / falling;
        self.peak * rise.min(1.0) * fall.min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rises_stays_and_falls() {
        let rate = LearningRate { peak: 2.0, warm_up: 10, steps: 100, decay: 0.2 };
        assert_eq!([0, 4, 9, 50, 80].map(|step| rate.at(step)), [0.2, 1.0, 2.0, 2.0, 2.0]);
        assert!(
            (rate.at(90) - 1.0).abs() < 1e-12 && (rate.at(99) - 0.1).abs() < 1e-12 && rate.at(100) == 0.0
        );
    }
}
