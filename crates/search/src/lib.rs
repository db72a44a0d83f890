//! Search for the best point of a space: grid, random, tree-structured Parzen estimators, successive halving.
//!
//! A [`Study`] proposes points in rounds, given the [`Trial`]s of all rounds before. It keeps no state: a proposal is a function of
//! the seed, of the number of the trial and of the scores of finished rounds. So neither the threads that score the points nor the
//! order in which they end change what is found, and a search that was broken off continues to the same result.
//!
//! ```
//! use foretell_search::{Domain, Sampler, Study};
//!
//! let space = vec![Domain::Choice { count: 3 }, Domain::Stepped { low: 1.0, high: 2.0, step: 1.0 }];
//! let study = Study::new(vec![space], Sampler::Grid { points: 3 }, 100);
//! assert_eq!(study.grid_size(), 6);
//! ```
#![forbid(unsafe_code)]

mod domain;
mod draws;
mod grid;
mod halving;
#[cfg(test)]
mod searches_tests;
mod study;
mod tpe;
mod trial;

pub use domain::{BadDomain, Domain};
pub use halving::Halving;
pub use study::{Sampler, Study, Task};
pub use trial::{Point, Trial};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
