//! Frequencies in pandas' spelling, and exact calendar arithmetic on them.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::days::DAY;
use super::kind::TimeKind;
use super::opening_hours::HOUR;
use super::unit::{DAYS, Unit};
use super::zone::{Zone, in_range};

/// The step from one row of a series to the next.
///
/// Written and read in pandas' spelling: `h`, `15min`, `D`, `B`, `W-SUN`, `MS`, `QE-DEC`, `BME`, `SMS-15`, `bh`, or an
/// integer for integer times. Days of other weeks are `C-1111110` (open from Monday to Saturday), with holidays behind it
/// (`C-1111100,2024-12-25`); opening hours are `bh-08:00-12:00,13:00-18:00`, other days behind a slash (`bh/1111110`).
/// Retail calendars are spelt as pandas' FY5253: `RE-N-JAN-SAT` (years that end on the Saturday nearest to the end of
/// January; `L` for the last Saturday in it), `REQ-N-JAN-SAT-4` (quarters, of which the fourth has a 53rd week) and, in the
/// same spirit, `REM-N-JAN-SAT-445` (months of 4, 4 and 5 weeks); `RS`, `RSQ`, `RSM` for their first days.
/// Without a zone, days and hours are civil: no daylight saving.
///
/// ```
/// use foretell_calendar::{Freq, TimeKind};
///
/// let freq = Freq::parse("ME")?;
/// let january = TimeKind::Timestamp.parse("2024-01-31").unwrap();
/// let february = freq.next(january, 1).unwrap();
/// assert_eq!(TimeKind::Timestamp.display(february), "2024-02-29");
/// # Ok::<(), foretell_calendar::CalendarError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Freq {
    pub(crate) unit: Unit,
    /// Steps of the unit at a time; at least 1.
    pub(crate) multiple: i64,
}

impl Freq {
    /// Whether it steps integers or the calendar.
    pub fn kind(self) -> TimeKind {
        match self.unit {
            Unit::Integer => TimeKind::Integer,
            _ => TimeKind::Timestamp,
        }
    }

    /// Whether its steps are whole days or longer.
    pub fn is_daily_or_coarser(self) -> bool {
        self.fixed().map_or(!matches!(self.unit, Unit::Hours(_)), |micros| micros % DAY == 0)
    }

    /// Whether steps go by the calendar and clock of a zone; else they are elapsed time.
    fn goes_by_calendar(self) -> bool {
        matches!(self.unit, Unit::Hours(_)) || self.is_daily_or_coarser()
    }

    /// As many steps at a time; nothing where that is more than is counted.
    pub fn several(self, steps: usize) -> Option<Self> {
        let multiple = self.multiple.checked_mul(i64::try_from(steps).ok()?)?;
        Some(Self { multiple, ..self })
    }

    /// Whether its days are those of a business, which has holidays.
    pub fn has_holidays(self) -> bool {
        matches!(self.unit, Unit::Workdays(_) | Unit::Hours(_))
    }

    /// The same business days or hours without these days; nothing if it has none.
    pub fn without_holidays(self, holidays: &[Date]) -> Option<Self> {
        let unit = match self.unit {
            Unit::Workdays(days) => Unit::Workdays(days.without(holidays)),
            Unit::Hours(hours) => Unit::Hours(hours.on(hours.days.without(holidays))?),
            _ => return None,
        };
        Some(Self { unit, ..self })
    }

    /// The time `n` steps after `time` (before it, if `n` is negative).
    ///
    /// As in pandas, a time off the calendar's grid moves to the grid by its first step: one `MS`
    /// after 15 January is 1 February, one before it 1 January. The time of day is kept.
    /// Nothing if the result leaves the years -9999 to 9999 (or 64 bits).
    pub fn next(self, time: i64, n: i64) -> Option<i64> {
        let n = n.checked_mul(self.multiple)?;
        if let Some(step) = self.unit.step() {
            let next = time.checked_add(n.checked_mul(step)?)?;
            return in_range(self.kind(), None, next).then_some(next);
        }
        if n == 0 {
            return Some(time);
        }
        if let Unit::Hours(hours) = self.unit {
            return hours.next(time, n).filter(|next| in_range(self.kind(), None, *next));
        }
        let (day, clock) = (time.div_euclid(DAY), time.rem_euclid(DAY));
        let floor = self.unit.floor(day)?;
        let off_grid = self.unit.day(floor)? != day;
        let index = floor.checked_add(n)?.checked_add(i64::from(n < 0 && off_grid))?;
        self.unit.day(index)?.checked_mul(DAY)?.checked_add(clock)
    }

