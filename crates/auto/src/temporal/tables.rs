//! Tables of forecasts of any tool, reconciled over time.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use foretell::hierarchy::Reconciliation;
use foretell::{
    DataError, Error, EstimatorError, ForecastTable, Freq, ModelInTable, ReconciliationError, ScoresError,
};

use super::coherent::{Sum, hierarchy, reconciled};
use super::error::TemporalError;
use super::estimator::Temporal;
use super::period::{CalendarPeriod, DAY, Parts, Period};

/// Forecasts of sums over a period.
#[derive(Clone, Copy, Debug)]
pub struct SumsTable<'a> {
    /// The period: a number of steps, or a frequency. Of a frequency with as many steps each time, or a number, periods are counted from the
    /// first step of a forecast on; months, quarters and years have the steps of the calendar, and days with a zone those of its clocks.
    pub period: &'a str,
    /// The forecasts, each at the time of its first step, of its last, or of the last one's day.
    pub forecast: &'a ForecastTable,
    /// Forecasts of the past beside the sums that came true.
    pub past: Option<&'a ForecastTable>,
}

/// Forecasts of steps and of their sums, of any models and tools, that are to add up: hours and days, days and months.
#[derive(Clone, Debug)]
pub struct TemporalTables<'a> {
    /// The forecasts of the steps.
    pub steps: &'a ForecastTable,
    /// Forecasts of the past beside the values that came true.
    pub past: Option<&'a ForecastTable>,
    /// The forecasts of the sums.
    pub sums: Vec<SumsTable<'a>>,
    /// The column of what came true.
    pub target: &'a str,
    /// One of [`Temporal::METHODS`]; `None` is [`Reconciliation::usual`].
    pub method: Option<Reconciliation>,
}

/// The forecasts of sums over a period, and how steps make it up.
struct Periods<'a> {
    table: &'a SumsTable<'a>,
    parts: Parts,
}

/// The mean squares of past errors of each series, by period and then of steps; nothing where one is not known.
type Variances = HashMap<String, Vec<f64>>;

