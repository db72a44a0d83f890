//! ARIMA: autoregression and moving averages of differences, with seasons.

mod estimators;
mod fit;
mod forecast;
mod likelihood;
mod order;
mod search;
mod stationary;
mod unit_root;

pub use estimators::{Arima, AutoArima};
