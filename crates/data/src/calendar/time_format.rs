//! Times that are written in a format of their own, and integers that look like dates.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::Weekday;
use jiff::fmt::strtime::{self, BrokenDownTime};
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::days::{CALENDAR, DAY, FRACTION, days_to};
use super::error::CalendarError;
use super::flaw::TimeFlaw;

const PATTERN: TimeFlaw = TimeFlaw::new("is not written as the format of the times says");

/// How the times of a table are written, where the usual spellings do not say it.
///
/// ```
/// use foretell_data::{Panel, ReadOptions, TimeFormat};
///
/// let csv = "unique_id,ds,y\nshop,20240130,1\nshop,20240131,2\nshop,20240201,3\n";
/// let options = ReadOptions { time_format: Some(TimeFormat::parse("%Y%m%d")?), ..ReadOptions::default() };
/// let panel = Panel::read_csv(csv.as_bytes(), "sales.csv", &options)?;
/// assert_eq!(panel.freq().to_string(), "D");
/// # Ok::<(), foretell_data::DataError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeFormat {
    /// Nothing for integers.
    pattern: Option<String>,
}

impl TryFrom<String> for TimeFormat {
    type Error = CalendarError;

    fn try_from(word: String) -> Result<Self, CalendarError> {
        Self::parse(&word)
    }
}

impl From<TimeFormat> for String {
    fn from(format: TimeFormat) -> Self {
        format.pattern.unwrap_or_else(|| "integer".to_owned())
    }
}

/// A time as it is written.
pub(crate) struct Written {
    /// What the clocks showed, in microseconds since 1970-01-01 00:00.
    pub(crate) civil: i64,
    /// Seconds that these clocks are before UTC.
    pub(crate) offset: Option<i32>,
    /// The name of their zone.
    pub(crate) zone: Option<String>,
}

impl TimeFormat {
    /// Times that are integers are the numbers of steps, whatever they look like.
    pub const INTEGER: Self = Self { pattern: None };

    /// Reads `integer`, or a pattern of strptime: `%Y%m%d`, `%d.%m.%Y %H:%M`, `%m/%d/%Y`, `%b %Y`, `%G-W%V`, ...
    /// A pattern needs a year. Where it has no month, day, weekday or time of day, the first is meant.
    ///
    /// # Errors
    /// [`CalendarError::UnknownTimeFormat`].
    pub fn parse(word: &str) -> Result<Self, CalendarError> {
        if word == "integer" {
            return Ok(Self::INTEGER);
        }
        let refuse = |reason: String| CalendarError::UnknownTimeFormat { word: word.to_owned(), reason };
        let sample = Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
        let text = strtime::format(word, &sample).map_err(|error| refuse(error.to_string()))?;
        let read = strtime::parse(word, &text).map_err(|error| refuse(error.to_string()))?;
        if read.year().is_none() && read.iso_week_year().is_none() && read.timestamp().is_none() {
            return Err(refuse("it has no year (%Y or %y)".to_owned()));
        }
        let format = Self { pattern: Some(word.to_owned()) };
        match format.read(&text) {
            Ok(_) => Ok(format),
            Err(_) => Err(refuse("it does not say which day is meant".to_owned())),
        }
    }

    pub(crate) fn is_integer(&self) -> bool {
        self.pattern.is_none()
    }

    /// Reads a time; the error is what is wrong with the text.
    pub(crate) fn read(&self, text: &str) -> Result<Written, TimeFlaw> {
        let pattern = self.pattern.as_deref().ok_or(PATTERN)?;
        let mut read = strtime::parse(pattern, text).map_err(|_| PATTERN)?;
        if let Some(instant) = read.timestamp() {
            return Ok(Written { civil: instant.as_microsecond(), offset: Some(0), zone: None });
        }
        complete(&mut read).map_err(|_| CALENDAR)?;
        let day = read.to_date().map_err(|_| CALENDAR)?;
        let clock = read.to_time().map_err(|_| PATTERN)?;
        if clock.subsec_nanosecond() % 1000 != 0 {
            return Err(FRACTION);
        }
        let (h, m, s) = (clock.hour(), clock.minute(), clock.second());
        let seconds = (i64::from(h) * 60 + i64::from(m)) * 60 + i64::from(s);
        let micros = i64::from(clock.subsec_nanosecond() / 1000);
        Ok(Written {
            civil: days_to(day) * DAY + seconds * 1_000_000 + micros,
            offset: read.offset().map(|offset| offset.seconds()),
            zone: read.iana_time_zone().map(str::to_owned),
        })
    }
}

/// Sets what a pattern without day or month leaves open to the first.
fn complete(read: &mut BrokenDownTime) -> Result<(), jiff::Error> {
    let weeks = [read.iso_week(), read.sunday_based_week(), read.monday_based_week()];
    if weeks.iter().any(Option::is_some) {
        if read.weekday().is_none() {
            let first = if weeks[1].is_some() { Weekday::Sunday } else { Weekday::Monday };
            read.set_weekday(Some(first));
        }
    } else if read.day_of_year().is_none() {
        read.set_month(read.month().or(Some(1)))?;
        read.set_day(read.day().or(Some(1)))?;
    }
    Ok(())
}

impl fmt::Display for TimeFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.pattern.as_deref().unwrap_or("integer"))
    }
}

impl std::str::FromStr for TimeFormat {
    type Err = CalendarError;

