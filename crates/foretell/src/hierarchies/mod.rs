//! Forecasts that add up: hierarchies from files, the sums of series, and reconciliation of tables of forecasts.

mod alike_sums;
pub(crate) mod below_zero;
pub(crate) mod borrowed_widths;
pub(crate) mod complete_models;
mod grid;
pub(crate) mod pooled_residuals;
pub(crate) mod reading;
pub(crate) mod reconcile;
pub(crate) mod static_columns;
pub(crate) mod sums;
#[cfg(test)]
mod table_of_rows;
pub(crate) mod without_forecasts;
