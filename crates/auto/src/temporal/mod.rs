//! Reconciliation over time: hours that add up to days.

mod coherent;
mod error;
mod estimator;
mod period;
mod sums;
mod tables;
mod trained;

pub use error::TemporalError;
pub use estimator::Temporal;
pub use tables::{SumsTable, TemporalTables};