    fn from_str(word: &str) -> Result<Self, CalendarError> {
        Self::parse(word)
    }
}

/// Years that people forecast in: integers beyond them are taken for step numbers.
const YEARS: std::ops::RangeInclusive<i64> = 1600..=2199;

/// Which formats all integers of a column could be dates of.
///
/// Only the months and days that a calendar can have at all are asked for, so that one 31st of February among
/// dates does not make step numbers of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IntegerDates([bool; 3]);

impl Default for IntegerDates {
    fn default() -> Self {
        Self([true; 3])
    }
}

impl IntegerDates {
    const FORMATS: [&str; 3] = ["%Y%m%d", "%Y%m", "%Y"];

    /// Takes notice of the next integer.
    pub(crate) fn see(&mut self, integer: i64) {
        if self.0 == [false; 3] {
            return;
        }
        let month = |yyyymm: i64| YEARS.contains(&(yyyymm / 100)) && (1..=12).contains(&(yyyymm % 100));
        let fits = [
            month(integer / 100) && (1..=31).contains(&(integer % 100)),
            month(integer),
            YEARS.contains(&integer),
        ];
        self.0.iter_mut().zip(fits).for_each(|(all, fits)| *all &= fits);
    }

    /// The format that all of them fit.
    pub(crate) fn format(self) -> Option<&'static str> {
        self.0.iter().zip(Self::FORMATS).find(|(fits, _)| **fits).map(|(_, format)| format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::kind::TimeKind;
    use proptest::prelude::*;

    fn shown(format: &str, text: &str) -> Result<String, TimeFlaw> {
        let written = TimeFormat::parse(format).unwrap().read(text)?;
        Ok(TimeKind::Timestamp.display(written.civil))
    }

    #[test]
    fn patterns_are_read_and_what_they_leave_open_is_the_first() {
        for (format, text, time) in [
            ("%Y%m%d", "20240131", "2024-01-31"),
            ("%d.%m.%Y", "31.01.2024", "2024-01-31"),
            ("%m/%d/%Y", "1/31/2024", "2024-01-31"),
            ("%d.%m.%y %H:%M", "31.01.24 13:45", "2024-01-31 13:45:00"),
            ("%m/%d/%Y %I:%M:%S %p", "01/31/2024 01:45:07 PM", "2024-01-31 13:45:07"),
            ("%Y%m%dT%H%M%S%.f", "20240131T134507.25", "2024-01-31 13:45:07.250000"),
            ("%b %Y", "Feb 2024", "2024-02-01"),
            ("%B %Y", "february 2024", "2024-02-01"),
            ("%Y%m", "202402", "2024-02-01"),
            ("%Y", "2024", "2024-01-01"),
            ("%Y-%j", "2024-060", "2024-02-29"),
            ("%G-W%V", "2024-W05", "2024-01-29"),
            ("%s", "86400", "1970-01-02"),
        ] {
            assert_eq!(shown(format, text), Ok(time.to_owned()), "{format}: {text}");
        }
        let written = TimeFormat::parse("%d.%m.%Y %H:%M %z").unwrap().read("31.01.2024 13:45 +0200").unwrap();
        assert_eq!(written.offset, Some(7200));
        assert_eq!(shown("%Y%m%d", "20240230"), Err(CALENDAR));
        assert_eq!(shown("%Y%m%d", "2024-02-28"), Err(PATTERN));
        assert_eq!(shown("%Y-%m-%dT%H:%M:%S%.f", "2024-02-28T00:00:00.0000001"), Err(FRACTION));
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for (word, reason) in [
            ("", "it has no year"),
            ("YYYYMMDD", "it has no year"),
            ("%d %b", "it has no year"),
            ("%Y-%", "unknown time format `%Y-%`"),
            ("%Y %Z", "unknown time format"),
            ("%Y-W%V", "it does not say which day is meant"),
        ] {
            let error = TimeFormat::parse(word).unwrap_err().to_string();
            assert!(error.contains(reason) && error.contains("`integer`"), "{word}: {error}");
        }
        assert_eq!(TimeFormat::parse("integer").unwrap(), TimeFormat::INTEGER);
    }

    #[test]
    fn integers_look_like_dates_only_if_all_of_them_do() {
        let format = |integers: &[i64]| {
            let mut dates = IntegerDates::default();
            integers.iter().for_each(|integer| dates.see(*integer));
            dates.format()
        };
        assert_eq!(format(&[20_240_131, 20_240_201]), Some("%Y%m%d"));
        assert_eq!(format(&[20_240_131, 20_240_230]), Some("%Y%m%d"), "a slip is told when it is read");
        assert_eq!(format(&[202_401, 202_412]), Some("%Y%m"));
        assert_eq!(format(&[1990, 2020]), Some("%Y"));
        assert_eq!(format(&(1..=3000).collect::<Vec<_>>()), None, "runs through years");
        assert_eq!(format(&(200_001..200_100).collect::<Vec<_>>()), None, "no months");
        assert_eq!(format(&[-2024, 0, i64::MIN, i64::MAX]), None);
    }

    proptest! {
        #[test]
        fn no_text_and_no_pattern_panics(pattern in "(%[-_0^#]?[a-zA-Z:.]{1,2}|[ a-z.:/-]){0,6}", text in "\\PC{0,20}|[0-9.:/ -]{0,20}") {
            if let Ok(format) = TimeFormat::parse(&pattern) {
                let _ = format.read(&text);
            }
        }
    }
}
