//! Times as `i64`: plain integers, or microseconds since 1970-01-01 on a civil clock (no zone).

use std::fmt::Write as _;

use jiff::SignedDuration;
use jiff::civil::{Date, date};

use crate::freq::Freq;

/// Microseconds of a civil day.
pub(crate) const DAY: i64 = 86_400_000_000;

const EPOCH: Date = date(1970, 1, 1);

/// What the times of a panel are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeKind {
    /// Step numbers.
    Integer,
    /// Microseconds since 1970-01-01 00:00 on a civil clock, without a zone.
    Timestamp,
}

const FORMAT: &str = "is not a time; write an integer, 2024-01-31, 2024-01, or 2024-01-31 13:45:00";
const INTEGER: &str = "is not an integer like the times before it; use one kind of time throughout";
const TIMESTAMP: &str = "is not a date or time like the ones before it; use one kind throughout";
const CALENDAR: &str = "is not a day of the calendar; correct the month or day";
const CLOCK: &str = "is not a time of day; hours go to 23, minutes and seconds to 59";
const ZONE: &str = "has a time zone; convert all times to one clock and write them without a zone";
const FRACTION: &str = "is finer than a microsecond; write at most 6 decimals";

impl TimeKind {
    /// Reads the first time of a column, which decides what the others must be.
    ///
    /// # Errors
    /// What is wrong with the text and what to write instead.
    pub fn detect(text: &str) -> Result<(Self, i64), &'static str> {
        match text.parse() {
            Ok(step) => Ok((Self::Integer, step)),
            Err(_) => Ok((Self::Timestamp, timestamp(text)?)),
        }
    }

    /// Reads a time of this kind.
    ///
    /// # Errors
    /// What is wrong with the text and what to write instead.
    pub fn parse(self, text: &str) -> Result<i64, &'static str> {
        match self {
            Self::Integer => text.parse().map_err(|_| INTEGER),
            Self::Timestamp if text.parse::<i64>().is_ok() => Err(TIMESTAMP),
            Self::Timestamp => timestamp(text),
        }
    }

    /// Writes a time as people read it: without the clock at midnight.
    pub fn display(self, time: i64) -> String {
        let style = match self {
            Self::Integer => TimeStyle::Integer,
            Self::Timestamp => TimeStyle::of_times(true, std::iter::once(time)),
        };
        let mut text = String::new();
        style.write(time, &mut text);
        text
    }
}

/// How a column of times is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeStyle {
    /// `17`
    Integer,
    /// `2024-01-31`
    Date,
    /// `2024-01-31 13:45:00`
    Seconds,
    /// `2024-01-31 13:45:00.250000`
    Micros,
}

impl TimeStyle {
    /// Dates where the frequency is daily or coarser and all times are midnights; else with the
    /// clock, and with decimals of the second only where a time has them.
    pub fn of(freq: Freq, times: impl Iterator<Item = i64>) -> Self {
        match freq.kind() {
            TimeKind::Integer => Self::Integer,
            TimeKind::Timestamp => Self::of_times(freq.is_daily_or_coarser(), times),
        }
    }

    fn of_times(dates: bool, times: impl Iterator<Item = i64>) -> Self {
        let mut style = if dates { Self::Date } else { Self::Seconds };
        for time in times {
            if time % 1_000_000 != 0 {
                return Self::Micros;
            }
            if time % DAY != 0 {
                style = Self::Seconds;
            }
        }
        style
    }

    /// Appends `time` to `out`.
    ///
    /// # Panics
    /// If a timestamp lies outside the years -9999 to 9999.
    pub fn write(self, time: i64, out: &mut String) {
        // Writing to a string cannot fail.
        if self == Self::Integer {
            let _ = write!(out, "{time}");
            return;
        }
        let day = date_of(time.div_euclid(DAY)).expect("timestamps lie within the calendar");
        let _ = write!(out, "{day}");
        if self == Self::Date {
            return;
        }
        let micros = time.rem_euclid(DAY);
        let seconds = micros / 1_000_000;
        let (h, m, s) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let _ = write!(out, " {h:02}:{m:02}:{s:02}");
        if self == Self::Micros {
            let _ = write!(out, ".{:06}", micros % 1_000_000);
        }
    }
}

/// Days from 1970-01-01 to `day`.
pub(crate) fn days_to(day: Date) -> i64 {
    day.duration_since(EPOCH).as_hours() / 24
}

/// The date `days` after 1970-01-01, within the years -9999 to 9999.
pub(crate) fn date_of(days: i64) -> Option<Date> {
    EPOCH.checked_add(SignedDuration::try_from_hours(days.checked_mul(24)?)?).ok()
}

/// Whether a time of this kind can be written and computed with.
pub(crate) fn in_range(kind: TimeKind, time: i64) -> bool {
    kind == TimeKind::Integer || date_of(time.div_euclid(DAY)).is_some()
}

/// Reads `YYYY-MM[-DD]`, then optionally `HH:MM[:SS[.ffffff]]` after a blank or `T`. Slashes may
/// stand for dashes: with the year in front nothing is ambiguous.
fn timestamp(text: &str) -> Result<i64, &'static str> {
    let mut cursor = Cursor(text.as_bytes());
    let year = cursor.number(4, 4).ok_or(FORMAT)?;
    let dash = if cursor.eat(b'/') { b'/' } else { b'-' };
    if dash == b'-' && !cursor.eat(b'-') {
        return Err(FORMAT);
    }
    let month = cursor.number(1, 2).ok_or(FORMAT)?;
    let day = if cursor.eat(dash) { cursor.number(1, 2).ok_or(FORMAT)? } else { 1 };
    let day = Date::new(year as i16, month as i8, day as i8).map_err(|_| CALENDAR)?;
    let mut time = days_to(day) * DAY;
    if cursor.eat(b'T') || cursor.eat(b' ') {
        time += cursor.clock()?;
    }
    match cursor.0 {
        [] => Ok(time),
        [b'Z' | b'z' | b'+' | b'-', ..] | [b' ', b'U' | b'G' | b'+' | b'-', ..] => Err(ZONE),
        _ => Err(FORMAT),
    }
}

struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn eat(&mut self, byte: u8) -> bool {
        let found = self.0.first() == Some(&byte);
        if found {
            self.0 = &self.0[1..];
        }
        found
    }

    /// A number of `min` to `max` digits (as many as there are, up to `max`).
    fn number(&mut self, min: usize, max: usize) -> Option<i64> {
        let digits = self.0.iter().take(max).take_while(|b| b.is_ascii_digit()).count();
        let (number, rest) = self.0.split_at(digits);
        self.0 = rest;
        (digits >= min).then(|| number.iter().fold(0, |n, b| n * 10 + i64::from(b - b'0')))
    }

    /// `HH:MM[:SS[.ffffff]]` in microseconds.
    fn clock(&mut self) -> Result<i64, &'static str> {
        let hour = self.number(1, 2).ok_or(FORMAT)?;
        if !self.eat(b':') {
            return Err(FORMAT);
        }
        let minute = self.number(2, 2).ok_or(FORMAT)?;
        let second = if self.eat(b':') { self.number(2, 2).ok_or(FORMAT)? } else { 0 };
        if hour > 23 || minute > 59 || second > 59 {
            return Err(CLOCK);
        }
        let mut micros = 0;
        if self.eat(b'.') {
            let before = self.0.len();
            micros = self.number(1, 6).ok_or(FORMAT)?;
            for _ in before - self.0.len()..6 {
                micros *= 10;
            }
            while self.eat(b'0') {}
            if self.0.first().is_some_and(u8::is_ascii_digit) {
                return Err(FRACTION);
            }
        }
        Ok(((hour * 60 + minute) * 60 + second) * 1_000_000 + micros)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<i64, &'static str> {
        TimeKind::detect(text).map(|(_, time)| time)
    }

    #[test]
    fn the_usual_spellings_are_read() {
        let day = 19_753 * DAY; // 2024-01-31
        assert_eq!(TimeKind::detect("-17"), Ok((TimeKind::Integer, -17)));
        assert_eq!(TimeKind::detect("2024-01-31"), Ok((TimeKind::Timestamp, day)));
        assert_eq!(read("2024/1/31"), Ok(day));
        assert_eq!(read("2024-01"), Ok(day - 30 * DAY));
        assert_eq!(read("2024-01-31 13:45"), Ok(day + 49_500_000_000));
        assert_eq!(read("2024-01-31T13:45:07"), Ok(day + 49_507_000_000));
        assert_eq!(read("2024-01-31 13:45:07.25"), Ok(day + 49_507_250_000));
        assert_eq!(read("2024-01-31 13:45:07.250000000"), Ok(day + 49_507_250_000));
        assert_eq!(read("1969-12-31 23:59:59.999999"), Ok(-1));
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        assert_eq!(read("2023-02-29"), Err(CALENDAR));
        assert_eq!(read("2024-01-31 24:00"), Err(CLOCK));
        assert_eq!(read("2024-01-31 13:45:07.2500001"), Err(FRACTION));
        for zoned in ["Z", "+02:00", "-05", " UTC", " +0200"] {
            assert_eq!(read(&format!("2024-01-31 13:45:07{zoned}")), Err(ZONE), "{zoned}");
        }
        for text in ["", "31.01.2024", "01/31/2024", "2024-", "2024-01-31 ", "2024-01-31 noon", "2024-01/31"]
        {
            assert_eq!(read(text), Err(FORMAT), "{text:?}");
        }
        assert_eq!(TimeKind::Integer.parse("2024-01-31"), Err(INTEGER));
        assert_eq!(TimeKind::Timestamp.parse("17"), Err(TIMESTAMP));
    }

    #[test]
    fn a_column_is_written_in_one_style() {
        let (day, hour) = (Freq::parse("D").unwrap(), Freq::parse("h").unwrap());
        assert_eq!(TimeStyle::of(day, [0, DAY].into_iter()), TimeStyle::Date);
        assert_eq!(TimeStyle::of(day, [0, DAY + 1_000_000].into_iter()), TimeStyle::Seconds);
        assert_eq!(TimeStyle::of(hour, [0, DAY].into_iter()), TimeStyle::Seconds);
        assert_eq!(TimeStyle::of(hour, [0, 1].into_iter()), TimeStyle::Micros);
        assert_eq!(TimeKind::Timestamp.display(DAY), "1970-01-02");
        assert_eq!(TimeKind::Timestamp.display(-1), "1969-12-31 23:59:59.999999");
        assert_eq!(TimeKind::Integer.display(-1), "-1");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(time in -62_000_000_000_000_000_i64..253_000_000_000_000_000) {
            for style in [TimeStyle::Micros, TimeStyle::Seconds, TimeStyle::Date] {
                let unit = match style { TimeStyle::Date => DAY, TimeStyle::Seconds => 1_000_000, _ => 1 };
                let time = time.div_euclid(unit) * unit;
                let mut text = String::new();
                style.write(time, &mut text);
                prop_assert_eq!(read(&text), Ok(time), "{}", text);
            }
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,30}|[0-9TZ:/. +-]{0,32}") {
            let _ = read(&text);
        }
    }
}
