//! Several seasons, taken out one after the other.

use foretell_calendar::{Freq, usual_season};
use foretell_estimator::{Fallback, NamedNumbers};

use crate::ets::{self, trend_ets};
use crate::hyper::{self, HyperParameter};
use crate::local::{LocalMethod, SeriesForecast};
use crate::method::HistoryFacts;
use crate::numeric::stl::stl;

/// Takes the seasons out of a series by local regression, forecasts the rest by exponential smoothing
/// ([`AutoEts`](crate::AutoEts) without a season), and adds the last season of each. The quantiles are those of the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mstl {
    /// Steps of the seasons; none for the usual one of the data's frequency ([`usual_season`]).
    pub season_length: Vec<usize>,
}

/// Rounds through all seasons, if there are several.
const ROUNDS: usize = 2;

impl Mstl {
    /// The steps of its seasons, each once, from the shortest on.
    fn periods(&self) -> Vec<usize> {
        let mut periods: Vec<usize> =
            self.season_length.iter().copied().filter(|period| *period > 1).collect();
        periods.sort_unstable();
        periods.dedup();
        periods
    }

    /// The last of each season that a series has twice, from the shortest on, and the series without seasons.
    fn decomposed(&self, y: &[f64]) -> (Vec<Vec<f64>>, Vec<f64>) {
        let mut periods = self.periods();
        periods.retain(|period| 2 * period <= y.len());
        let mut seasons = vec![vec![0.0; y.len()]; periods.len()];
        let mut rest = y.to_vec();
        for _ in 0..if periods.len() == 1 { 1 } else { ROUNDS } {
            for ((season, &period), window) in seasons.iter_mut().zip(&periods).zip((11..).step_by(4)) {
                rest.iter_mut().zip(&*season).for_each(|(rest, season)| *rest += season);
                *season = stl(&rest, period, window).season;
                rest.iter_mut().zip(&*season).for_each(|(rest, season)| *rest -= season);
            }
        }
        seasons
            .iter_mut()
            .zip(&periods)
            .for_each(|(season, period)| *season = season.split_off(y.len() - period));
        (seasons, rest)
    }
}

impl LocalMethod for Mstl {
    const NAME: &'static str = "MSTL";
    const PAPER: &'static str = "Bandara, Hyndman and Bergmeir 2021, MSTL: A Seasonal-Trend Decomposition Algorithm for Time Series with Multiple Seasonal Patterns";
    const HYPER_PARAMETERS: &'static [HyperParameter<Self>] = &[hyper::field!(
        "season_length",
        "Steps of the seasons, such as [24, 168], or of the only one; null for the usual one of the data's frequency.",
        hyper::SEASONS,
        hyper::seasons => hyper::seasons_value,
        season_length
    )];
    const LEARNS: bool = true;

    fn settled(&self, freq: Freq) -> Self {
        let usual = || vec![usual_season(freq)];
        Self {
            season_length: if self.season_length.is_empty() { usual() } else { self.season_length.clone() },
        }
    }

    fn fallback(&self, history: &HistoryFacts) -> Option<Fallback> {
        if history.is_constant {
            return None;
        }
        let short =
            self.season_length.iter().copied().filter(|&period| period > 1 && 2 * period > history.rows);
        match trend_ets().fallback(history) {
            Some(fallback) => Some(fallback),
            None => short.min().map(|period| Fallback::without_season("fewer than two seasons", period)),
        }
    }

    fn learn(&self, y: &[f64]) -> Vec<f64> {
        trend_ets().learn(&self.decomposed(y).1)
    }

    fn forecast(&self, y: &[f64], learned: &[f64], h: usize) -> Option<SeriesForecast> {
        let (seasons, rest) = self.decomposed(y);
        let mut forecast = trend_ets().forecast(&rest, learned, h)?;
        for season in seasons {
            forecast.mean.iter_mut().zip(season.iter().cycle()).for_each(|(mean, season)| *mean += season);
        }
        Some(forecast)
    }

    fn describe(&self, learned: &[f64]) -> Option<(String, NamedNumbers)> {
        let (rest, numbers) = ets::describe(learned)?;
        Some((format!("STL{:?} + {rest}", self.season_length), numbers))
    }

    fn passed_over(&self, learned: &[f64]) -> Option<Fallback> {
        trend_ets().passed_over(learned)
    }

    fn part_names(&self) -> Vec<String> {
        let seasons = self.periods().into_iter().map(|period| format!("season_{period}"));
        ["level", "trend"].map(str::to_owned).into_iter().chain(seasons).collect()
    }

    fn parts(&self, y: &[f64], learned: &[f64], h: usize) -> Option<Vec<Vec<f64>>> {
        let (seasons, rest) = self.decomposed(y);
        let mut parts = trend_ets().parts(&rest, learned, h)?;
        parts.truncate(2);
        // A season that the series does not have twice adds nothing.
        parts.extend(self.periods().iter().map(|&period| {
            let season = seasons.iter().find(|season| season.len() == period);
            season.map_or_else(|| vec![0.0; h], |season| season.iter().copied().cycle().take(h).collect())
        }));
        Some(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_seasons_go_on() {
        let value = |t: usize| [2.0, -2.0, 0.0][t % 3] + [3.0, 0.0, 0.0, -3.0, 0.0][t % 5] + 10.0;
        let y: Vec<f64> = (0..90).map(value).collect();
        let method = Mstl { season_length: vec![5, 3, 100] };
        let forecast = method.forecast(&y, &method.learn(&y), 7).expect("a forecast");
        let far = forecast.mean.iter().enumerate().map(|(step, mean)| (mean - value(90 + step)).abs());
        assert!(far.fold(0.0, f64::max) < 0.1, "{:?}", forecast.mean);
    }
}
