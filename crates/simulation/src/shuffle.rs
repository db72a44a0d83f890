//! The Schaake shuffle: samples of each step in the order that the history had in its stretches.

use crate::error::SimulationError;
use crate::marginals::Marginals;

/// How many stretches of `horizon` steps a history of this many values has.
///
/// # Errors
/// If it has none.
pub fn most_starts(known: usize, horizon: usize) -> Result<usize, SimulationError> {
    match known >= horizon {
        true => Ok(known - horizon + 1),
        false => Err(SimulationError::ShortHistory { horizon, found: known }),
    }
}

/// The paths `[paths, steps]` of which each has, at each step, the rank among the paths that its stretch of the history has among
/// the stretches. `uniforms [steps, paths]` are the numbers between 0 and 1 that the steps are sampled by, `starts` the first row
/// of each path's stretch. Of equal values the path that comes first is the lower one.
///
/// # Panics
/// If the uniform numbers are not one for each step and path, or a stretch ends after the history.
#[track_caller]
pub fn schaake_shuffle(
    marginals: &Marginals<'_>,
    history: &[f64],
    starts: &[usize],
    uniforms: &[f64],
) -> Vec<f64> {
    let (horizon, paths) = (marginals.horizon(), starts.len());
    assert_eq!(uniforms.len(), horizon * paths, "numbers of {horizon} steps and {paths} paths");
    let (lowest, highest) = marginals.ends();
    let mut values = vec![0.0; uniforms.len()];
    let mut order: Vec<usize> = (0..paths).collect();
    for (step, uniforms) in uniforms.chunks_exact(paths.max(1)).enumerate() {
        let level = |u: &f64| lowest + u * (highest - lowest);
        let mut samples: Vec<f64> = uniforms.iter().map(|u| marginals.value(step, level(u))).collect();
        samples.sort_unstable_by(f64::total_cmp);
        let height = |path: usize| history[starts[path] + step];
        order.sort_unstable_by(|&a, &b| height(a).total_cmp(&height(b)).then(a.cmp(&b)));
        order.iter().zip(samples).for_each(|(&path, sample)| values[path * horizon + step] = sample);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_the_history() {
        let marginals = Marginals::new(&[0.1, 0.9], &[0.0, 8.0, 10.0, 18.0]).unwrap();
        // The stretches (5, 1), (1, 3), (3, 2): ranks 2, 0, 1 and 0, 2, 1.
        let history = [5.0, 1.0, 3.0, 2.0];
        let paths = schaake_shuffle(&marginals, &history, &[0, 1, 2], &[0.5, 0.0, 1.0, 0.25, 0.75, 0.5]);
        assert_eq!(paths, [8.0, 12.0, 0.0, 16.0, 4.0, 14.0]);
        // Of the same stretch twice the first is the lower one.
        let paths = schaake_shuffle(&marginals, &history, &[1, 1], &[1.0, 0.5, 0.0, 1.0]);
        assert_eq!(paths, [4.0, 10.0, 8.0, 18.0]);
    }

    #[test]
    fn a_history_without_a_stretch_is_refused() {
        assert_eq!(most_starts(5, 3), Ok(3));
        assert_eq!(most_starts(2, 3), Err(SimulationError::ShortHistory { horizon: 3, found: 2 }));
    }
}
