//! What a report tells of forecasts, gathered from the facade's tables.

pub(crate) mod baseline;
pub(crate) mod charts;
pub(crate) mod columns;
pub(crate) mod facts;
pub(crate) mod importances;
pub(crate) mod scores;
pub(crate) mod windows;
