//! The mean of the last steps.

use foretell_calendar::{Freq, usual_season};
use foretell_estimator::{Fallback, mean};

use crate::hyper::{self, HyperParameter};
use crate::local::{LocalMethod, SeriesForecast};
use crate::method::HistoryFacts;

/// Forecasts the mean of the last steps of each series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowAverage {
    /// How many steps; `None` for the usual season of the data's frequency ([`usual_season`]).
    pub window_size: Option<usize>,
}

impl LocalMethod for WindowAverage {
    const NAME: &'static str = "WindowAverage";
    const PAPER: &'static str =
        "Hyndman and Athanasopoulos 2021, Forecasting: Principles and Practice, section 5.2";
    const HYPER_PARAMETERS: &'static [HyperParameter<Self>] = &[hyper::field!(
        "window_size",
        "Steps of the average; null for the usual season of the data's frequency.",
        "a whole number between 1 and 1000000, or null",
        |value| hyper::or_null(value, hyper::steps),
        window_size
    )];
    const HAS_QUANTILES: bool = false;

    fn settled(&self, freq: Freq) -> Self {
        Self { window_size: Some(self.window_size.unwrap_or_else(|| usual_season(freq))) }
    }

    fn fallback(&self, history: &HistoryFacts) -> Option<Fallback> {
        let needed = self.window_size.unwrap_or(1);
        (history.rows < needed).then(|| Fallback::too_few(needed))
    }

    fn forecast(&self, y: &[f64], _: &[f64], h: usize) -> Option<SeriesForecast> {
        let first = y.len().checked_sub(self.window_size.unwrap_or(1))?;
        Some(SeriesForecast::flat(mean(&y[first..]), h))
    }
}
