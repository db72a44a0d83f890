//! Methods that see one series at a time, all series on all threads.

use foretell_data::{DataError, Freq, Panel, Span};
use foretell_estimator::{
    Asked, EstimatorError, Fallback, ForecastValues, KnownColumn, SeriesNumbers, Workers, cutoffs_beside,
    interpolate,
};
use statrs::distribution::{ContinuousCDF as _, Normal};

use crate::clock_grid::ClockGrid;
use crate::hyper::HyperParameter;
use crate::method::{HistoryFacts, Method, NUMBERS};
use crate::repeated;

/// The forecast of one series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeriesForecast {
    /// The mean of each step, `[h]`.
    pub mean: Vec<f64>,
    /// The standard deviation of the normal error of each step, `[h]`; empty of a method without quantiles.
    pub deviation: Vec<f64>,
    /// Values among which the quantiles of each step are found, in ascending order; empty where the error is normal.
    pub sample: Vec<f64>,
}

impl SeriesForecast {
    /// One number for all steps, without quantiles.
    pub(crate) fn flat(value: f64, h: usize) -> Self {
        Self { mean: vec![value; h], ..Self::default() }
    }

    /// A quantile of a step, of which the normal distribution has this score: of a sample the least value that so large a share does
    /// not exceed.
    fn quantile(&self, step: usize, q: f64, score: f64) -> f64 {
        match self.sample.len() {
            0 => self.mean[step] + score * self.deviation[step],
            // A share that is a product of decimals misses a whole number by a little.
            n => self.sample[((q * n as f64 - 1e-9).ceil() as usize).clamp(1, n) - 1],
        }
    }
}

/// A method that forecasts each series from its own history. Every one is a [`Method`].
///
/// A series that is too short for it is forecast by its last value ([`Naive`](crate::Naive)). What it learns of a series holds
/// from the first row of that series on: a series that starts at another time, or was not learned from, is learned where it
/// is forecast.
pub trait LocalMethod: Clone + Default + std::fmt::Debug + Send + Sync + 'static {
    /// [`Method::NAME`].
    const NAME: &'static str;

    /// [`Method::PAPER`].
    const PAPER: &'static str;

    /// [`Method::HYPER_PARAMETERS`].
    const HYPER_PARAMETERS: &'static [HyperParameter<Self>];

    /// [`Method::HAS_QUANTILES`].
    const HAS_QUANTILES: bool = true;

    /// Whether [`LocalMethod::learn`] gives anything.
    const LEARNS: bool = false;

    /// [`Method::IS_DEMAND`].
    const IS_DEMAND: bool = false;

    /// The method with everything settled that the frequency settles, such as the season.
    #[must_use]
    fn settled(&self, freq: Freq) -> Self {
        _ = freq;
        self.clone()
    }

    /// How a series is forecast, once the frequency is settled, that it cannot forecast as its hyper-parameters say.
    fn fallback(&self, history: &HistoryFacts) -> Option<Fallback> {
        _ = history;
        None
    }

    /// What its forecasts will lack, once the frequency is settled, with what to do about it.
    fn caveat(&self) -> Option<String> {
        None
    }

    /// A history without unknown values (NaN): by default they lie on the line between their known neighbours.
    fn completed(mut y: Vec<f64>) -> Vec<f64> {
        if interpolate(&mut y) { y } else { Vec::new() }
    }

    /// The numbers that it learns of a history without unknown values; none of one that is too short.
    fn learn(&self, y: &[f64]) -> Vec<f64> {
        _ = y;
        Vec::new()
    }

    /// Whether it can read columns known in advance.
    const READS_COLUMNS: bool = false;

    /// [`Method::columns`].
    fn columns(&self) -> &[String] {
        &[]
    }

    /// [`Method::slopes`].
    fn slopes(&self, learned: &[f64]) -> Option<Vec<f64>> {
        _ = learned;
        None
    }

    /// As [`LocalMethod::learn`], with the values of its columns beside the history.
    fn learn_with(&self, y: &[f64], columns: &[Vec<f64>]) -> Vec<f64> {
        _ = columns;
        self.learn(y)
    }

    /// As [`LocalMethod::forecast`], with the values of its columns beside history and forecast.
    fn forecast_with(
        &self,
        y: &[f64],
        learned: &[f64],
        columns: &[KnownColumn],
        h: usize,
    ) -> Option<SeriesForecast> {
        _ = columns;
        self.forecast(y, learned, h)
    }

    /// The forecast of `h` steps after a history without unknown values, with what was learned of it or of its beginning;
    /// `None` if it is too short. Numbers learned of another series may follow those of this one.
    fn forecast(&self, y: &[f64], learned: &[f64], h: usize) -> Option<SeriesForecast>;
}