    /// As [`next`](Self::next), for instants where there is a zone: hours and less are elapsed
    /// time, days and more go by the zone's calendar and clock.
    pub fn next_in(self, zone: Option<&Zone>, time: i64, n: i64) -> Option<i64> {
        let next = match zone {
            Some(zone) if self.goes_by_calendar() => {
                let civil = zone.civil(time)?;
                zone.instant(self.next(civil, self.over_missing_days(zone, civil, n)?)?)?
            }
            _ => self.next(time, n)?,
        };
        in_range(self.kind(), zone, next).then_some(next)
    }

    /// As many steps of the calendar as `n` steps of days that a zone has: Samoa had no 30 December 2011.
    fn over_missing_days(self, zone: &Zone, civil: i64, n: i64) -> Option<i64> {
        let business = matches!(self.unit, Unit::Workdays(_)) && self.multiple == 1;
        if zone.missing_days().is_empty() || !(business || self.fixed() == Some(DAY)) {
            return Some(n);
        }
        // Days count as hours do if that is how the step is written.
        let unit = if business { self.unit } else { DAYS };
        let start = unit.floor(civil.div_euclid(DAY))?;
        let steps = |day: &i64| {
            let index = unit.floor(*day)?;
            (unit.day(index)? == *day).then_some(index - start)
        };
        let missing = zone.missing_days().iter().filter_map(steps);
        Some(match n {
            0.. => missing.fold(n, |n, step| n + i64::from((1..=n).contains(&step))),
            _ => missing.rev().fold(n, |n, step| n - i64::from((n..0).contains(&step))),
        })
    }

    /// Whether some number of steps leads from `first` to `time`.
    pub fn leads(self, zone: Option<&Zone>, first: i64, time: i64) -> bool {
        let zoned = zone.filter(|_| self.goes_by_calendar());
        let civil = |time: i64| zoned.map_or(Some(time), |zone| zone.civil(time));
        let units = |time: i64| match self.unit {
            Unit::Hours(hours) => Some(hours.open_until(time)? / HOUR),
            unit => unit.step().map_or_else(|| unit.floor(time.div_euclid(DAY)), |step| Some(time / step)),
        };
        let Some((from, to)) = civil(first).and_then(units).zip(civil(time).and_then(units)) else {
            return false;
        };
        let n = to.saturating_sub(from) / self.multiple;
        // Roundings, and days that a zone does not have.
        (n.saturating_sub(2)..=n.saturating_add(2)).any(|n| self.next_in(zone, first, n) == Some(time))
    }

    /// `count` times from `first` on, or nothing if they leave the calendar.
    pub fn times(self, first: i64, count: usize) -> Option<Vec<i64>> {
        (0..i64::try_from(count).ok()?).map(|n| self.next(first, n)).collect()
    }

    /// Index of the first time that is not as many steps after the first one.
    pub fn first_break(self, zone: Option<&Zone>, times: &[i64]) -> Option<usize> {
        let &first = times.first()?;
        if let Some(step) = self.fixed_in(zone) {
            return (1..times.len()).find(|&i| times[i].checked_sub(times[i - 1]) != Some(step));
        }
        (1..times.len()).find(|&i| self.next_in(zone, first, i as i64) != Some(times[i]))
    }

    /// Length of one step in microseconds (or integers), if all are the same by the clocks of the zone.
    pub fn fixed_in(self, zone: Option<&Zone>) -> Option<i64> {
        self.fixed().filter(|_| zone.is_none() || !self.goes_by_calendar())
    }

    /// Length of one step in microseconds (or integers), if all are the same.
    pub(super) fn fixed(self) -> Option<i64> {
        self.unit.step()?.checked_mul(self.multiple)
    }
}

#[cfg(test)]
#[path = "freq_tests.rs"]
mod tests;
