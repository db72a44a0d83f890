//! Days of months, quarters and years: the first or last, also of those from Monday to Friday, and the middle.

use jiff::civil::Date;

use super::days::{date_of, days_to};

pub(crate) const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];

/// How many months pass from one day to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Every {
    Month = 1,
    Quarter = 3,
    Year = 12,
}

/// Which day of a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Edge {
    Start,
    End,
    /// The first and the last day from Monday to Friday.
    BusinessStart,
    BusinessEnd,
}

impl Edge {
    pub(crate) const ALL: [Self; 4] = [Self::Start, Self::End, Self::BusinessStart, Self::BusinessEnd];

    pub(crate) fn is_end(self) -> bool {
        matches!(self, Self::End | Self::BusinessEnd)
    }

    /// That day of the month in which `day` is.
    pub(crate) fn of(self, day: Date) -> Date {
        let edge = if self.is_end() { day.last_of_month() } else { day.first_of_month() };
        let weekday = i64::from(edge.weekday().to_monday_zero_offset());
        let days = match self {
            Self::Start | Self::End => 0,
            Self::BusinessStart => (7 - weekday) % 7 * i64::from(weekday > 4),
            Self::BusinessEnd => -(weekday - 4).max(0),
        };
        date_of(days_to(edge) + days).unwrap_or(edge)
    }
}

/// The first day of the month that is this many months after January of the year 0.
pub(crate) fn first_of(months: i64) -> Option<Date> {
    let year = i16::try_from(months.div_euclid(12)).ok()?;
    Date::new(year, months.rem_euclid(12) as i8 + 1, 1).ok()
}

/// Months since January of the year 0.
pub(crate) fn month_of(date: Date) -> i64 {
    i64::from(date.year()) * 12 + i64::from(date.month()) - 1
}
