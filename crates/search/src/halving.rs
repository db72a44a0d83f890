//! Successive halving (Jamieson and Talwalkar 2016; Li et al. 2020, ASHA): many trials are scored on a small budget, the best of
//! them on a larger one.
//!
//! As in ASHA no one waits until all trials of a rung are scored: the best share of those that are so far continues. Here it is
//! decided between rounds, so that the order within a round changes nothing.

use crate::trial::{Trial, ranked};

/// Rungs of growing budgets.
///
/// ```
/// use foretell_search::Halving;
///
/// // Trials of a ninth of the budget, a third of them with a third, and a third of these with all of it.
/// assert!((Halving::new(3).budget(0) - 1.0 / 9.0).abs() < 1e-12);
/// assert_eq!(Halving::new(2).eta(4).budget(0), 0.25);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Halving {
    /// How many rungs there are, at least one.
    pub rungs: usize,
    /// One of this many advances to the next rung, whose budget is this many times larger; below 2 it counts as 2.
    pub eta: usize,
}

impl Halving {
    /// This many rungs, of each of which a third advances.
    pub fn new(rungs: usize) -> Self {
        Self { rungs, eta: 3 }
    }

    /// The same with another `eta`.
    #[must_use]
    pub fn eta(self, eta: usize) -> Self {
        Self { eta, ..self }
    }

    /// The share of the whole budget that trials have at this rung, of which the lowest is 0.
    pub fn budget(&self, rung: usize) -> f64 {
        let below_top = self.rungs.saturating_sub(rung + 1);
        (self.eta.max(2) as f64).powi(-(below_top as i32))
    }

    /// The trials that advance to the next rung.
    pub(crate) fn promotions(&self, trials: &[Trial]) -> Vec<usize> {
        let mut promoted = Vec::new();
        for rung in (0..self.rungs.saturating_sub(1)).rev() {
            let score = |&trial: &usize| trials[trial].scores[rung];
            let mut scored: Vec<usize> =
                (0..trials.len()).filter(|&trial| trials[trial].scores.len() > rung).collect();
            scored.sort_by(|a, b| score(a).total_cmp(&score(b)).then(a.cmp(b)));
            let best = &scored[..scored.len() / self.eta.max(2)];
            let waiting = |trial: &&usize| trials[**trial].scores.len() == rung + 1 && !score(trial).is_nan();
            promoted.extend(best.iter().filter(waiting));
        }
        promoted
    }

    /// The best trial, if it and so all others are below the top: with nothing left to be begun, it continues.
    pub(crate) fn last_promotion(&self, trials: &[Trial]) -> Option<usize> {
        let best = *ranked(trials).first()?;
        (trials[best].scores.len() < self.rungs && !trials[best].score().is_nan()).then_some(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Point;

    fn trials(scores: &[&[f64]]) -> Vec<Trial> {
        let point = Point { space: 0, values: Vec::new() };
        scores.iter().map(|scores| Trial { point: point.clone(), scores: scores.to_vec() }).collect()
    }

    #[test]
    fn budgets_grow_to_the_whole() {
        let halving = Halving::new(3);
        let budgets: Vec<f64> = (0..3).map(|rung| halving.budget(rung)).collect();
        assert!((budgets[0] - 1.0 / 9.0).abs() < 1e-12 && budgets[2] == 1.0, "{budgets:?}");
        // An eta below 2 counts as 2, as in who advances.
        assert_eq!(Halving::new(2).eta(0).budget(0), 0.5);
    }

    #[test]
    fn the_best_share_of_a_rung_goes_on_once() {
        let halving = Halving::new(3);
        let nan = f64::NAN;
        let at_first = trials(&[&[6.0], &[1.0], &[5.0], &[2.0], &[nan], &[4.0]]);
        assert_eq!(halving.promotions(&at_first), [1, 3]);
        let later =
            trials(&[&[6.0], &[1.0, 3.0], &[5.0], &[2.0, 1.0], &[nan], &[4.0], &[0.5, 2.0], &[7.0], &[3.0]]);
        assert_eq!(halving.promotions(&later), [3], "of three at the second rung the best");
        assert_eq!(halving.promotions(&trials(&[&[nan], &[nan], &[nan]])), [0; 0]);
    }

    #[test]
    fn somebody_reaches_the_top() {
        let halving = Halving::new(2);
        assert_eq!(halving.last_promotion(&trials(&[&[2.0], &[1.0]])), Some(1));
        assert_eq!(halving.last_promotion(&trials(&[&[2.0, 5.0], &[1.0]])), None);
        assert_eq!(halving.last_promotion(&trials(&[&[f64::NAN]])), None);
    }
}
