//! Forecasts of the windows of a panel, as tables.

pub(crate) mod blocks;
pub(crate) mod far_regressors;
pub(crate) mod far_values;
pub(crate) mod further;
pub(crate) mod memory;
pub(crate) mod rolling;
pub(crate) mod warnings;
pub(crate) mod windows;
