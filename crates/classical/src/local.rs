//! Methods that see one series at a time, all series on all threads.

use foretell_calendar::Freq;
use foretell_data::{DataError, Future, Panel};
use foretell_estimator::{
    Asked, ClockGrid, Cutoff, EstimatorError, Fallback, ForecastPart, ForecastValues, KnownColumn,
    NamedNumbers, SeriesNumbers, Workers, cutoffs_beside, each_window, interpolate,
};
use statrs::distribution::{ContinuousCDF as _, Normal};

use crate::hyper::HyperParameter;
use crate::method::{HistoryFacts, Method, NUMBERS};
use crate::numeric::box_cox::BoxCox;
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
    /// The transformation of values whose error is normal, and has this deviation, with the mean of each step before it is undone, `[h]`; `None`
    /// where the error of the values themselves is.
    pub transformed: Option<(BoxCox, Vec<f64>)>,
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
            0 => match &self.transformed {
                Some((by, mean)) => by.back(mean[step] + score * self.deviation[step]),
                None => self.mean[step] + score * self.deviation[step],
            },
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

    /// [`Method::describe`].
    fn describe(&self, learned: &[f64]) -> Option<(String, NamedNumbers)> {
        _ = learned;
        None
    }

    /// Whether what was learned of a series, or of its beginning, holds for this history; if not, it is learned anew.
    fn holds_for(&self, learned: &[f64], y: &[f64]) -> bool {
        _ = (learned, y);
        true
    }

    /// [`Method::passed_over`].
    fn passed_over(&self, learned: &[f64]) -> Option<Fallback> {
        _ = learned;
        None
    }

    /// The names of the parts that its forecasts add up of, the level first; none of a method without parts.
    fn part_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// The parts of a forecast, `[parts, h]`, zeros of one that it lacks; `None` where [`LocalMethod::forecast`] gives none.
    fn parts(&self, y: &[f64], learned: &[f64], h: usize) -> Option<Vec<Vec<f64>>> {
        _ = (y, learned, h);
        None
    }

    /// The forecast of `h` steps after a history without unknown values, with what was learned of it or of its beginning;
    /// `None` if it is too short. Numbers learned of another series may follow those of this one.
    fn forecast(&self, y: &[f64], learned: &[f64], h: usize) -> Option<SeriesForecast>;
}

/// What forecasting a panel calls of a method. Functions over panels and threads take it as an object, so that they are compiled once and
/// not for each method.
trait OneSeries: Sync {
    fn columns(&self) -> &[String];
    fn completed(&self, y: Vec<f64>) -> Vec<f64>;
    fn learn(&self, y: &[f64], columns: &[Vec<f64>]) -> Vec<f64>;
    fn holds_for(&self, learned: &[f64], y: &[f64]) -> bool;
    fn forecast(&self, window: &Window) -> Option<SeriesForecast>;
    fn parts(&self, window: &Window) -> Option<Vec<Vec<f64>>>;
}

impl<M: LocalMethod> OneSeries for M {
    fn columns(&self) -> &[String] {
        LocalMethod::columns(self)
    }

    fn completed(&self, y: Vec<f64>) -> Vec<f64> {
        M::completed(y)
    }

    fn learn(&self, y: &[f64], columns: &[Vec<f64>]) -> Vec<f64> {
        self.learn_with(y, columns)
    }

    fn holds_for(&self, learned: &[f64], y: &[f64]) -> bool {
        LocalMethod::holds_for(self, learned, y)
    }

    fn forecast(&self, window: &Window) -> Option<SeriesForecast> {
        self.forecast_with(&window.y, &window.learned, &window.columns, window.h)
    }

    fn parts(&self, window: &Window) -> Option<Vec<Vec<f64>>> {
        LocalMethod::parts(self, &window.y, &window.learned, window.h)
    }
}

/// The name of the time that what is learned holds from.
const FIRST_TIME: &str = "first_time";

/// The time of the first row of a series; NaN, which is no time, of one without rows.
fn first_time(panel: &Panel, series: usize) -> f64 {
    if panel.len(series) == 0 { f64::NAN } else { panel.time(series, 0) as f64 }
}

