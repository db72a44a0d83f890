//! The mean absolute error in units of the seasonal naive forecast's in the window's history (Hyndman and Koehler 2006).

use serde_json::{Value, json};

use super::function::{Gradient, LossFunction};
use super::passes::{absolute, by_step, mean};
use super::targets::Targets;
use crate::HyperParameterError;
use crate::arguments::Arguments;

#[derive(Debug)]
pub(super) struct Mase {
    /// Steps of a season.
    seasonality: usize,
}

impl LossFunction for Mase {
    fn read(arguments: &mut Arguments) -> Result<Self, HyperParameterError> {
        match arguments.count("seasonality", 1..=1_000_000)? {
            Some(seasonality) => Ok(Self { seasonality: seasonality as usize }),
            None => Err(HyperParameterError::new("seasonality", "given: steps of a season", Value::Null)),
        }
    }

    fn arguments(&self) -> Vec<(&'static str, Value)> {
        vec![("seasonality", json!(self.seasonality))]
    }

    fn seasonality(&self) -> usize {
        self.seasonality
    }

    /// The mean error of the seasonal naive forecast within the history, of known values; 0 if there are none.
    fn error_scale(&self, history: &[f32], mask: &[f32]) -> Option<f64> {
        let at = |i: usize| (mask[i] != 0.0).then_some(f64::from(history[i]));
        let errors = (self.seasonality..history.len())
            .filter_map(|now| Some((at(now)? - at(now - self.seasonality)?).abs()));
        Some(mean(errors))
    }

    fn sum(&self, prediction: &[f32], truth: Targets<'_>, gradient: Gradient<'_>) -> f64 {
        by_step(prediction, truth, gradient, |error, _, error_scale| absolute(error, error_scale))
    }
}