/// The name of the time that what is learned holds from.
const FIRST_TIME: &str = "first_time";

/// The time of the first row of a series; NaN, which is no time, of one without rows.
fn first_time(panel: &Panel, series: usize) -> f64 {
    if panel.len(series) == 0 { f64::NAN } else { panel.time(series, 0) as f64 }
}

/// The clock of a series where it is changed; none for a method that reads columns, whose values stand at the rows.
fn clock_grid(
    method: &impl LocalMethod,
    panel: &Panel,
    series: usize,
    rows: usize,
    h: usize,
) -> Option<ClockGrid> {
    LocalMethod::columns(method).is_empty().then(|| ClockGrid::new(panel, series, rows, h))?
}

/// The first rows of a series as a method sees them, with all their digits; by the clock where it is changed.
fn history<M: LocalMethod>(panel: &Panel, series: usize, rows: usize, clock: Option<&ClockGrid>) -> Vec<f64> {
    let values = panel.known_values(series, 0..rows);
    M::completed(match clock {
        Some(clock) => clock.spread(&values),
        None => values,
    })
}

/// A history as if the steps with unknown values had not been.
pub(crate) fn known(mut y: Vec<f64>) -> Vec<f64> {
    y.retain(|y| !y.is_nan());
    y
}

/// Forecasts by the last value, and the deviations of a random walk.
fn last_value(y: &[f64], h: usize) -> SeriesForecast {
    let y: Vec<f32> = y.iter().map(|&y| y as f32).collect();
    let deviation = repeated::deviation(&y, 1);
    SeriesForecast {
        mean: repeated::repeat(&y, 1).take(h).map(f64::from).collect(),
        deviation: (1..=h).map(|step| deviation * (step as f64).sqrt()).collect(),
        sample: Vec::new(),
    }
}

impl<M: LocalMethod> Method for M {
    const NAME: &'static str = <M as LocalMethod>::NAME;
    const PAPER: &'static str = <M as LocalMethod>::PAPER;
    const HYPER_PARAMETERS: &'static [HyperParameter<Self>] = <M as LocalMethod>::HYPER_PARAMETERS;
    const HAS_QUANTILES: bool = <M as LocalMethod>::HAS_QUANTILES;
    const LEARNS: bool = <M as LocalMethod>::LEARNS;
    const READS_COLUMNS: bool = <M as LocalMethod>::READS_COLUMNS;
    const IS_DEMAND: bool = <M as LocalMethod>::IS_DEMAND;

    fn columns(&self) -> &[String] {
        LocalMethod::columns(self)
    }

    fn slopes(&self, learned: &[f64]) -> Option<Vec<f64>> {
        LocalMethod::slopes(self, learned)
    }

    fn fallback(&self, freq: Freq, history: &HistoryFacts) -> Option<Fallback> {
        LocalMethod::fallback(&self.settled(freq), history)
    }

    fn caveat(&self, freq: Freq) -> Option<String> {
        LocalMethod::caveat(&self.settled(freq))
    }