/// The clock of a series where it is changed; none for a method that reads columns, whose values stand at the rows.
fn clock_grid(
    method: &dyn OneSeries,
    panel: &Panel,
    series: usize,
    rows: usize,
    h: usize,
) -> Option<ClockGrid> {
    method.columns().is_empty().then(|| ClockGrid::new(panel, series, rows, h))?
}

/// The first rows of a series as a method sees them, with all their digits; by the clock where it is changed.
fn history(
    method: &dyn OneSeries,
    panel: &Panel,
    series: usize,
    rows: usize,
    clock: Option<&ClockGrid>,
) -> Vec<f64> {
    let values = panel.known_values(series, 0..rows);
    method.completed(match clock {
        Some(clock) => clock.spread(&values),
        None => values,
    })
}

/// What a method forecasts a window from.
struct Window {
    /// The history.
    y: Vec<f64>,
    /// What was learned of it.
    learned: Vec<f64>,
    columns: Vec<KnownColumn>,
    /// Where the clock is changed, the places of the window's steps among those of the forecast.
    clock: Option<ClockGrid>,
    /// Steps to forecast.
    h: usize,
}

impl Window {
    /// The `h` steps behind a cutoff. A series that was not learned from, or starts at another time, is learned here.
    ///
    /// # Errors
    /// If the panel, or behind its end the future, lacks a column.
    fn new(
        method: &dyn OneSeries,
        panel: &Panel,
        (series, before): Cutoff,
        h: usize,
        future: Option<&Future>,
        learned: &SeriesNumbers,
    ) -> Result<Self, DataError> {
        let column = |name| KnownColumn::of(panel, series, name, before..before + h, future);
        let columns: Vec<KnownColumn> =
            method.columns().iter().map(|name| column(name)).collect::<Result<_, _>>()?;
        let clock = clock_grid(method, panel, series, before, h);
        let h = clock.as_ref().map_or(h, ClockGrid::steps);
        let y = history(method, panel, series, before, clock.as_ref());
        let id = panel.id(series);
        let same_start = learned.of(id, FIRST_TIME).is_some_and(|first| first == [first_time(panel, series)]);
        let own = learned.of(id, NUMBERS).filter(|own| same_start && method.holds_for(own, &y));
        let learned = own.map(<[f64]>::to_vec).unwrap_or_else(|| {
            let past: Vec<Vec<f64>> = columns.iter().map(|column| column.past.clone()).collect();
            method.learn(&y, &past)
        });
        Ok(Self { y, learned, columns, clock, h })
    }

    /// The values of the window's own steps.
    fn take(&self, values: Vec<f64>) -> Vec<f64> {
        match &self.clock {
            Some(clock) => clock.take(&values),
            None => values,
        }
    }
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
        ..SeriesForecast::default()
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
            learn_all(&settled, panel, learned, workers);
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
        forecast_all(self, panel, asked, learned, workers)
    }

    fn describe(&self, learned: &[f64]) -> Option<(String, NamedNumbers)> {
        LocalMethod::describe(self, learned)
    }

    fn passed_over(&self, learned: &[f64]) -> Option<Fallback> {
        LocalMethod::passed_over(self, learned)
    }

    fn parts(
        &self,
        panel: &Panel,
        asked: &Asked<'_>,
        learned: &SeriesNumbers,
        workers: &Workers,
    ) -> Option<Result<Vec<ForecastPart>, EstimatorError>> {
        let names = self.part_names();
        (!names.is_empty()).then(|| parts(self, names, panel, asked, (learned, workers)))
    }
}

