//! The options of a simulation.

use std::fmt;
use std::str::FromStr;

use foretell_data::Future;
use foretell_simulation::{SimulationError, SimulationMethod};

use crate::setters::setters;

/// How sample paths are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathMethod {
    /// From the quantiles of the steps, which every model has that forecasts intervals.
    OfQuantiles(SimulationMethod),
    /// Step by step, each from the distribution that the model forecasts after the path's own steps before it: recurrent networks
    /// with the loss of a distribution, as DeepAR.
    Ancestral,
}

impl PathMethod {
    const ANCESTRAL: &str = "ancestral";
}

/// A Gaussian copula.
impl Default for PathMethod {
    fn default() -> Self {
        Self::OfQuantiles(SimulationMethod::default())
    }
}

impl fmt::Display for PathMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OfQuantiles(method) => method.fmt(f),
            Self::Ancestral => f.write_str(Self::ANCESTRAL),
        }
    }
}

/// Reads the names that are written: `gaussian_copula`, `schaake_shuffle` and `ancestral`.
impl FromStr for PathMethod {
    type Err = SimulationError;

    fn from_str(text: &str) -> Result<Self, SimulationError> {
        match text {
            Self::ANCESTRAL => Ok(Self::Ancestral),
            text => text.parse().map(Self::OfQuantiles).map_err(|error| match error {
                SimulationError::Method { found, known } => {
                    SimulationError::Method { found, known: format!("{known}, {}", Self::ANCESTRAL) }
                }
                error => error,
            }),
        }
    }
}

/// The options of [`Fitted::simulate`](crate::Fitted::simulate).
///
/// ```
/// use foretell::{PathMethod, SimulateOptions};
///
/// let options = SimulateOptions::new(500).seed(7).method("schaake_shuffle".parse()?);
/// assert_eq!(options.n_paths, 500);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SimulateOptions<'a> {
    /// Paths of each series.
    pub n_paths: usize,
    /// The seed of all draws; 1 by default.
    pub seed: u64,
    /// How paths are drawn.
    pub method: PathMethod,
    /// The quantiles that a distribution or a calibrated model is known by, the hundredths 0.01 to 0.99 by default; paths do not go beyond the first
    /// and the last. A model of several quantiles is known by its own.
    pub quantiles: &'a [f64],
    /// The future values of the columns that a model knows in advance, if one has any.
    pub future: Option<&'a Future>,
    /// Steps of each path; the models' own horizon by default. More are drawn from forecasts horizon by horizon, or, of ancestral
    /// paths, as the model draws them.
    pub h: Option<usize>,
}

impl<'a> SimulateOptions<'a> {
    /// This many paths of each series, by a Gaussian copula.
    pub fn new(n_paths: usize) -> Self {
        Self { n_paths, seed: 1, method: PathMethod::default(), quantiles: &[], future: None, h: None }
    }

    setters! {
        /// The seed of all draws.
        seed(u64);
        /// How paths are drawn.
        method(PathMethod);
        /// The quantiles that a distribution or a calibrated model is known by.
        quantiles(&'a [f64]);
        /// The future values of the columns that a model knows in advance.
        future(impl Into<Option<&'a Future>>) = future.into();
        /// Steps of each path.
        h(usize) = Some(h);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_read_as_they_are_written() {
        for name in ["gaussian_copula", "schaake_shuffle", "ancestral"] {
            assert_eq!(name.parse::<PathMethod>().expect("a method").to_string(), name);
        }
        let error = "paths".parse::<PathMethod>().expect_err("no method").to_string();
        assert!(error.contains("schaake_shuffle, ancestral"), "{error}");
    }
}
