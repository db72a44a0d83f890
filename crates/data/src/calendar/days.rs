//! Days of the calendar as numbers, and what is said of times that it does not have.

use jiff::SignedDuration;
use jiff::civil::{Date, date};

use super::flaw::TimeFlaw;

/// Microseconds of a civil day.
pub(crate) const DAY: i64 = 86_400_000_000;

const EPOCH: Date = date(1970, 1, 1);

pub(crate) const CALENDAR: TimeFlaw = TimeFlaw::new("is not a day of the calendar; correct the month or day");
pub(crate) const FINE: TimeFlaw = TimeFlaw::new("is finer than a microsecond; round it to microseconds");
pub(crate) const RANGE: TimeFlaw =
    TimeFlaw::new("is beyond the years -9999 to 9999; check the unit of the column");
pub(crate) const FRACTION: TimeFlaw = TimeFlaw::new("is finer than a microsecond; write at most 6 decimals");

/// Days from 1970-01-01 to `day`.
pub(crate) fn days_to(day: Date) -> i64 {
    day.duration_since(EPOCH).as_hours() / 24
}

/// The date `days` after 1970-01-01, within the years -9999 to 9999.
pub(crate) fn date_of(days: i64) -> Option<Date> {
    EPOCH.checked_add(SignedDuration::try_from_hours(days.checked_mul(24)?)?).ok()
}
