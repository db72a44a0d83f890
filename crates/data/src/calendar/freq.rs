//! Frequencies in pandas' spelling, and exact calendar arithmetic on them.

use std::fmt;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::days::{DAY, date_of, days_to};
use super::error::CalendarError;
use super::kind::TimeKind;
use super::zone::{Zone, in_range};
use crate::nearest::ranked;

const WEEKDAYS: [&str; 7] = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"];
const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];

/// Units of fixed length: word, microseconds.
const FIXED: [(&str, i64); 6] =
    [("us", 1), ("ms", 1_000), ("s", 1_000_000), ("min", 60_000_000), ("h", 3_600_000_000), ("D", DAY)];

/// Words of older pandas and their present spelling.
const OLD: [(&str, &str); 11] = [
    ("S", "s"),
    ("T", "min"),
    ("H", "h"),
    ("d", "D"),
    ("b", "B"),
    ("w", "W"),
    ("M", "ME"),
    ("Q", "QE"),
    ("A", "YE"),
    ("Y", "YE"),
    ("AS", "YS"),
];

/// The step from one row of a series to the next.
///
/// Written and read in pandas' spelling: `h`, `15min`, `D`, `B`, `W-SUN`, `MS`, `QE-DEC`, or an
/// integer for integer times. Without a zone, days and hours are civil: no daylight saving.
///
/// ```
/// use foretell_data::{Freq, TimeKind};
///
/// let freq = Freq::parse("ME")?;
/// let january = TimeKind::Timestamp.parse("2024-01-31").unwrap();
/// let february = freq.next(january, 1).unwrap();
/// assert_eq!(TimeKind::Timestamp.display(february), "2024-02-29");
/// # Ok::<(), foretell_data::DataError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Freq {
    unit: Unit,
    /// Steps of the unit at a time; at least 1.
    multiple: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Unit {
    Integer,
    /// Index into [`FIXED`].
    Fixed(u8),
    BusinessDay,
    /// The weekday, from Monday = 0.
    Week(u8),
    /// First or last day of every month, third month or twelfth month.
    Months {
        every: Every,
        month: u8,
        end: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Every {
    Month = 1,
    Quarter = 3,
    Year = 12,
}

impl Freq {
    /// Reads a frequency word.
    ///
    /// # Errors
    /// [`CalendarError::UnknownFreq`] names the nearest valid words.
    pub fn parse(word: &str) -> Result<Self, CalendarError> {
        Self::parse_word(word.trim()).ok_or_else(|| {
            let unit = word.trim().trim_start_matches(|c: char| c.is_ascii_digit());
            let words = FIXED.iter().map(|(word, _)| *word);
            let words = words.chain(["B", "W-SUN", "MS", "ME", "QS", "QE", "YS", "YE"]);
            let nearest = ranked(unit, words, 3);
            let nearest = nearest.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", ");
            CalendarError::UnknownFreq { word: word.to_owned(), nearest }
        })
    }

    fn parse_word(word: &str) -> Option<Self> {
        let digits = word.len() - word.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (multiple, unit) = word.split_at(digits);
        let multiple = if digits == 0 { 1 } else { multiple.parse().ok()? };
        if multiple < 1 || word.is_empty() {
            return None;
        }
        let unit = if unit.is_empty() { Unit::Integer } else { Unit::parse(unit)? };
        Some(Self { unit, multiple })
    }

    /// Whether it steps integers or the calendar.
    pub fn kind(self) -> TimeKind {
        match self.unit {
            Unit::Integer => TimeKind::Integer,
            _ => TimeKind::Timestamp,
        }
    }

    /// Whether its steps are whole days or longer.
    pub fn is_daily_or_coarser(self) -> bool {
        self.fixed().is_none_or(|micros| micros % DAY == 0)
    }

    /// The time `n` steps after `time` (before it, if `n` is negative).
    ///
    /// As in pandas, a time off the calendar's grid moves to the grid by its first step: one `MS`
    /// after 15 January is 1 February, one before it 1 January. The time of day is kept.
    /// Nothing if the result leaves the years -9999 to 9999 (or 64 bits).
    pub fn next(self, time: i64, n: i64) -> Option<i64> {
        let n = n.checked_mul(self.multiple)?;
        if let Some(step) = self.unit_step() {
            let next = time.checked_add(n.checked_mul(step)?)?;
            return in_range(self.kind(), None, next).then_some(next);
        }
        if n == 0 {
            return Some(time);
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
            Some(zone) if self.is_daily_or_coarser() => {
                let civil = zone.civil(time)?;
                zone.instant(self.next(civil, self.over_missing_days(zone, civil, n)?)?)?
            }
            _ => self.next(time, n)?,
        };
        in_range(self.kind(), zone, next).then_some(next)
    }

    /// As many steps of the calendar as `n` steps of days that a zone has: Samoa had no 30 December 2011.
    fn over_missing_days(self, zone: &Zone, civil: i64, n: i64) -> Option<i64> {
        let daily = self.fixed() == Some(DAY) || (self.unit == Unit::BusinessDay && self.multiple == 1);
        if zone.missing_days().is_empty() || !daily {
            return Some(n);
        }
        // Days count as hours do if that is how the step is written.
        let unit =
            if self.unit == Unit::BusinessDay { self.unit } else { Unit::Fixed(FIXED.len() as u8 - 1) };
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

    /// `count` times from `first` on, or nothing if they leave the calendar.
    pub fn times(self, first: i64, count: usize) -> Option<Vec<i64>> {
        (0..i64::try_from(count).ok()?).map(|n| self.next(first, n)).collect()
    }

    /// The frequency that sorted times follow exactly, if there is one; at least three are needed
    /// to tell.
    pub fn infer(kind: TimeKind, zone: Option<&Zone>, times: &[i64]) -> Option<Self> {
        Self::guess(kind, zone, times).filter(|freq| freq.first_break(zone, times).is_none())
    }

    /// Index of the first time that is not as many steps after the first one.
    pub fn first_break(self, zone: Option<&Zone>, times: &[i64]) -> Option<usize> {
        let &first = times.first()?;
        (1..times.len()).find(|&i| self.next_in(zone, first, i as i64) != Some(times[i]))
    }

    /// The frequency that most steps of sorted times follow.
    pub(crate) fn guess(kind: TimeKind, zone: Option<&Zone>, times: &[i64]) -> Option<Self> {
        if let Some(zone) = zone.filter(|_| kind == TimeKind::Timestamp) {
            let civil: Option<Vec<i64>> = times.iter().map(|time| zone.civil(*time)).collect();
            // By their clocks days are regular, and by elapsed time hours.
            return Self::guess(kind, None, &civil?)
                .filter(|freq| freq.is_daily_or_coarser())
                .or_else(|| Self::guess(kind, None, times));
        }
        if times.len() < 3 {
            return None;
        }
        let step = typical(times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])))?;
        if kind == TimeKind::Integer {
            return Some(Self { unit: Unit::Integer, multiple: step });
        }
        if step % DAY == 0 {
            let days: Option<Vec<Date>> = times.iter().map(|time| date_of(time.div_euclid(DAY))).collect();
            if let Some(freq) = Self::guess_days(&days?, step / DAY) {
                return Some(freq);
            }
        }
        let (index, (_, unit)) = FIXED.iter().enumerate().rev().find(|(_, (_, unit))| step % unit == 0)?;
        Some(Self { unit: Unit::Fixed(index as u8), multiple: step / unit })
    }

    /// Months, business days and weeks, whose typical step is `step` days.
    fn guess_days(days: &[Date], step: i64) -> Option<Self> {
        let start = days.iter().all(|day| day.day() == 1);
        let end = days.iter().all(|day| day.day() == day.days_in_month());
        if start || end {
            let months = days.windows(2).map(|pair| month_of(pair[1]) - month_of(pair[0]));
            let step = typical(months)?;
            let every = match step {
                step if step % 12 == 0 => Every::Year,
                step if step % 3 == 0 => Every::Quarter,
                _ => Every::Month,
            };
            let month = days[0].month() as u8;
            let month = match every {
                Every::Month => 1,
                Every::Quarter if end => (month - 1) % 3 + 10,
                Every::Quarter => (month - 1) % 3 + 1,
                Every::Year => month,
            };
            return Some(Self { unit: Unit::Months { every, month, end }, multiple: step / every as i64 });
        }
        let weekday = |day: &Date| day.weekday().to_monday_zero_offset() as u8;
        if step % 7 == 0 {
            return Some(Self { unit: Unit::Week(weekday(&days[0])), multiple: step / 7 });
        }
        let over_weekend = |pair: &[Date]| weekday(&pair[0]) == 4 && days_to(pair[1]) - days_to(pair[0]) == 3;
        let business =
            step == 1 && days.iter().all(|day| weekday(day) < 5) && days.windows(2).any(over_weekend);
        business.then_some(Self { unit: Unit::BusinessDay, multiple: 1 })
    }

    /// Length of one step in microseconds (or integers), if all are the same.
    fn fixed(self) -> Option<i64> {
        self.unit_step()?.checked_mul(self.multiple)
    }

    fn unit_step(self) -> Option<i64> {
        match self.unit {
            Unit::Integer => Some(1),
            Unit::Fixed(index) => Some(FIXED[index as usize].1),
            _ => None,
        }
    }
}

