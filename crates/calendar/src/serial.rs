//! Times that are numbers: the days of spreadsheets, what computers count since 1970, and years with their parts.

use super::days::{DAY, FINE, RANGE, day_number};
use super::flaw::TimeFlaw;
use super::written::Written;

const NUMBER: TimeFlaw =
    TimeFlaw::new("is not a number, which the format of the times says it is; give another format");
const PART: TimeFlaw = TimeFlaw::new(
    "is no year with whole parts of it, as 1949.083 has one month of twelve; write the day, as 1949-02-01",
);
const LEAP: TimeFlaw =
    TimeFlaw::new("is 29 February 1900, which only spreadsheets know; correct the row, or leave it out");

/// Days from 1970-01-01 to the day 0 of spreadsheets: 1899-12-30, and on Macintosh 1904-01-01.
const DAY_0: i64 = -25_569;
const DAY_0_OF_1904: i64 = -24_107;

/// The unit of a number, and the time that it counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Serial {
    /// Days as Excel counts them.
    Excel,
    /// The same from 1904 on.
    Excel1904,
    /// Seconds since 1970-01-01 00:00 UTC,
    Epoch,
    /// and parts of seconds.
    EpochMillis,
    EpochMicros,
    EpochNanos,
    /// Years with their months as parts of them, as R's `time` has them, to two decimals at least: 1949.083 is February.
    YearMonths,
    /// The same of quarters: 1949.25 is the second.
    YearQuarters,
}

impl Serial {
    pub(crate) const ALL: [Self; 8] = [
        Self::Excel,
        Self::Excel1904,
        Self::Epoch,
        Self::EpochMillis,
        Self::EpochMicros,
        Self::EpochNanos,
        Self::YearMonths,
        Self::YearQuarters,
    ];

    /// Its name as a format.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Excel => "excel",
            Self::Excel1904 => "excel-1904",
            Self::Epoch => "epoch",
            Self::EpochMillis => "epoch-ms",
            Self::EpochMicros => "epoch-us",
            Self::EpochNanos => "epoch-ns",
            Self::YearMonths => "year/12",
            Self::YearQuarters => "year/4",
        }
    }

    /// Reads a number, with decimals or without; the error is its flaw.
    pub(crate) fn read(self, text: &str) -> Result<Written<'static>, TimeFlaw> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let whole: i64 = whole.parse().map_err(|_| NUMBER)?;
        let decimals = decimals.trim_end_matches('0');
        if decimals.len() > 18 || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(NUMBER);
        }
        let parts: i64 = if decimals.is_empty() { 0 } else { decimals.parse().map_err(|_| NUMBER)? };
        let ten = 10_i128.pow(decimals.len() as u32);
        let nanos = match self {
            Self::Excel => return day(excel(whole)?, parts, ten),
            Self::Excel1904 if whole < 0 => return Err(RANGE),
            Self::Excel1904 => return day(whole.checked_add(DAY_0_OF_1904).ok_or(RANGE)?, parts, ten),
            Self::Epoch => 1_000_000_000,
            Self::EpochMillis => 1_000_000,
            Self::EpochMicros => 1000,
            Self::EpochNanos => 1,
            Self::YearMonths => return part_of_year(whole, parts, ten, 12),
            Self::YearQuarters => return part_of_year(whole, parts, ten, 4),
        };
        let parts = if text.starts_with('-') { -parts } else { parts };
        let time = (i128::from(whole) * ten + i128::from(parts)) * nanos;
        if time % (ten * 1000) != 0 {
            return Err(FINE);
        }
        let civil = i64::try_from(time / (ten * 1000)).map_err(|_| RANGE)?;
        Ok(Written { offset: Some(0), ..Written::civil(civil) })
    }
}

/// The day since 1970-01-01 that Excel gives that number.
fn excel(serial: i64) -> Result<i64, TimeFlaw> {
    match serial {
        // Up to here a day less is counted, because Excel has the leap day of a year that had none.
        1..60 => Ok(serial + DAY_0 + 1),
        60 => Err(LEAP),
        61.. => serial.checked_add(DAY_0).ok_or(RANGE),
        _ => Err(RANGE),
    }
}

/// The first day of a part of a year, of `count` in all, that `parts` of `ten` stand for: rounded or cut to their decimals, but no farther from it
/// than a tenth of a part.
fn part_of_year(year: i64, parts: i64, ten: i128, count: i64) -> Result<Written<'static>, TimeFlaw> {
    let scaled = i128::from(parts) * i128::from(count);
    let part = (scaled + ten / 2).div_euclid(ten);
    let off = (scaled - part * ten).abs();
    if off > i128::from(count) || off * 10 > ten || !(1..=9999).contains(&year) {
        return Err(PART);
    }
    let (year, part) = if part == i128::from(count) { (year + 1, 0) } else { (year, part as i64) };
    let day = day_number(year, part * 12 / count + 1, 1).ok_or(RANGE)?;
    Ok(Written::civil(day * DAY))
}

