//! The units of frequencies, and the days that each of them has.

use super::days::{DAY, date_of, days_to};
use super::months::{Edge, Every, first_of, month_of};
use super::opening_hours::OpeningHours;
use super::retail::Retail;
use super::workdays::Workdays;

/// Units of fixed length: word, microseconds.
pub(crate) const FIXED: [(&str, i64); 6] =
    [("us", 1), ("ms", 1_000), ("s", 1_000_000), ("min", 60_000_000), ("h", 3_600_000_000), ("D", DAY)];

pub(crate) const DAYS: Unit = Unit::Fixed(FIXED.len() as u8 - 1);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Unit {
    Integer,
    /// Index into [`FIXED`].
    Fixed(u8),
    /// Business days, and those of other calendars.
    Workdays(&'static Workdays),
    /// Hours of business days.
    Hours(&'static OpeningHours),
    /// The weekday, from Monday = 0.
    Week(u8),
    /// A day of every month, or of every third or twelfth month from that one on (January = 1).
    Months {
        every: Every,
        month: u8,
        edge: Edge,
    },
    /// The first day of a month and that one; or that one and the last.
    SemiMonths {
        day: u8,
        end: bool,
    },
    Retail(Retail),
}

impl Unit {
    /// Length in microseconds (or integers), if it is always the same.
    pub(crate) fn step(self) -> Option<i64> {
        match self {
            Self::Integer => Some(1),
            Self::Fixed(index) => Some(FIXED[index as usize].1),
            _ => None,
        }
    }

    /// Number of the last grid day that is not after `day` (days since 1970-01-01, a Thursday).
    pub(crate) fn floor(self, day: i64) -> Option<i64> {
        let monday_based = day.checked_add(3)?;
        let not_after = match self {
            Self::Integer | Self::Fixed(_) => return Some(day),
            Self::Workdays(days) => return date_of(day).map(|_| days.floor(day)),
            Self::Hours(hours) => return date_of(day).map(|_| hours.days.floor(day)),
            Self::Week(weekday) => return Some((monday_based - i64::from(weekday)).div_euclid(7)),
            Self::Retail(retail) => return retail.floor(day),
            Self::Months { every, month, .. } => {
                (month_of(date_of(day)?) - i64::from(month - 1)).div_euclid(every as i64)
            }
            Self::SemiMonths { .. } => month_of(date_of(day)?) * 2 + 1,
        };
        // The day of this month may still be to come.
        let mut index = not_after;
        while self.day(index)? > day {
            index -= 1;
        }
        Some(index)
    }

    /// The grid day of that number, in days since 1970-01-01; nothing outside the calendar.
    pub(crate) fn day(self, index: i64) -> Option<i64> {
        let day = match self {
            Self::Integer | Self::Fixed(_) => index,
            Self::Workdays(days) => days.day(index)?,
            Self::Hours(hours) => hours.days.day(index)?,
            Self::Week(weekday) => index.checked_mul(7)?.checked_add(i64::from(weekday) - 3)?,
            Self::Retail(retail) => retail.day(index)?,
            Self::Months { every, month, edge } => {
                let months = index.checked_mul(every as i64)?.checked_add(i64::from(month - 1))?;
                days_to(edge.of(first_of(months)?))
            }
            Self::SemiMonths { day, end } => {
                let first = first_of(index.div_euclid(2))?;
                let middle = i64::from(day) - 1;
                match (index.rem_euclid(2) == 1, end) {
                    (false, false) => days_to(first),
                    (true, true) => days_to(first.last_of_month()),
                    _ => days_to(first) + middle,
                }
            }
        };
        date_of(day).map(|_| day)
    }
}
