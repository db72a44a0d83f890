//! Forecasts of the windows of a panel, as tables.

pub(crate) mod blocks;
pub(crate) mod categories;
pub(crate) mod further;
pub(crate) mod local_scalers;
pub(crate) mod rolling;
pub(crate) mod warnings;
pub(crate) mod windows;
