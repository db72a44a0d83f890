//! Reconciliation of forecasts: series that sum up others are forecast so that the sums hold.
//!
//! A [`Hierarchy`] says which series sum up which; a [`Reconciler`] changes forecasts of all of them until they add up
//! ([`Reconciliation`] says how), forecasts of single numbers at once and those of quantiles by samples ([`CoherentQuantiles`]). All is in
//! `f64`, and values are `[series, columns]`: the series in the order of [`Hierarchy::ids`].
//!
//! ```
//! use foretell_hierarchy::{Evidence, Hierarchy, Reconciliation, Reconciler};
//!
//! let hierarchy = Hierarchy::from_levels(&[("a", ["all"]), ("b", ["all"])])?;
//! // The sum is forecast as 12, the parts as 4 and 5: each gives way by a third of the gap.
//! let mut forecast = [12.0, 4.0, 5.0];
//! Reconciler::new(&hierarchy, Reconciliation::MinTraceOls, &Evidence::default())?.reconcile(&mut forecast, 1);
//! assert!(forecast.iter().zip([11.0, 5.0, 6.0]).all(|(found, expected)| (found - expected).abs() < 1e-12));
//! # Ok::<(), foretell_hierarchy::HierarchyError>(())
//! ```
#![forbid(unsafe_code)]

mod cholesky;
mod covariance;
mod draws;
mod error;
mod hierarchy;
mod levels;
mod mean_shape;
mod method;
mod quantiles;
mod reconciler;
#[cfg(test)]
mod references_tests;
mod residuals;
mod summing_matrix;

pub use draws::Draws;
pub use error::HierarchyError;
pub use hierarchy::Hierarchy;
pub use mean_shape::{KnownQuantiles, with_means};
pub use method::Reconciliation;
pub use quantiles::CoherentQuantiles;
pub use reconciler::{Evidence, Reconciler};
pub use residuals::Residuals;

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
