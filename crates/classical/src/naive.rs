//! The last value, repeated.

use foretell_data::Panel;
use foretell_estimator::{Asked, EstimatorError, ForecastValues, SeriesNumbers, Workers};

use crate::hyper::HyperParameter;
use crate::method::Method;
use crate::repeated::forecast;

/// Forecasts the last known value of each series. Its quantiles are those of a random walk with normal steps: their deviation
/// is that of the history's steps, times the root of the steps ahead.
///
/// Hyndman and Athanasopoulos, Forecasting: Principles and Practice, third edition, sections 5.2 and 5.5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Naive;

impl Method for Naive {
    const NAME: &'static str = "Naive";
    const PAPER: &'static str =
        "Hyndman and Athanasopoulos 2021, Forecasting: Principles and Practice, section 5.2";
    const HYPER_PARAMETERS: &'static [HyperParameter<Self>] = &[];

    fn fitted(&self, _: &Panel, _: &mut SeriesNumbers, _: &Workers) -> Self {
        *self
    }

    fn forecast(
        &self,
        panel: &Panel,
        asked: &Asked<'_>,
        _: &SeriesNumbers,
        _: &Workers,
    ) -> Result<ForecastValues, EstimatorError> {
        forecast(panel, asked, 1)
    }
}
