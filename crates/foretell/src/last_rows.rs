//! Doubts about the last rows of a panel, which forecasts follow more than any others: values that slipped, a period that is not over,
//! zeros where nothing is known yet.

use std::f64::consts::LN_2;

use foretell_calendar::usual_season;
use foretell_data::Panel;

use crate::warning::{LastValue, Warning};

/// Rows of a series that are looked at, its last ones.
const REACH: usize = 1000;

/// The fewest rows that tell what is usual; with two seasons where these are more.
const LEAST: usize = 14;

/// How many times as large as any step before the last one is, that of a slip. With 2.5, three of 14,000 last values of real and simulated
/// series are marked that are none, and 86 of 100 that are multiplied by 10.
const STEP: f64 = 2.5;

/// The part of the lowest ratio to the row before, and to that of a season ago, below which a period is not over. None of those 14,000
/// rows is below it, and 47 of 100 that are multiplied by 0.4.
const LOW: f64 = 0.75;

/// Doubts about the last rows of a panel.
pub(crate) fn doubts_of_last_rows(panel: &Panel) -> Vec<Warning> {
    let ends = Ends::of(panel);
    if let Some(zeros) = ends.zeros() {
        return vec![zeros];
    }
    match ends.low_row() {
        Some(low) => vec![low],
        None => ends.slips().into_iter().collect(),
    }
}

/// The last rows of the series that end with their panel.
struct Ends<'p> {
    panel: &'p Panel,
    season: usize,
    series: Vec<usize>,
    /// Their values, on the scale of the data; NaN where unknown.
    values: Vec<Vec<f64>>,
}

impl<'p> Ends<'p> {
    fn of(panel: &'p Panel) -> Self {
        let end = |series: usize| panel.len(series).checked_sub(1).map(|row| panel.time(series, row));
        let last = (0..panel.n_series()).filter_map(end).max();
        let series: Vec<usize> =
            (0..panel.n_series()).filter(|&series| last.is_some() && end(series) == last).collect();
        let values = |&series: &usize| {
            let (len, level) = (panel.len(series), panel.level(series));
            let y = panel.known_y(series, len.saturating_sub(REACH)..len);
            y.iter().map(|&y| level.value(y)).collect()
        };
        let values = series.iter().map(values).collect();
        Self { panel, season: usual_season(panel.freq()), series, values }
    }

    /// The time of the row that is this many before the last one.
    fn time(&self, back: usize) -> String {
        let series =
            *self.series.iter().max_by_key(|&&series| self.panel.len(series)).expect("one ends last");
        let time = self.panel.time(series, self.panel.len(series) - 1 - back);
        self.panel.freq().kind().display_in(self.panel.zone(), time)
    }

    /// The fewest rows of a series that is looked at.
    fn least(&self) -> usize {
        LEAST.max(2 * self.season + 2)
    }

    /// Rows at the end where all series are 0, as never for so long before.
    fn zeros(&self) -> Option<Warning> {
        let reach = self.values.iter().map(Vec::len).max()?;
        // Whether all are 0, by rows from the last one back to the first value that is not.
        let is_zero = |back: usize| {
            let mut rows = self.values.iter().filter_map(|y| y.len().checked_sub(back + 1).map(|row| y[row]));
            rows.all(|y| y == 0.0)
        };
        let zeros: Vec<bool> = (0..reach).map(is_zero).collect();
        let rows = zeros.iter().take_while(|is_zero| **is_zero).count();
        let first_value = zeros.iter().rposition(|is_zero| !is_zero)?;
        let before = &zeros[rows..=first_value];
        let longest = before.split(|is_zero| !is_zero).map(<[bool]>::len).max().unwrap_or(0);
        // One series may well be 0 once.
        let least = if self.series.len() == 1 { 2 } else { 1 };
        let is_new = rows >= least && rows > 2 * longest && before.len() >= LEAST.max(rows);
        is_new.then(|| Warning::ZerosAtEnd {
            since: self.time(rows - 1),
            before: self.time(rows),
            rows,
            series: self.series.len(),
        })
    }

    /// A last row whose sum over the series is lower than ever, by the row before and by that of a season ago.
    fn low_row(&self) -> Option<Warning> {
        let is_whole = |y: &&Vec<f64>| y.len() >= self.least() && y.iter().all(|y| *y >= 0.0);
        let whole: Vec<&Vec<f64>> = self.values.iter().filter(is_whole).collect();
        // Of a few among many the sum says little.
        if whole.is_empty() || 2 * whole.len() < self.values.len() {
            return None;
        }
        let falls = whole.iter().filter(|y| y[y.len() - 1] < y[y.len() - 2]).count();
        if 2 * falls <= whole.len() {
            return None;
        }
        let rows = whole.iter().map(|y| y.len()).min()?;
        let sum = |row: usize| whole.iter().map(|y| y[y.len() - rows + row]).sum::<f64>();
        let sums: Vec<f64> = (0..rows).map(sum).collect();
        if sums.iter().any(|sum| *sum <= 0.0) {
            return None;
        }
        let is_lower = |lag: usize| {
            let ratio = |row: usize| sums[row] / sums[row - lag];
            let lowest = (lag..rows - 1).map(ratio).fold(f64::INFINITY, f64::min);
            ratio(rows - 1) < LOW * lowest
        };
        (is_lower(1) && is_lower(self.season)).then(|| Warning::LowLastRow {
            time: self.time(0),
            before: self.time(1),
            share: sums[rows - 1] / sums[rows - 2],
            series: whole.len(),
            of: self.series.len(),
        })
    }

