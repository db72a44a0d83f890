//! The ways from quantiles to paths, by their names.

use std::fmt;
use std::str::FromStr;

use crate::copula::{ar1_correlation, gaussian_copula};
use crate::draws::PathDraws;
use crate::error::SimulationError;
use crate::marginals::Marginals;
use crate::shuffle::{most_starts, schaake_shuffle};

/// How steps go together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SimulationMethod {
    /// Correlated as neighbouring changes of the history are ([`gaussian_copula`]).
    #[default]
    GaussianCopula,
    /// In the order that the history had ([`schaake_shuffle`]).
    SchaakeShuffle,
}

impl SimulationMethod {
    const ALL: [Self; 2] = [Self::GaussianCopula, Self::SchaakeShuffle];

    /// Its name in neuralforecast.
    pub fn name(self) -> &'static str {
        match self {
            Self::GaussianCopula => "gaussian_copula",
            Self::SchaakeShuffle => "schaake_shuffle",
        }
    }
}

impl fmt::Display for SimulationMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SimulationMethod {
    type Err = SimulationError;

    fn from_str(text: &str) -> Result<Self, SimulationError> {
        Self::ALL.into_iter().find(|method| method.name() == text).ok_or_else(|| SimulationError::Method {
            found: text.to_owned(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}

/// The paths `[paths, steps]` of a series after its `history`, of which values that are not known (NaN, infinite) are left out.
///
/// # Errors
/// If the Schaake shuffle finds no stretch as long as the horizon in the history.
pub fn sample_paths(
    method: SimulationMethod,
    marginals: &Marginals<'_>,
    history: &[f64],
    paths: usize,
    draws: PathDraws,
) -> Result<Vec<f64>, SimulationError> {
    let numbers = marginals.horizon() * paths;
    let known: Vec<f64> = history.iter().copied().filter(|value| value.is_finite()).collect();
    Ok(match method {
        SimulationMethod::GaussianCopula => {
            gaussian_copula(marginals, ar1_correlation(&known), &draws.normal(numbers))
        }
        SimulationMethod::SchaakeShuffle => {
            let starts = draws.places(paths, most_starts(known.len(), marginals.horizon())?);
            schaake_shuffle(marginals, &known, &starts, &draws.uniform(numbers))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_read_as_they_are_written() {
        for method in SimulationMethod::ALL {
            assert_eq!(method.to_string().parse(), Ok(method));
        }
        let error = "copula".parse::<SimulationMethod>().unwrap_err().to_string();
        assert!(error.contains("gaussian_copula, schaake_shuffle"), "{error}");
    }

    #[test]
    fn values_of_the_history_that_are_not_known_are_left_out() {
        let marginals = Marginals::new(&[0.1, 0.9], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        let known: Vec<f64> = (0..9).map(|t| f64::from(t * 5 % 7)).collect();
        let mut history = known.clone();
        history.insert(4, f64::NAN);
        history.insert(0, f64::INFINITY);
        let draws = || PathDraws::new(1, "a", 9);
        for method in SimulationMethod::ALL {
            let paths = sample_paths(method, &marginals, &history, 5, draws());
            assert_eq!(paths, sample_paths(method, &marginals, &known, 5, draws()), "{method}");
        }
        let unknown = sample_paths(SimulationMethod::SchaakeShuffle, &marginals, &[f64::NAN; 9], 5, draws());
        assert_eq!(unknown, Err(SimulationError::ShortHistory { horizon: 2, found: 0 }));
        assert!(
            sample_paths(SimulationMethod::GaussianCopula, &marginals, &[f64::NAN; 9], 5, draws()).is_ok()
        );
    }

    /// Quantiles of the paths at each step are those that they were drawn from.
    #[test]
    fn paths_have_the_marginals_that_they_were_drawn_from() {
        const PATHS: usize = 20_000;
        let levels: Vec<f64> = (1..100).map(|i| f64::from(i) / 100.0).collect();
        let values: Vec<f64> =
            (0..6).flat_map(|step| levels.iter().map(move |level| f64::from(step) + level)).collect();
        let marginals = Marginals::new(&levels, &values).unwrap();
        let history: Vec<f64> = (0..400).map(|t| (f64::from(t) * 0.3).sin() + f64::from(t % 5)).collect();
        for method in SimulationMethod::ALL {
            let paths = sample_paths(method, &marginals, &history, PATHS, PathDraws::new(1, "a", 0)).unwrap();
            for step in 0..6 {
                let mut samples: Vec<f64> =
                    paths.iter().skip(step).step_by(6).map(|value| value - step as f64).collect();
                samples.sort_by(f64::total_cmp);
                for level in [0.1, 0.25, 0.5, 0.9] {
                    let found = samples[(level * PATHS as f64) as usize];
                    // Four standard errors, and the hundredth at either end that a shuffle's draws leave out.
                    let error = 4.0 * (level * (1.0 - level) / PATHS as f64).sqrt() + 0.01;
                    assert!((found - level).abs() < error, "{method} step {step}: {found} at {level}");
                }
            }
        }
    }
}
