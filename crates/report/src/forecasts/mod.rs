//! What a report tells of forecasts, gathered from the facade's tables.

pub(crate) mod answer;
pub(crate) mod apart;
pub(crate) mod baseline;
pub(crate) mod charts;
pub(crate) mod columns;
pub(crate) mod facts;
pub(crate) mod importances;
pub(crate) mod latest;
pub(crate) mod scores;
pub(crate) mod search;
mod sum_series;
mod total;
pub(crate) mod windows;
