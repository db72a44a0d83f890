//! One series as a method sees it before a forecast.

use foretell_data::{DataError, Future, Panel};
use foretell_estimator::{Cutoff, KnownColumn, SeriesNumbers};

use crate::clock_grid::ClockGrid;
use crate::local::LocalMethod;
use crate::method::NUMBERS;

/// The name of the time that what is learned holds from.
pub(crate) const FIRST_TIME: &str = "first_time";

/// The time of the first row of a series; NaN, which is no time, of one without rows.
pub(crate) fn first_time(panel: &Panel, series: usize) -> f64 {
    if panel.len(series) == 0 { f64::NAN } else { panel.time(series, 0) as f64 }
}

/// The clock of a series where it is changed; none for a method that reads columns, whose values stand at the rows.
pub(crate) fn clock_grid(
    method: &impl LocalMethod,
    panel: &Panel,
    series: usize,
    rows: usize,
    h: usize,
) -> Option<ClockGrid> {
    LocalMethod::columns(method).is_empty().then(|| ClockGrid::new(panel, series, rows, h))?
}

/// The first rows of a series as a method sees them, with all their digits; by the clock where it is changed.
pub(crate) fn history<M: LocalMethod>(
    panel: &Panel,
    series: usize,
    rows: usize,
    clock: Option<&ClockGrid>,
) -> Vec<f64> {
    let values = panel.known_values(series, 0..rows);
    M::completed(match clock {
        Some(clock) => clock.spread(&values),
        None => values,
    })
}

/// What a method forecasts a window from.
pub(crate) struct Window {
    /// The history.
    pub y: Vec<f64>,
    /// What was learned of it.
    pub learned: Vec<f64>,
    pub columns: Vec<KnownColumn>,
    /// Where the clock is changed, the places of the window's steps among those of the forecast.
    pub clock: Option<ClockGrid>,
    /// Steps to forecast.
    pub h: usize,
}

impl Window {
    /// The `h` steps behind a cutoff. A series that was not learned from, or starts at another time, is learned here.
    ///
    /// # Errors
    /// If the panel, or behind its end the future, lacks a column.
    pub(crate) fn new<M: LocalMethod>(
        method: &M,
        panel: &Panel,
        (series, before): Cutoff,
        h: usize,
        future: Option<&Future>,
        learned: &SeriesNumbers,
    ) -> Result<Self, DataError> {
        let column = |name| KnownColumn::of(panel, series, name, before..before + h, future);
        let columns: Vec<KnownColumn> =
            LocalMethod::columns(method).iter().map(|name| column(name)).collect::<Result<_, _>>()?;
        let clock = clock_grid(method, panel, series, before, h);
        let h = clock.as_ref().map_or(h, ClockGrid::steps);
        let y = history::<M>(panel, series, before, clock.as_ref());
        let id = panel.id(series);
        let same_start = learned.of(id, FIRST_TIME).is_some_and(|first| first == [first_time(panel, series)]);
        let own = learned.of(id, NUMBERS).filter(|_| same_start).map(<[f64]>::to_vec);
        let learned = own.unwrap_or_else(|| {
            let past: Vec<Vec<f64>> = columns.iter().map(|column| column.past.clone()).collect();
            method.learn_with(&y, &past)
        });
        Ok(Self { y, learned, columns, clock, h })
    }

    /// The values of the window's own steps.
    pub(crate) fn take(&self, values: Vec<f64>) -> Vec<f64> {
        match &self.clock {
            Some(clock) => clock.take(&values),
            None => values,
        }
    }
}
