//! Points that were tried, and how good they are.

use std::cmp::Ordering;

/// A point of one of the spaces of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The number of the space.
    pub space: usize,
    /// A value for each of its domains; none for what there is without a search ([`Study::begins_as_given`](crate::Study)).
    pub values: Vec<f64>,
}

/// A point that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The point.
    pub point: Point,
    /// Its score at each rung that it has reached, from the lowest; the least is best, NaN says that it failed.
    pub scores: Vec<f64>,
}

impl Trial {
    /// The score at the highest rung that it has reached; NaN if there is none.
    pub fn score(&self) -> f64 {
        self.scores.last().copied().unwrap_or(f64::NAN)
    }

    /// Which of two is better: one that failed is worst, then who reached the higher rung, for only the better ones did, then the
    /// score.
    fn rank(&self, other: &Self) -> Ordering {
        let (own, others) = (self.score(), other.score());
        let failed = own.is_nan().cmp(&others.is_nan());
        failed.then(other.scores.len().cmp(&self.scores.len())).then(own.total_cmp(&others))
    }
}

/// The numbers of the trials, the best first; of two alike the earlier.
pub(crate) fn ranked(trials: &[Trial]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..trials.len()).collect();
    order.sort_by(|&a, &b| trials[a].rank(&trials[b]).then(a.cmp(&b)));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_higher_rung_counts_before_the_score_and_failures_come_last() {
        let scores: [&[f64]; 5] = [&[1.0], &[2.0, f64::NAN], &[5.0, 4.0], &[0.5], &[3.0, 4.0]];
        let point = Point { space: 0, values: Vec::new() };
        let trials = scores.map(|scores| Trial { point: point.clone(), scores: scores.to_vec() });
        assert_eq!(ranked(&trials), [2, 4, 3, 0, 1]);
    }
}
