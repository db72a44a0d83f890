//! A panel as models see it: with the columns of features, categories as numbers, series on scales of their own.

pub(crate) mod categories;
pub(crate) mod features;
pub(crate) mod local_scalers;
pub(crate) mod series_levels;
