//! What is done to the forecasts of models, in one order, whatever asks for them: levels and quantiles of each model
//! ([`intervals`]), ensembles of them ([`ensembles`]), bounds ([`bounds`]), and sums that add up ([`sums`], which are bounded in the end).
//!
//! Commands and hosts are sources of windows, which know of no stage; [`Stage::refusal`](crate::Stage::refusal) says which forecasts
//! a stage does not change, and why.

pub(crate) mod asked_quantiles;
pub(crate) mod bounds;
pub(crate) mod ensembles;
pub(crate) mod intervals;
mod spread;
pub(crate) mod sums;
pub(crate) mod window_forecasts;
