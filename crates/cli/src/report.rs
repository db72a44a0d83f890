//! The contents of a report, gathered from files of the other commands.

pub(crate) mod charts;
pub(crate) mod facts;
pub(crate) mod importances;
pub(crate) mod scores;