/// A time of that day, `parts` of `ten` after midnight. A part of a day that is rounded to its decimals stands for the second
/// within half of the last decimal, if there is one, else for the millisecond.
fn day(day: i64, parts: i64, ten: i128) -> Result<Written<'static>, TimeFlaw> {
    let micros = i128::from(parts) * i128::from(DAY);
    let rounded = |unit: i128| (micros + ten * unit / 2).div_euclid(ten * unit) * unit;
    let second = rounded(1_000_000);
    let exact = (second * ten - micros).abs() * 2 <= i128::from(DAY);
    let clock = if exact { second } else { rounded(1000) };
    let midnight = day.checked_mul(DAY).ok_or(RANGE)?;
    midnight.checked_add(clock as i64).map(Written::civil).ok_or(RANGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::TimeKind;

    fn shown(serial: Serial, text: &str) -> Result<String, TimeFlaw> {
        serial.read(text).map(|written| TimeKind::Timestamp.display(written.civil))
    }

    #[test]
    fn numbers_are_the_days_of_spreadsheets() {
        for (text, time) in [
            ("44927", "2023-01-01"),
            ("44927.0", "2023-01-01"),
            ("44927.5", "2023-01-01 12:00:00"),
            ("44927.0416666667", "2023-01-01 01:00:00"),
            ("44927.041666666664", "2023-01-01 01:00:00"),
            ("44927.04167", "2023-01-01 01:00:00"),
            ("44927.9583333333", "2023-01-01 23:00:00"),
            ("44927.00000289352", "2023-01-01 00:00:00.250000"),
            ("1", "1900-01-01"),
            ("59", "1900-02-28"),
            ("61", "1900-03-01"),
        ] {
            assert_eq!(shown(Serial::Excel, text), Ok(time.to_owned()), "{text}");
        }
        assert_eq!(shown(Serial::Excel1904, "43465"), Ok("2023-01-01".to_owned()));
        assert_eq!(shown(Serial::Excel, "60"), Err(LEAP));
        for text in ["0", "-1", "9223372036854775807"] {
            assert_eq!(shown(Serial::Excel, text), Err(RANGE), "{text}");
        }
        for text in ["", ".", "1e3", "44927.5.1", "44927,5", "x"] {
            assert_eq!(shown(Serial::Excel, text), Err(NUMBER), "{text}");
        }
    }

    #[test]
    fn decimals_are_parts_of_years() {
        for (serial, text, time) in [
            (Serial::YearMonths, "1949", "1949-01-01"),
            (Serial::YearMonths, "1949.083", "1949-02-01"),
            (Serial::YearMonths, "1949.08", "1949-02-01"),
            (Serial::YearMonths, "1949.0833333333333", "1949-02-01"),
            (Serial::YearMonths, "1949.5", "1949-07-01"),
            (Serial::YearMonths, "1949.916", "1949-12-01"),
            (Serial::YearMonths, "1949.917", "1949-12-01"),
            (Serial::YearMonths, "1949.999999999", "1950-01-01"),
            (Serial::YearQuarters, "1949.75", "1949-10-01"),
            (Serial::YearQuarters, "1949.250", "1949-04-01"),
        ] {
            assert_eq!(shown(serial, text), Ok(time.to_owned()), "{text}");
        }
        // Of months a hundredth is not enough, days and middles of months are none.
        for (serial, text) in [
            (Serial::YearMonths, "2015.1"),
            (Serial::YearMonths, "1958.2027"),
            (Serial::YearMonths, "2015.12"),
            (Serial::YearQuarters, "1949.083"),
        ] {
            assert_eq!(shown(serial, text), Err(PART), "{text}");
        }
    }

    #[test]
    fn numbers_count_parts_of_seconds_since_1970() {
        for (serial, text, time) in [
            (Serial::Epoch, "1672531200", "2023-01-01"),
            (Serial::Epoch, "1672531200.25", "2023-01-01 00:00:00.250000"),
            (Serial::Epoch, "-0.5", "1969-12-31 23:59:59.500000"),
            (Serial::EpochMillis, "1672531200000", "2023-01-01"),
            (Serial::EpochMicros, "-1", "1969-12-31 23:59:59.999999"),
            (Serial::EpochNanos, "1672531200000001000", "2023-01-01 00:00:00.000001"),
        ] {
            assert_eq!(shown(serial, text), Ok(time.to_owned()), "{text}");
            assert_eq!(serial.read(text).unwrap().offset, Some(0));
        }
        assert_eq!(shown(Serial::EpochNanos, "1"), Err(FINE));
        assert_eq!(shown(Serial::Epoch, "0.0000001"), Err(FINE));
        assert_eq!(shown(Serial::Epoch, "9223372036854775807"), Err(RANGE));
    }
}
