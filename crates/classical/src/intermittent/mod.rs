//! Demand that is zero most of the time. Steps whose value is not known count as if they had not been.

mod adida;
mod croston;
mod imapa;
mod smoothing;
mod tsb;

use foretell_estimator::mean;

use crate::local::SeriesForecast;

pub use adida::Adida;
pub use croston::{CrostonClassic, CrostonOptimized, CrostonSba};
pub use imapa::Imapa;
pub use tsb::Tsb;

/// The same rate for all steps. Its quantiles are those of the values of the history in proportion to the rate, whole numbers where
/// all of these are: demand is zero most of the time, and what a customer takes at once is no sum of small errors.
fn at_rate(y: &[f64], rate: f64, h: usize) -> SeriesForecast {
    let mean = y.iter().sum::<f64>() / y.len().max(1) as f64;
    let share = if mean > 0.0 { rate / mean } else { 1.0 };
    let counts = y.iter().all(|y| y.fract() == 0.0);
    let scaled = |y: &f64| if counts { (y * share).round() } else { y * share };
    let mut sample: Vec<f64> = y.iter().map(scaled).collect();
    sample.sort_unstable_by(f64::total_cmp);
    SeriesForecast { sample, deviation: vec![0.0; h], ..SeriesForecast::flat(rate, h) }
}

/// The demands that are not zero.
fn demands(y: &[f64]) -> Vec<f64> {
    y.iter().copied().filter(|&y| y > 0.0).collect()
}

/// Steps from each demand to the next, the first counted from the start.
fn intervals(y: &[f64]) -> Vec<f64> {
    let times = || (1..=y.len()).filter(move |&t| y[t - 1] != 0.0);
    std::iter::once(0).chain(times()).zip(times()).map(|(before, now)| (now - before) as f64).collect()
}

/// The mean of the intervals as a whole number of steps, at least 1; `None` without any demand.
fn mean_interval(y: &[f64]) -> Option<usize> {
    let intervals = intervals(y);
    let mean = mean(&intervals);
    // Half steps go to the even neighbour, as in Python.
    (!intervals.is_empty()).then(|| mean.round_ties_even().max(1.0) as usize)
}

/// The sums of this many steps each; the first steps that make up no whole sum are left out.
fn sums(y: &[f64], steps: usize) -> Vec<f64> {
    y[y.len() % steps..].chunks_exact(steps).map(|chunk| chunk.iter().sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_demand_is_split_into_sizes_and_intervals() {
        let y = [0.0, 3.0, 0.0, 0.0, 2.0, 1.0];
        assert_eq!((demands(&y), intervals(&y)), (vec![3.0, 2.0, 1.0], vec![2.0, 3.0, 1.0]));
        assert_eq!((mean_interval(&y), mean_interval(&[0.0])), (Some(2), None));
        assert_eq!(sums(&y, 4), [3.0]);
    }

    #[test]
    fn quantiles_are_values_of_the_history_in_proportion_to_the_rate() {
        let half = at_rate(&[0.0, 4.0, 0.0, 0.0], 0.5, 2);
        assert_eq!((half.mean, half.sample), (vec![0.5; 2], vec![0.0, 0.0, 0.0, 2.0]));
        assert_eq!(at_rate(&[0.0, 0.5], 0.5, 1).sample, [0.0, 1.0]);
        assert_eq!(at_rate(&[0.0, 0.0], 0.0, 1).sample, [0.0, 0.0]);
    }
}
