//! Pretrained networks as estimators: forecasts without training.
#![forbid(unsafe_code)]

pub mod foretell0;