    fn fitted(&self, panel: &Panel, learned: &mut SeriesNumbers, workers: &Workers) -> Self {
        let settled = self.settled(panel.freq());
        if <M as LocalMethod>::LEARNS {
            let mut numbers = vec![Vec::new(); panel.n_series()];
            workers.each(&mut numbers, true, |series, numbers| {
                let rows = panel.len(series);
                let column = |name: &String| {
                    let values = panel.column(name, series).unwrap_or_default();
                    values.iter().map(|&x| f64::from(x)).collect()
                };
                let columns: Vec<Vec<f64>> = LocalMethod::columns(self).iter().map(column).collect();
                let clock = clock_grid(self, panel, series, rows, 0);
                *numbers = settled.learn_with(&history::<M>(panel, series, rows, clock.as_ref()), &columns);
            });
            // Models of more numbers than others: as many are kept of each.
            let most = numbers.iter().map(Vec::len).max().unwrap_or(0);
            numbers.iter_mut().for_each(|numbers| numbers.resize(most, 0.0));
            let times = (0..panel.n_series()).map(|series| first_time(panel, series));
            learned.set(panel, FIRST_TIME, times.collect());
            learned.set(panel, NUMBERS, numbers.concat());
        }
        settled
    }

    fn forecast(
        &self,
        panel: &Panel,
        asked: &Asked<'_>,
        learned: &SeriesNumbers,
        workers: &Workers,
    ) -> Result<ForecastValues, EstimatorError> {
        let names = LocalMethod::columns(self);
        let cutoffs = cutoffs_beside(panel, asked.span, asked.h, names)?;
        let future = match asked.span {
            Span::Predict { future } => future,
            _ => None,
        };
        let normal = Normal::standard();
        let scores: Vec<(f64, f64)> =
            asked.quantiles.unwrap_or_default().iter().map(|&q| (q, normal.inverse_cdf(q))).collect();
        let mut windows = Vec::new();
        windows.resize_with(cutoffs.len(), || Ok(Vec::new()));
        workers.each(&mut windows, true, |window, values: &mut Result<Vec<f32>, DataError>| {
            let (series, before) = cutoffs[window];
            let column = |name| KnownColumn::of(panel, series, name, before..before + asked.h, future);
            let columns: Vec<KnownColumn> = match names.iter().map(|name| column(name)).collect() {
                Ok(columns) => columns,
                Err(error) => return *values = Err(error),
            };
            let clock = clock_grid(self, panel, series, before, asked.h);
            let h = clock.as_ref().map_or(asked.h, ClockGrid::steps);
            let y = history::<M>(panel, series, before, clock.as_ref());
            let (id, level) = (panel.id(series), panel.level(series));
            let same_start =
                learned.of(id, FIRST_TIME).is_some_and(|first| first == [first_time(panel, series)]);
            let own = learned.of(id, NUMBERS).filter(|_| same_start).map(<[f64]>::to_vec);
            let own = own.unwrap_or_else(|| {
                let past: Vec<Vec<f64>> = columns.iter().map(|column| column.past.clone()).collect();
                self.learn_with(&y, &past)
            });
            let forecast = self.forecast_with(&y, &own, &columns, h);
            let mut forecast = forecast.unwrap_or_else(|| last_value(&y, h));
            // One value tells nothing of how far forecasts are off.
            if y.len() < 2 {
                forecast.deviation = vec![f64::NAN; h];
                forecast.sample.clear();
            }
            if let Some(clock) = &clock {
                forecast.mean = clock.take(&forecast.mean);
                forecast.deviation = clock.take(&forecast.deviation);
            }
            let mut row = Vec::with_capacity(asked.h * (1 + scores.len()));
            for (step, &mean) in forecast.mean.iter().enumerate() {
                row.push(level.hold(mean));
                row.extend(scores.iter().map(|&(q, score)| level.hold(forecast.quantile(step, q, score))));
            }
            *values = Ok(row);
        });
        let windows = windows.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(ForecastValues { cutoffs, values: windows.concat() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_with_unknown_values_are_left_out() {
        let nan = f64::NAN;
        assert_eq!(known(vec![nan, 1.0, nan, 4.0]), [1.0, 4.0]);
    }

    #[test]
    fn a_series_that_is_too_short_is_forecast_by_its_last_value() {
        let forecast = last_value(&[1.0, 3.0], 4);
        assert_eq!(forecast.mean, [3.0; 4]);
        assert_eq!((forecast.deviation[0], forecast.deviation[3]), (2.0, 4.0));
        assert_eq!(last_value(&[], 2).mean, [0.0; 2]);
    }
}
