//! A panel as models see it: categories as numbers, series on scales of their own.

pub(crate) mod categories;
pub(crate) mod local_scalers;
