//! The hyper-parameters that forecast the past best.
//!
//! # Features
//!
//! The only one, `default`, switches on what the facade has by default. Without it that is off, and everything gives the same results.

#![forbid(unsafe_code)]

mod board;
mod error;
mod job;
mod search;
mod search_range;
mod search_space;
mod search_state;
mod search_trial;
#[cfg(test)]
mod tests;
mod tuned;

pub use error::TuningError;
pub use foretell_search::{Halving, Sampler};
pub use search::Search;
pub use search_range::SearchRange;
pub use search_space::SearchSpace;
pub use search_trial::{SearchProgress, SearchTrial};
pub use tuned::{KeptScore, Tuned};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