impl TemporalTables<'_> {
    /// The forecasts of the steps, changed until they add up to sums that are as near to those forecast as the method says, and the method.
    /// Rows stay where they are. A model's quantiles move along with its number, or its median where it has no number. Series
    /// without past errors are weighed by numbers of steps.
    ///
    /// # Errors
    /// A period that steps do not add up to, a sum that stands for none, a series, forecast or column that one of the tables lacks, steps that are
    /// left out, or past forecasts that the method needs.
    pub fn reconcile(&self) -> Result<(ForecastTable, Reconciliation), Error> {
        let has_past = self.past.is_some() && self.sums.iter().all(|sums| sums.past.is_some());
        let method = self.method.unwrap_or(Reconciliation::usual(has_past));
        if !Temporal::METHODS.contains(&method) {
            let expected = "BottomUp, MinTraceOLS, MinTraceWLS or MinTraceVar";
            return Err(usage(TemporalError::Value {
                name: "temporal_method",
                expected,
                found: method.to_string(),
            }));
        }
        let freq = self.freq()?;
        let periods = self.periods(freq).map_err(usage)?;
        let models: Vec<ModelInTable> =
            self.steps.models(self.target).into_iter().filter(ModelInTable::is_forecast).collect();
        if models.iter().all(|model| model.point().is_none()) {
            return Err(ScoresError::NoForecasts { forecast: self.steps.file.clone() }.into());
        }
        let windows = self.windows(freq, &periods)?;
        let mut found = self.steps.clone();
        for model in models {
            let Some(point) = model.point() else { continue };
            let name = &self.steps.columns[point].0;
            let variances = match method {
                Reconciliation::MinTraceVar => self.variances(name)?,
                _ => Variances::new(),
            };
            let of_sums: Vec<&[f64]> =
                self.sums.iter().map(|sums| sums.forecast.column(name)).collect::<Result<_, DataError>>()?;
            let moved: Vec<usize> =
                model.number.into_iter().chain(model.quantiles.iter().map(|(_, place)| *place)).collect();
            for window in &windows {
                let value =
                    |table: &ForecastTable, column: &[f64], row: usize| known(table, name, column, row);
                let steps =
                    window.rows.iter().map(|&row| value(self.steps, &self.steps.columns[point].1, row));
                let steps = steps.collect::<Result<Vec<f64>, Error>>()?;
                let sums = window
                    .sums
                    .iter()
                    .zip(&window.sum_rows)
                    .map(|((period, _), &row)| value(self.sums[*period].forecast, of_sums[*period], row));
                let sums = sums.collect::<Result<Vec<f64>, Error>>()?;
                let hierarchy = hierarchy(steps.len(), &window.sums)?;
                let variances = variances.get(window.id).map(Vec::as_slice);
                let after = reconciled(&hierarchy, &window.sums, method, variances, (&sums, &steps))?;
                for ((&row, before), after) in window.rows.iter().zip(&steps).zip(&after) {
                    moved.iter().for_each(|&place| found.columns[place].1[row] += after - before);
                }
            }
        }
        Ok((found, method))
    }

    /// The step of the forecasts.
    fn freq(&self) -> Result<Freq, Error> {
        let forecasts = forecasts(self.steps);
        let first = forecasts.values().next().and_then(|of_series| of_series.first());
        let times: Vec<i64> = first.into_iter().flatten().map(|&row| self.steps.times[row]).collect();
        let freq = Freq::infer(self.steps.kind, self.steps.zone.as_ref(), &times);
        // Short windows of the past have a step together.
        let freq = freq.or_else(|| self.steps.freq());
        freq.ok_or_else(|| usage(TemporalError::NoStep { file: self.steps.file.to_string() }))
    }

    fn periods(&self, freq: Freq) -> Result<Vec<Periods<'_>>, TemporalError> {
        let mut found = Vec::with_capacity(self.sums.len());
        for table in &self.sums {
            let refused = || TemporalError::Value {
                name: "temporal",
                expected: "at least 2 steps or a frequency, as 24h",
                found: table.period.to_owned(),
            };
            let period = Period::parse(table.period).ok_or_else(refused)?;
            found.push(Periods { table, parts: period.parts(freq, self.steps.zone.as_ref())? });
        }
        Ok(found)
    }

    /// The forecasts of each series and cutoff, with the rows of their sums.
    fn windows(&self, freq: Freq, periods: &[Periods<'_>]) -> Result<Vec<Window<'_>>, Error> {
        let steps = forecasts(self.steps);
        let mut windows: Vec<Window<'_>> = Vec::new();
        for (&id, forecasts) in &steps {
            for rows in forecasts {
                let times: Vec<i64> = rows.iter().map(|&row| self.steps.times[row]).collect();
                if let Some(place) = freq.first_break(self.steps.zone.as_ref(), &times) {
                    let (file, time) = (self.steps.file.to_string(), shown(self.steps, times[place]));
                    return Err(
                        ReconciliationError::StepMissing { file, id: id.to_owned(), time, freq }.into()
                    );
                }
                windows.push(Window { id, rows: rows.clone(), sums: Vec::new(), sum_rows: Vec::new() });
            }
        }
        for (number, period) in periods.iter().enumerate() {
            let table = period.table.forecast;
            let mut of_sums = forecasts(table);
            let mut place = 0;
            for (&id, forecasts) in &steps {
                let own = of_sums.remove(id).unwrap_or_default();
                let windows = &mut windows[place..place + forecasts.len()];
                place += forecasts.len();
                for (number_of_own, window) in windows.iter_mut().enumerate() {
                    let Some(rows) = own.get(number_of_own) else {
                        return Err(no_series(table, id, self.steps, window.rows[0]));
                    };
                    self.add(window, (number, period), rows, freq)?;
                }
                if let Some(rows) = own.get(windows.len()) {
                    return Err(no_series(self.steps, id, table, rows[0]));
                }
            }
            if let Some((id, own)) = of_sums.first_key_value() {
                return Err(no_series(self.steps, id, table, own[0][0]));
            }
        }
        Ok(windows)
    }

    /// Adds the forecasts of sums in these rows to those of a series and cutoff.
    fn add(
        &self,
        window: &mut Window<'_>,
        (number, period): (usize, &Periods<'_>),
        rows: &[usize],
        freq: Freq,
    ) -> Result<(), Error> {
        let table = period.table.forecast;
        let whole = self.whole(&window.rows, period.parts, freq);
        // The time of the sum of each period.
        let mut taken: Vec<Option<i64>> = vec![None; whole.len()];
        for &row in rows {
            let time = table.times[row];
            let place = whole.iter().position(|whole| whole.is_labelled(civil(table, time)));
            let free = place.filter(|&place| taken[place].is_none());
            let is_twice = place.is_some_and(|place| taken[place] == Some(time));
            let (file, id, time) = (table.file.to_string(), window.id.to_owned(), shown(table, time));
            let Some(place) = free else {
                let period = period.table.period.to_owned();
                return Err(match is_twice {
                    true => ReconciliationError::TwoRows { file, id, time }.into(),
                    false => ReconciliationError::NoPeriod { file, id, time, period }.into(),
                });
            };
            taken[place] = Some(table.times[row]);
            window.sums.push((number, whole[place].steps.clone()));
            window.sum_rows.push(row);
        }
        Ok(())
    }

    /// The periods of a forecast, whose rows are given, that have all their steps.
    fn whole(&self, rows: &[usize], parts: Parts, freq: Freq) -> Vec<Whole> {
        let time = |place: usize| civil(self.steps, self.steps.times[rows[place]]);
        let labelled = |steps: Range<usize>, in_calendar| Whole {
            first: time(steps.start),
            last: time(steps.end - 1),
            in_calendar,
            steps,
        };
        match parts {
            Parts::Steps(each) => {
                (0..rows.len() / each).map(|n| labelled(n * each..(n + 1) * each, None)).collect()
            }
            Parts::Calendar(calendar) => {
                let zone = self.steps.zone.as_ref();
                let beside = |place: usize, step: i64| {
                    let time = freq.next_in(zone, self.steps.times[rows[place]], step)?;
                    calendar.end(civil(self.steps, time))
                };
                let ends: Vec<Option<i64>> = (0..rows.len()).map(|place| calendar.end(time(place))).collect();
                let mut start = 0;
                let mut found = Vec::new();
                for of_period in ends.chunk_by(|one, other| one == other) {
                    let steps = start..start + of_period.len();
                    start = steps.end;
                    let is_whole =
                        beside(steps.start, -1) != of_period[0] && beside(steps.end - 1, 1) != of_period[0];
                    if is_whole {
                        found.push(labelled(steps, of_period[0].map(|end| (calendar, end))));
                    }
                }
                found
            }
        }
    }

    /// The mean squares of the past errors of a model.
    fn variances(&self, model: &str) -> Result<Variances, Error> {
        let tables = self.sums.iter().map(|sums| (sums.period, sums.past)).chain([("the steps", self.past)]);
        let mut all = Variances::new();
        for (place, (what, past)) in tables.enumerate() {
            let past = past.ok_or_else(|| usage(TemporalError::NoPast { what: what.to_owned() }))?;
            let errors =
                past.column(self.target)?.iter().zip(past.column(model)?).map(|(y, found)| y - found);
            let mut sums = BTreeMap::<&str, (f64, usize)>::new();
            for (id, error) in past.ids.iter().zip(errors).filter(|(_, error)| error.is_finite()) {
                let (sum, count) = sums.entry(id).or_default();
                (*sum, *count) = (*sum + error * error, *count + 1);
            }
            for (id, (sum, count)) in sums {
                let own = all.entry(id.to_owned()).or_default();
                // A series that a table before lacks stays without.
                if own.len() == place {
                    own.push(sum / count as f64);
                }
            }
        }
        // Errors that are all 0 weigh nothing.
        all.retain(|_, own| own.len() > self.sums.len() && own.iter().sum::<f64>() > 0.0);
        Ok(all)
    }
}

/// The forecasts of a series from one cutoff.
struct Window<'a> {
    id: &'a str,
    /// The rows of the steps, in the order of time.
    rows: Vec<usize>,
    sums: Vec<Sum>,
    /// The row of each sum in the table of its period.
    sum_rows: Vec<usize>,
}

/// A period all of whose steps are forecast; times are those that clocks show.
struct Whole {
    steps: Range<usize>,
    first: i64,
    last: i64,
    /// The calendar's period, and where it ends.
    in_calendar: Option<(CalendarPeriod, i64)>,
}

impl Whole {
    /// Whether a sum at this time is that of the period.
    fn is_labelled(&self, time: i64) -> bool {
        match self.in_calendar {
            Some((calendar, end)) => calendar.end(time) == Some(end),
            None => time == self.first || time == self.last || self.is_last_day(time),
        }
    }

    /// Whether the time is the day that ends with the last step, as of a week of hours.
    fn is_last_day(&self, time: i64) -> bool {
        let n = self.steps.len() as i64 - 1;
        let step = (self.last - self.first) / n.max(1);
        let day = |time: i64| time.div_euclid(DAY);
        time.rem_euclid(DAY) == 0 && day(time) == day(self.last) && day(self.last + step) > day(self.last)
    }
}

/// The rows of each forecast of a table, in the order of time: by series, then by cutoff.
fn forecasts(table: &ForecastTable) -> BTreeMap<&str, Vec<Vec<usize>>> {
    let mut found = BTreeMap::<&str, BTreeMap<i64, Vec<usize>>>::new();
    for (row, id) in table.ids.iter().enumerate() {
        let cutoff = table.cutoffs.as_ref().map_or(i64::MIN, |cutoffs| cutoffs[row]);
        found.entry(id).or_default().entry(cutoff).or_default().push(row);
    }
    let in_order = |mut rows: Vec<usize>| {
        rows.sort_by_key(|&row| table.times[row]);
        rows
    };
    found.into_iter().map(|(id, rows)| (id, rows.into_values().map(in_order).collect())).collect()
}

/// The time that clocks show.
fn civil(table: &ForecastTable, time: i64) -> i64 {
    table.zone.as_ref().and_then(|zone| zone.civil(time)).unwrap_or(time)
}

fn shown(table: &ForecastTable, time: i64) -> String {
    table.kind.display_in(table.zone.as_ref(), time)
}

/// The forecast in a row, which must be known.
fn known(table: &ForecastTable, name: &str, column: &[f64], row: usize) -> Result<f64, Error> {
    let unknown = || ReconciliationError::Unknown {
        file: table.file.to_string(),
        column: name.to_owned(),
        id: table.ids[row].to_string(),
        time: shown(table, table.times[row]),
    };
    Some(column[row]).filter(|value| value.is_finite()).ok_or_else(|| unknown().into())
}

/// A table has no forecasts of a series that another has in this row.
fn no_series(table: &ForecastTable, id: &str, other: &ForecastTable, row: usize) -> Error {
    let (file, time) = (table.file.to_string(), shown(other, other.times[row]));
    ReconciliationError::NoSeries { file, id: id.to_owned(), time }.into()
}

fn usage(error: TemporalError) -> Error {
    EstimatorError::from(error).into()
}

#[cfg(test)]
#[path = "tables_tests.rs"]
mod tests;
