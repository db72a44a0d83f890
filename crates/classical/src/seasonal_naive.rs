//! The last season, repeated.

use foretell_calendar::{Freq, usual_season};
use foretell_data::Panel;
use foretell_estimator::{Asked, EstimatorError, Fallback, ForecastValues, SeriesNumbers, Workers};

use crate::hyper::{self, HyperParameter, Seasonal};
use crate::method::{HistoryFacts, Method};
use crate::repeated::forecast;

/// Forecasts the last season of each series again and again. Its quantiles are normal: their deviation is that of the
/// history's changes from season to season, times the root of the seasons ahead.
///
/// Hyndman and Athanasopoulos, Forecasting: Principles and Practice, third edition, sections 5.2 and 5.5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeasonalNaive {
    /// Steps of a season; `None` for the usual one of the data's frequency ([`usual_season`]).
    pub season_length: Option<usize>,
}

impl SeasonalNaive {
    fn season(self, panel: &Panel) -> usize {
        self.season_length.unwrap_or_else(|| usual_season(panel.freq()))
    }
}

impl Seasonal for SeasonalNaive {
    fn season_length(&mut self) -> &mut Option<usize> {
        &mut self.season_length
    }
}

impl Method for SeasonalNaive {
    const NAME: &'static str = "SeasonalNaive";
    const PAPER: &'static str =
        "Hyndman and Athanasopoulos 2021, Forecasting: Principles and Practice, section 5.2";
    const HYPER_PARAMETERS: &'static [HyperParameter<Self>] = &[hyper::season_length()];

    fn fallback(&self, freq: Freq, history: &HistoryFacts) -> Option<Fallback> {
        let season = self.season_length.unwrap_or_else(|| usual_season(freq));
        (history.rows < season && !history.is_constant).then(|| Fallback {
            instead: "its last value, where the season is not known",
            ..Fallback::without_season("fewer than one season", season)
        })
    }

    fn fitted(&self, panel: &Panel, _: &mut SeriesNumbers, _: &Workers) -> Self {
        Self { season_length: Some(self.season(panel)) }
    }

    fn forecast(
        &self,
        panel: &Panel,
        asked: &Asked<'_>,
        _: &SeriesNumbers,
        _: &Workers,
    ) -> Result<ForecastValues, EstimatorError> {
        forecast(panel, asked, self.season(panel))
    }
}