/// What a method, settled, learns of each series.
fn learn_all(method: &dyn OneSeries, panel: &Panel, learned: &mut SeriesNumbers, workers: &Workers) {
    let mut numbers = vec![Vec::new(); panel.n_series()];
    workers.each(&mut numbers, true, |series, numbers| {
        let rows = panel.len(series);
        let column = |name: &String| {
            let values = panel.column(name, series).unwrap_or_default();
            values.iter().map(|&x| f64::from(x)).collect()
        };
        let columns: Vec<Vec<f64>> = method.columns().iter().map(column).collect();
        let clock = clock_grid(method, panel, series, rows, 0);
        *numbers = method.learn(&history(method, panel, series, rows, clock.as_ref()), &columns);
    });
    // Models of more numbers than others: as many are kept of each.
    let most = numbers.iter().map(Vec::len).max().unwrap_or(0);
    numbers.iter_mut().for_each(|numbers| numbers.resize(most, 0.0));
    let times = (0..panel.n_series()).map(|series| first_time(panel, series));
    learned.set(panel, FIRST_TIME, times.collect());
    learned.set(panel, NUMBERS, numbers.concat());
}

/// The forecasts of all windows, as [`Method::forecast`] has them.
fn forecast_all(
    method: &dyn OneSeries,
    panel: &Panel,
    asked: &Asked<'_>,
    learned: &SeriesNumbers,
    workers: &Workers,
) -> Result<ForecastValues, EstimatorError> {
    let names = method.columns();
    let cutoffs = cutoffs_beside(panel, asked.span, asked.h, names)?;
    let normal = Normal::standard();
    let scores: Vec<(f64, f64)> =
        asked.quantiles.unwrap_or_default().iter().map(|&q| (q, normal.inverse_cdf(q))).collect();
    let each = asked.h * (1 + scores.len());
    let values = each_window(&cutoffs, each, workers, |cutoff, out| {
        let level = panel.level(cutoff.0);
        let window = Window::new(method, panel, cutoff, asked.h, asked.future(), learned)?;
        let forecast = method.forecast(&window);
        let mut forecast = forecast.unwrap_or_else(|| last_value(&window.y, window.h));
        // One value tells nothing of how far forecasts are off.
        if window.y.len() < 2 {
            forecast.deviation = vec![f64::NAN; window.h];
            forecast.sample.clear();
        }
        forecast.mean = window.take(forecast.mean);
        forecast.deviation = window.take(forecast.deviation);
        forecast.transformed = forecast.transformed.map(|(by, mean)| (by, window.take(mean)));
        let rows = out.chunks_exact_mut(1 + scores.len());
        for (step, (row, &mean)) in rows.zip(&forecast.mean).enumerate() {
            row[0] = level.hold(mean);
            for (cell, &(q, score)) in row[1..].iter_mut().zip(&scores) {
                *cell = level.hold(forecast.quantile(step, q, score));
            }
        }
        Ok(())
    })?;
    Ok(ForecastValues { cutoffs, values })
}

/// The parts of the forecasts of all windows: the first is on the level of its series, and the others are added to it.
fn parts(
    method: &dyn OneSeries,
    names: Vec<String>,
    panel: &Panel,
    asked: &Asked<'_>,
    (learned, workers): (&SeriesNumbers, &Workers),
) -> Result<Vec<ForecastPart>, EstimatorError> {
    let cutoffs = cutoffs_beside(panel, asked.span, asked.h, method.columns())?;
    let each = names.len() * asked.h;
    let values = each_window(&cutoffs, each, workers, |cutoff, out| {
        let window = Window::new(method, panel, cutoff, asked.h, asked.future(), learned)?;
        let parts = method.parts(&window);
        let parts = parts.unwrap_or_else(|| vec![last_value(&window.y, window.h).mean]);
        let level = panel.level(cutoff.0);
        let [_, scale] = level.into();
        for (place, (cells, part)) in out.chunks_exact_mut(asked.h).zip(parts).enumerate() {
            let held = |value: f64| if place == 0 { level.hold(value) } else { (value / scale) as f32 };
            cells.iter_mut().zip(window.take(part)).for_each(|(cell, value)| *cell = held(value));
        }
        Ok(())
    })?;
    // [windows, parts, h]
    let part = |(place, name): (usize, String)| {
        let of_window = |window: &[f32]| window[place * asked.h..][..asked.h].to_vec();
        ForecastPart { name, values: values.chunks_exact(each).flat_map(of_window).collect() }
    };
    Ok(names.into_iter().enumerate().map(part).collect())
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