impl Unit {
    fn parse(word: &str) -> Option<Self> {
        let (base, anchor) = match word.split_once('-') {
            Some((base, anchor)) => (base, Some(anchor.to_ascii_uppercase())),
            None => (word, None),
        };
        let base = OLD.iter().find(|(old, _)| *old == base).map_or(base, |(_, new)| new);
        let named = |names: &[&str], default: usize| match &anchor {
            None => Some(default as u8),
            Some(anchor) => names.iter().position(|name| name == anchor).map(|i| i as u8),
        };
        let months =
            |every, end, default| Some(Self::Months { every, month: named(&MONTHS, default)? + 1, end });
        match base {
            "W" => named(&WEEKDAYS, 6).map(Self::Week),
            "QS" => months(Every::Quarter, false, 0),
            "QE" => months(Every::Quarter, true, 11),
            "YS" => months(Every::Year, false, 0),
            "YE" => months(Every::Year, true, 11),
            _ if anchor.is_some() => None,
            "B" => Some(Self::BusinessDay),
            "MS" | "ME" => Some(Self::Months { every: Every::Month, month: 1, end: base == "ME" }),
            _ => FIXED.iter().position(|(word, _)| *word == base).map(|i| Self::Fixed(i as u8)),
        }
    }

    /// Number of the last grid day that is not after `day` (days since 1970-01-01, a Thursday).
    fn floor(self, day: i64) -> Option<i64> {
        let monday_based = day.checked_add(3)?;
        Some(match self {
            Self::Integer | Self::Fixed(_) => day,
            Self::BusinessDay => monday_based.div_euclid(7) * 5 + monday_based.rem_euclid(7).min(4),
            Self::Week(weekday) => (monday_based - i64::from(weekday)).div_euclid(7),
            Self::Months { every, month, end } => {
                let date = date_of(day)?;
                let months = month_of(date) - i64::from(month - 1);
                let last = months.div_euclid(every as i64);
                let before_end =
                    end && months.rem_euclid(every as i64) == 0 && date.day() < date.days_in_month();
                last - i64::from(before_end)
            }
        })
    }

