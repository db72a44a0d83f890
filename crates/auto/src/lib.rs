//! The best forecast of a panel, honestly scored, in the time that there is.
//!
//! [`Auto`] is an estimator: it finds the seasons of a panel ([`seasons`]), tries the models that suit it ([`candidates`], one table
//! that says which and why) on several windows, each fitted anew before each, and combines them with weights that these windows choose. The
//! last window chooses nothing of what it scores: these are the scores of the [`Board`]. Then the weights are chosen again by all windows, and all
//! members fitted to everything.
//!
//! What is combined are quantiles, not bounds, and series by series: a member that cannot forecast one, or whose forecast the history
//! cannot justify, is replaced there by the others. Models without quantiles get those of their errors on the windows.
//!
//! [`Temporal`] is another estimator made of others: its forecasts of steps are reconciled with those of their sums, as hours with days;
//! [`TemporalTables`] does the same with tables of forecasts of any tool.
//!
//! # Features
//!
//! The only one, `default`, switches on what the crates below have by default: kernels dispatched at run time (`simd` of
//! `foretell-simd`), threads (`parallel` of `foretell-threads`), recycled buffers (`pool` of `foretell-pool`) and the like. Without it
//! they are off, and everything gives the same results; depend on those crates as well to choose among them.
#![forbid(unsafe_code)]

mod auto;
mod beside;
mod board;
mod budget;
mod candidates;
mod caveats;
mod choose;
mod chosen;
mod error;
mod explained;
#[cfg(test)]
mod explained_tests;
#[cfg(test)]
mod forecasts_tests;
mod gathered;
mod greedy;
mod grid;
mod guard;
mod history;
mod loss;
mod member;
mod mix;
mod packed;
mod rehearse;
mod season;
mod settings;
mod spread;
mod stage;
mod tails;
mod temporal;
mod trained;
mod traits;
mod understood;
mod wanted;
mod weights;
mod windows;

pub use auto::Auto;
pub use board::{BASELINE, Board, BoardRow};
pub use budget::Budget;
pub use candidates::{Candidate, candidates, suiting};
pub use caveats::stopped_at_zero;
pub use error::AutoError;
pub use grid::QUANTILES;
pub use history::SeriesGroup;
pub use loss::Criterion;
pub use season::seasons;
pub use temporal::{SumsTable, Temporal, TemporalError, TemporalTables};
pub use trained::TrainedAuto;
pub use traits::PanelTraits;
pub use understood::{Understood, last_rows, listed};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
