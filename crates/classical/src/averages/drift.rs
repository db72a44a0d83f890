//! The line through the first and the last value.

use super::deviation;
use crate::hyper::HyperParameter;
use crate::local::{LocalMethod, SeriesForecast};

/// Forecasts each series on the line through its first and its last value: a random walk whose steps have a mean. Its quantiles
/// are those of normal steps, whose mean is estimated.
///
/// Hyndman and Athanasopoulos, Forecasting: Principles and Practice, third edition, sections 5.2 and 5.5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RandomWalkWithDrift;

impl LocalMethod for RandomWalkWithDrift {
    const NAME: &'static str = "RandomWalkWithDrift";
    const PAPER: &'static str =
        "Hyndman and Athanasopoulos 2021, Forecasting: Principles and Practice, section 5.2";
    const HYPER_PARAMETERS: &'static [HyperParameter<Self>] = &[];

    fn forecast(&self, y: &[f64], _: &[f64], h: usize) -> Option<SeriesForecast> {
        let steps = y.len().checked_sub(1).filter(|&steps| steps > 0)? as f64;
        let (first, last) = (y[0], y[y.len() - 1]);
        let slope = (last - first) / steps;
        let squares = y.windows(2).map(|pair| (pair[1] - pair[0] - slope).powi(2)).sum();
        let sigma = deviation(squares, y.len());
        let ahead = || (1..=h).map(|step| step as f64);
        Some(SeriesForecast {
            mean: ahead().map(|step| last + slope * step).collect(),
            deviation: ahead().map(|step| sigma * (step * (1.0 + step / steps)).sqrt()).collect(),
            ..SeriesForecast::default()
        })
    }
}
