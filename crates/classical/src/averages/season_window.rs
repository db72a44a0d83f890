//! The means of the last seasons.

use foretell_calendar::{Freq, usual_season};
use foretell_estimator::Fallback;

use crate::hyper::{self, HyperParameter, Seasonal};
use crate::local::{LocalMethod, SeriesForecast};
use crate::method::HistoryFacts;

/// Forecasts for each step of a season the mean of that step in the last seasons of each series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeasonalWindowAverage {
    /// Steps of a season; `None` for the usual one of the data's frequency ([`usual_season`]).
    pub season_length: Option<usize>,
    /// Seasons that the mean is of.
    pub window_size: usize,
}

impl Default for SeasonalWindowAverage {
    fn default() -> Self {
        Self { season_length: None, window_size: 2 }
    }
}

impl Seasonal for SeasonalWindowAverage {
    fn season_length(&mut self) -> &mut Option<usize> {
        &mut self.season_length
    }
}

impl LocalMethod for SeasonalWindowAverage {
    const NAME: &'static str = "SeasonalWindowAverage";
    const PAPER: &'static str =
        "Hyndman and Athanasopoulos 2021, Forecasting: Principles and Practice, section 5.2";
    const HYPER_PARAMETERS: &'static [HyperParameter<Self>] = &[
        hyper::season_length(),
        hyper::field!("window_size", "Seasons of the average.", hyper::STEPS, hyper::steps, window_size),
    ];
    const HAS_QUANTILES: bool = false;

    fn settled(&self, freq: Freq) -> Self {
        Self { season_length: Some(self.season_length.unwrap_or_else(|| usual_season(freq))), ..*self }
    }

    fn fallback(&self, history: &HistoryFacts) -> Option<Fallback> {
        let needed = self.season_length.unwrap_or(1).saturating_mul(self.window_size);
        (history.rows < needed).then(|| Fallback::too_few(needed))
    }

    fn forecast(&self, y: &[f64], _: &[f64], h: usize) -> Option<SeriesForecast> {
        let season = self.season_length.unwrap_or(1);
        let first = y.len().checked_sub(season.checked_mul(self.window_size)?)?;
        let mean = |step: usize| {
            let sum: f64 = y[first..].iter().skip(step % season).step_by(season).sum();
            sum / self.window_size as f64
        };
        Some(SeriesForecast { mean: (0..h).map(mean).collect(), ..SeriesForecast::default() })
    }
}
