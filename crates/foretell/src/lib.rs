//! Neural forecasting: fit, predict, cross-validate, save and load
