//! Series by the clock: where clocks are changed, a day has an hour more or less, and what follows the hour of the day is no longer a
//! whole season of rows away.

use foretell_calendar::TimeKind;
use foretell_data::Panel;

const WEEK: i64 = 7 * 86_400_000_000;

/// The places of the rows of a series, and of the steps after them, on a grid of what the clock shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockGrid {
    /// Of each row its place; those of an hour that clocks show twice are the same.
    rows: Vec<usize>,
    /// Of each step ahead, how many places it is behind the last row, at least 1.
    ahead: Vec<usize>,
}

impl ClockGrid {
    /// The grid of the first rows of a series and of `h` steps after them; `None` where it is that of the rows: without a zone, with
    /// steps that do not divide an hour, and where no clock is changed.
    pub fn new(panel: &Panel, series: usize, rows: usize, h: usize) -> Option<Self> {
        let (zone, freq) = (panel.zone()?, panel.freq());
        if freq.kind() == TimeKind::Integer || freq.is_daily_or_coarser() || rows == 0 {
            return None;
        }
        let step = freq.next(0, 1)?;
        let divides_hours = 3_600_000_000 % step == 0 && freq.next(0, 2)? == 2 * step;
        if !divides_hours {
            return None;
        }
        let first = panel.time(series, 0);
        let start = zone.civil(first)?;
        let shown = |row: usize| Some(zone.civil(first + row as i64 * step)? - start);
        let place = |row: usize| {
            let shown = shown(row)?;
            // Half an hour is no step of hours.
            (shown % step == 0).then(|| usize::try_from(shown / step).ok())?
        };
        let (all, week) = (rows + h, (WEEK / step) as usize);
        let mut places = Vec::with_capacity(all);
        let mut is_changed = false;
        for from in (0..all).step_by(week) {
            let to = (from + week).min(all);
            // Within a week clocks are changed once at most.
            let [before, after] = [from, to - 1].map(|row| Some(shown(row)? - row as i64 * step));
            if before? == after? && before? == 0 {
                places.extend(from..to);
            } else {
                is_changed = true;
                places.extend((from..to).map(place).collect::<Option<Vec<usize>>>()?);
            }
        }
        if !is_changed {
            return None;
        }
        let last = places[rows - 1];
        let ahead = places[rows..].iter().map(|place| place.saturating_sub(last).max(1)).collect();
        Some(Self { rows: places[..rows].to_vec(), ahead })
    }

    /// The values of the rows on the grid: the mean of an hour that is there twice, NaN for one that never was.
    pub fn spread(&self, y: &[f64]) -> Vec<f64> {
        let len = self.rows.iter().max().map_or(0, |last| last + 1);
        let (mut sums, mut counts) = (vec![0.0; len], vec![0_u32; len]);
        for (&place, &y) in self.rows.iter().zip(y) {
            sums[place] += y;
            counts[place] += 1;
        }
        let mean = |(sum, count): (f64, u32)| if count > 0 { sum / f64::from(count) } else { f64::NAN };
        sums.into_iter().zip(counts).map(mean).collect()
    }

    /// The places that must be forecast.
    pub fn steps(&self) -> usize {
        self.ahead.iter().copied().max().unwrap_or(0)
    }

    /// The place of each step ahead, counted from the one behind the last row.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        self.ahead.iter().map(|place| place - 1)
    }

    /// The steps ahead among the forecasts of all places.
    pub fn take(&self, forecast: &[f64]) -> Vec<f64> {
        self.ahead.iter().filter_map(|place| forecast.get(place - 1)).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use foretell_calendar::{Freq, Zone};

    use super::*;

    /// Hours of Berlin from midnight of that day on, in UTC.
    fn hours(utc_start: &str, count: usize) -> Panel {
        let start = TimeKind::Timestamp.parse(utc_start).expect("a time");
        let times: Vec<i64> = (0..count as i64).map(|hour| start + hour * 3_600_000_000).collect();
        let zone = Zone::parse("Europe/Berlin").expect("a zone");
        let builder = Panel::builder(TimeKind::Timestamp).zone(zone).freq(Freq::parse("h").expect("hours"));
        builder.series("a", &times, &vec![1.0; count]).build().expect("a panel")
    }

    #[test]
    fn an_hour_that_is_there_twice_has_one_place_and_one_that_never_was_has_one_too() {
        // In that night clocks were put back from 3 to 2.
        let autumn = hours("2023-10-28 22:00", 6);
        let grid = ClockGrid::new(&autumn, 0, 6, 2).expect("clocks are put back");
        assert_eq!((&grid.rows[..], &grid.ahead[..]), (&[0, 1, 2, 2, 3, 4][..], &[1, 2][..]));
        assert_eq!(grid.spread(&[0.0, 1.0, 2.0, 4.0, 5.0, 6.0]), [0.0, 1.0, 3.0, 5.0, 6.0]);
        let spring = hours("2024-03-30 23:00", 4);
        let grid = ClockGrid::new(&spring, 0, 2, 2).expect("clocks are put forward");
        assert_eq!((&grid.rows[..], &grid.ahead[..], grid.steps()), (&[0, 1][..], &[2, 3][..], 3));
        assert_eq!(grid.take(&[7.0, 8.0, 9.0]), [8.0, 9.0]);
        let whole = ClockGrid::new(&spring, 0, 4, 1).expect("clocks are put forward");
        assert!(whole.spread(&[0.0, 1.0, 2.0, 3.0])[2].is_nan());
        assert_eq!(ClockGrid::new(&hours("2024-05-01 22:00", 6), 0, 6, 2), None);
    }
}