    /// The series whose last step is larger than any before, to the row before and to that of a season ago.
    fn slips(&self) -> Option<Warning> {
        let of_series = self.series.iter().zip(&self.values);
        let slips = of_series.filter(|(_, y)| y.len() >= self.least() && is_slip(y, self.season));
        let told = |(&series, y): (&usize, &Vec<f64>)| {
            // As they were written, without the digits that a wider type adds.
            let is_narrow = self.panel.level(series).is_default();
            let written = |y: f64| if is_narrow { (y as f32).to_string().parse().unwrap_or(y) } else { y };
            LastValue {
                series: self.panel.id(series).to_string(),
                value: written(y[y.len() - 1]),
                before: written(y[y.len() - 2]),
            }
        };
        let values: Vec<LastValue> = slips.map(told).collect();
        (!values.is_empty()).then(|| Warning::OddLastValues {
            time: self.time(0),
            before: self.time(1),
            values,
            of: self.series.len(),
        })
    }
}

/// Whether the last step is far larger than all before: the difference, or the ratio of values that are all positive, if it is two or more.
fn is_slip(y: &[f64], season: usize) -> bool {
    let is_far = |least: f64, step: fn(f64, f64) -> f64| {
        [1, season].into_iter().all(|lag| {
            let last = y.len() - 1;
            let largest = step(y[last - lag], y[last]);
            let mut others = (lag..last).map(|row| step(y[row - lag], y[row]));
            largest > least && others.all(|other| STEP * other < largest)
        })
    };
    let is_constant = || y[..y.len() - 1].windows(2).all(|pair| pair[0] == pair[1]);
    !y.iter().any(|y| y.is_nan())
        && (is_far(0.0, |before, y| (y - before).abs())
            || y.iter().all(|y| *y > 0.0) && is_far(LN_2, |before, y| (y / before).ln().abs()))
        && !is_constant()
}

#[cfg(test)]
mod tests {
    use foretell_calendar::Freq;

    use super::*;

    /// Months of three series, of which the last `rows` are what `end` makes of them.
    fn doubts(rows: usize, end: impl Fn(usize, f32) -> f32) -> Vec<Warning> {
        let month = |series: usize, t: usize| {
            let season = [0.0, -8.0, 5.0, 9.0, 12.0, 20.0, 24.0, 18.0, 7.0, 1.0, -4.0, 15.0][t % 12];
            100.0 * (series + 1) as f32 + season + ((7 * t + series) % 5) as f32
        };
        let y = |series: usize| {
            let value = |t: usize| match t + rows >= 40 {
                true => end(series, month(series, t)),
                false => month(series, t),
            };
            (0..40).map(value).collect::<Vec<f32>>()
        };
        let first = foretell_calendar::jiff::civil::date(2021, 1, 1);
        let freq = Freq::parse("MS").expect("months");
        let panel = Panel::from_series(
            freq,
            ["a", "b", "c"].into_iter().enumerate().map(|(i, id)| (id, first, y(i))),
        );
        doubts_of_last_rows(&panel.expect("a panel"))
    }

    #[test]
    fn a_value_that_slipped_is_doubted() {
        assert_eq!(doubts(1, |_, y| y), []);
        for (factor, value) in [(10.0, 1120.0), (0.125, 14.0), (-1.0, -112.0)] {
            let found = doubts(1, |series, y| if series == 0 { factor * y } else { y });
            let [Warning::OddLastValues { time, values, .. }] = &found[..] else { panic!("{found:?}") };
            let expected = LastValue { series: "a".to_owned(), value, before: 106.0 };
            assert_eq!((time.as_str(), &values[..]), ("2024-04-01", &[expected][..]));
        }
        assert_eq!(doubts(1, |_, y| 1.1 * y), [], "more than ever, and not by far");
    }

    #[test]
    fn a_period_that_is_not_over_is_doubted() {
        let found = doubts(1, |_, y| 0.4 * y);
        let [Warning::LowLastRow { time, before, share, series: 3, of: 3 }] = &found[..] else {
            panic!("{found:?}")
        };
        assert!(time == "2024-04-01" && before == "2024-03-01" && (0.38..0.45).contains(share), "{share}");
        assert_eq!(doubts(1, |_, y| 0.9 * y), []);
    }

    #[test]
    fn zeros_of_all_series_at_the_end_are_doubted() {
        let zeros = |since: &str, before: &str, rows| Warning::ZerosAtEnd {
            since: since.to_owned(),
            before: before.to_owned(),
            rows,
            series: 3,
        };
        assert_eq!(doubts(1, |_, _| 0.0), [zeros("2024-04-01", "2024-03-01", 1)]);
        assert_eq!(doubts(6, |_, _| 0.0), [zeros("2023-11-01", "2023-10-01", 6)]);
        assert_eq!(doubts(3, |series, y| if series == 1 { y } else { 0.0 }), [], "one series has values");
        assert_eq!(doubts(30, |_, _| 0.0), [], "too few rows before it");
    }
}
