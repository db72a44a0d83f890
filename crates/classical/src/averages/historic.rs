//! The mean of the history.

use foretell_estimator::mean;

use super::deviation;
use crate::hyper::HyperParameter;
use crate::local::{LocalMethod, SeriesForecast, known};

/// Forecasts the mean of each series. Its quantiles are those of normal values around an estimated mean.
///
/// Hyndman and Athanasopoulos, Forecasting: Principles and Practice, third edition, sections 5.2 and 5.5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoricAverage;

impl LocalMethod for HistoricAverage {
    const NAME: &'static str = "HistoricAverage";
    const PAPER: &'static str =
        "Hyndman and Athanasopoulos 2021, Forecasting: Principles and Practice, section 5.2";
    const HYPER_PARAMETERS: &'static [HyperParameter<Self>] = &[];

    fn completed(y: Vec<f64>) -> Vec<f64> {
        known(y)
    }

    fn forecast(&self, y: &[f64], _: &[f64], h: usize) -> Option<SeriesForecast> {
        let mean = (!y.is_empty()).then(|| mean(y))?;
        let squares = y.iter().map(|y| (y - mean).powi(2)).sum();
        let spread = deviation(squares, y.len()) * (1.0 + 1.0 / y.len() as f64).sqrt();
        Some(SeriesForecast { mean: vec![mean; h], deviation: vec![spread; h], ..SeriesForecast::default() })
    }
}