    /// The grid day of that number, in days since 1970-01-01; nothing outside the calendar.
    fn day(self, index: i64) -> Option<i64> {
        let day = match self {
            Self::Integer | Self::Fixed(_) => index,
            Self::BusinessDay => index.div_euclid(5).checked_mul(7)? + index.rem_euclid(5) - 3,
            Self::Week(weekday) => index.checked_mul(7)?.checked_add(i64::from(weekday) - 3)?,
            Self::Months { every, month, end } => {
                let months = index.checked_mul(every as i64)?.checked_add(i64::from(month - 1))?;
                let year = i16::try_from(months.div_euclid(12)).ok()?;
                let first = Date::new(year, months.rem_euclid(12) as i8 + 1, 1).ok()?;
                days_to(if end { first.last_of_month() } else { first })
            }
        };
        date_of(day).map(|_| day)
    }
}

/// Months since year 0.
fn month_of(date: Date) -> i64 {
    i64::from(date.year()) * 12 + i64::from(date.month()) - 1
}

/// The lower median, if it is positive: one odd step does not move it.
fn typical(steps: impl Iterator<Item = i64>) -> Option<i64> {
    let mut steps: Vec<i64> = steps.collect();
    let middle = steps.len().checked_sub(1)? / 2;
    let (_, median, _) = steps.select_nth_unstable(middle);
    (*median > 0).then_some(*median)
}

impl fmt::Display for Freq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.multiple != 1 || self.unit == Unit::Integer {
            write!(f, "{}", self.multiple)?;
        }
        match self.unit {
            Unit::Integer => Ok(()),
            Unit::Fixed(index) => f.write_str(FIXED[index as usize].0),
            Unit::BusinessDay => f.write_str("B"),
            Unit::Week(weekday) => write!(f, "W-{}", WEEKDAYS[weekday as usize]),
            Unit::Months { every, month, end } => {
                let (edge, month) = (if end { "E" } else { "S" }, MONTHS[month as usize - 1]);
                match every {
                    Every::Month => write!(f, "M{edge}"),
                    Every::Quarter => write!(f, "Q{edge}-{month}"),
                    Every::Year => write!(f, "Y{edge}-{month}"),
                }
            }
        }
    }
}

impl std::str::FromStr for Freq {
    type Err = CalendarError;

    fn from_str(word: &str) -> Result<Self, CalendarError> {
        Self::parse(word)
    }
}

impl TryFrom<String> for Freq {
    type Error = CalendarError;

    fn try_from(word: String) -> Result<Self, CalendarError> {
        Self::parse(&word)
    }
}

impl From<Freq> for String {
    fn from(freq: Freq) -> Self {
        freq.to_string()
    }
}

#[cfg(test)]
#[path = "freq_tests.rs"]
mod tests;
