//! Days of the calendar as numbers, and the flaws of times that it does not have.

use jiff::SignedDuration;
use jiff::civil::{Date, date};

use super::flaw::TimeFlaw;

/// Microseconds of a civil day.
pub const DAY: i64 = 86_400_000_000;

const EPOCH: Date = date(1970, 1, 1);

pub(crate) const CALENDAR: TimeFlaw = TimeFlaw::new("is not a day of the calendar; correct the month or day");
/// The flaw of a time with parts of a microsecond.
pub const FINE: TimeFlaw = TimeFlaw::new("is finer than a microsecond; round it to microseconds");
/// The flaw of a time beyond the calendar.
pub const RANGE: TimeFlaw = TimeFlaw::new("is beyond the years -9999 to 9999; check the unit of the column");
pub(crate) const FRACTION: TimeFlaw = TimeFlaw::new("is finer than a microsecond; write at most 6 decimals");

/// Days from 1970-01-01 to `day`.
pub fn days_to(day: Date) -> i64 {
    day.duration_since(EPOCH).as_hours() / 24
}

/// The date `days` after 1970-01-01, within the years -9999 to 9999.
pub fn date_of(days: i64) -> Option<Date> {
    EPOCH.checked_add(SignedDuration::try_from_hours(days.checked_mul(24)?)?).ok()
}

/// The days from -9999-01-01 to 9999-12-31.
pub(crate) const CALENDAR_DAYS: std::ops::RangeInclusive<i64> = -4_371_587..=2_932_896;

/// Days from 1970-01-01 to a date of the years 0 to 9999, if the calendar has it.
///
/// March begins the years that are counted here, so that a leap day is the last of its year
/// (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil`).
pub(crate) fn day_number(year: i64, month: i64, day: i64) -> Option<i64> {
    const DAYS: [i64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = DAYS.get(usize::try_from(month - 1).ok()?)? + i64::from(month == 2 && leap);
    if !(1..=days).contains(&day) {
        return None;
    }
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era = year.div_euclid(400);
    let year = year.rem_euclid(400);
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    Some(era * 146_097 + year * 365 + year / 4 - year / 100 + day_of_year - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_numbered_as_the_calendar_has_them() {
        let (first, last) = (date(-9999, 1, 1), date(9999, 12, 31));
        assert_eq!(CALENDAR_DAYS, days_to(first)..=days_to(last));
        let mut day = date(0, 1, 1);
        let mut number = days_to(day);
        while let Ok(next) = day.tomorrow() {
            let [year, month] = [i64::from(day.year()), i64::from(day.month())];
            assert_eq!(day_number(year, month, day.day().into()), Some(number), "{day}");
            if next.day() == 1 {
                assert_eq!(day_number(year, month, i64::from(day.day()) + 1), None, "{day}");
            }
            (day, number) = (next, number + 1);
        }
        for (month, day) in [(0, 1), (13, 1), (1, 0), (1, 99)] {
            assert_eq!(day_number(2024, month, day), None);
        }
    }
}
