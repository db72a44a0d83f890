//! Intervals: by models themselves, and calibrated on how far forecasts of the past were off.

pub(crate) mod calibration;
pub(crate) mod conformal;
pub(crate) mod levels;
