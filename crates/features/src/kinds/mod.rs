//! The features, a file for each kind.

pub(crate) mod dated;
pub(crate) mod ewm;
pub(crate) mod fourier;
pub(crate) mod lags;
pub(crate) mod quantiles;
pub(crate) mod special_days;
pub(crate) mod trend;
pub(crate) mod windows;
