//! The distribution of each step, by its quantiles.

use crate::error::SimulationError;

/// The quantiles of each step of a horizon.
#[derive(Clone, Copy, Debug)]
pub struct Marginals<'a> {
    levels: &'a [f64],
    values: &'a [f64],
}

impl<'a> Marginals<'a> {
    /// The `values [steps, levels]` of the quantiles of these levels, upwards. Where one is missing (NaN), so are the samples beside
    /// it.
    ///
    /// # Errors
    /// If there are fewer than two levels, they do not rise between 0 and 1, or there are not as many values for each step.
    pub fn new(levels: &'a [f64], values: &'a [f64]) -> Result<Self, SimulationError> {
        let rise = levels.windows(2).all(|pair| pair[0] < pair[1]);
        let are_shares = levels.iter().all(|&level| level > 0.0 && level < 1.0);
        if levels.len() < 2 || !rise || !are_shares {
            return Err(SimulationError::Levels { found: levels.to_vec() });
        }
        match values.len().is_multiple_of(levels.len()) {
            true => Ok(Self { levels, values }),
            false => Err(SimulationError::Values { values: values.len(), levels: levels.len() }),
        }
    }

    /// Steps of the horizon.
    pub fn horizon(&self) -> usize {
        self.values.len() / self.levels.len()
    }

    /// The lowest and the highest level: nothing is known beyond them.
    pub(crate) fn ends(&self) -> (f64, f64) {
        (self.levels[0], self.levels[self.levels.len() - 1])
    }

    /// The quantile of a step at a level between the ends, on the line between the two around it.
    pub(crate) fn value(&self, step: usize, level: f64) -> f64 {
        let levels = self.levels;
        let values = &self.values[step * levels.len()..][..levels.len()];
        let high = levels.partition_point(|&known| known < level).clamp(1, levels.len() - 1);
        let share = (level - levels[high - 1]) / (levels[high] - levels[high - 1]);
        values[high - 1] + share * (values[high] - values[high - 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lie_on_lines_between_quantiles() {
        let marginals = Marginals::new(&[0.1, 0.5, 0.9], &[1.0, 2.0, 6.0, 0.0, 1.0, 2.0]).unwrap();
        assert_eq!((marginals.horizon(), marginals.ends()), (2, (0.1, 0.9)));
        for (step, level, expected) in
            [(0, 0.1, 1.0), (0, 0.3, 1.5), (0, 0.7, 4.0), (0, 0.9, 6.0), (1, 0.5, 1.0)]
        {
            assert!((marginals.value(step, level) - expected).abs() < 1e-12, "{step} {level}");
        }
    }

    #[test]
    fn what_are_no_quantiles_is_refused() {
        for levels in [&[0.5][..], &[0.5, 0.5], &[0.9, 0.1], &[0.0, 0.5], &[0.5, 1.0], &[f64::NAN, 0.5]] {
            assert!(matches!(Marginals::new(levels, &[]), Err(SimulationError::Levels { .. })), "{levels:?}");
        }
        let error = SimulationError::Values { values: 3, levels: 2 };
        assert_eq!(Marginals::new(&[0.1, 0.9], &[1.0; 3]).unwrap_err(), error);
    }
}
