//! Sample paths of the future from the quantiles of each of its steps.
//!
//! [`Marginals`] are the quantiles of the steps, [`sample_paths`] draws paths by a [`SimulationMethod`]. The methods are those of
//! neuralforecast's `simulate`, in `f64`; [`gaussian_copula`] and [`schaake_shuffle`] give them for draws that the caller has.
//! Paths are `[paths, steps]`.
#![forbid(unsafe_code)]

mod copula;
mod draws;
mod error;
mod marginals;
mod method;
#[cfg(test)]
mod references_tests;
mod shuffle;

pub use copula::{ar1_correlation, gaussian_copula};
pub use draws::PathDraws;
pub use error::SimulationError;
pub use marginals::Marginals;
pub use method::{SimulationMethod, sample_paths};
pub use shuffle::{most_starts, schaake_shuffle};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
