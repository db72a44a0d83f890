//! Times as code states them.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};

use super::clock::Clock;
use super::days::{DAY, FINE, RANGE, days_to};
use super::flaw::TimeFlaw;
use super::kind::TimeKind;
use super::zone::Zone;

const NO_DATE: TimeFlaw = TimeFlaw::new(
    "is a date, and the panel's times are integers; give an integer, or the panel another frequency",
);
const NO_ZONE: TimeFlaw = TimeFlaw::new(
    "is an instant, and the panel has no zone; name it before the times (PanelBuilder::zone), or give \
                       times of a civil clock",
);
/// The flaw of a zone that stands in a later row first.
pub const LATE_ZONE: TimeFlaw =
    TimeFlaw::new("comes after times that were read without it; name the zone before the times");

/// A time of a row in code, in any of the types that one may have it in.
///
/// | type | where times are integers | where they are dates or times |
/// |---|---|---|
/// | [`i64`] | the integer | microseconds since 1970-01-01 00:00, on the panel's civil clock or, where it has a zone, UTC |
/// | [`Date`], [`DateTime`] of jiff | an error | what the clock shows, that of the zone where the panel has one |
/// | [`Timestamp`] of jiff | an error | the instant; the panel must have a zone |
/// | a text | an integer | a time as in files: `2024-01-31`, `2024-01-31 13:45`, with a zone `2024-01-31T13:45+01:00` |
///
/// ```
/// use foretell_calendar::jiff::civil::date;
/// use foretell_calendar::{Time, TimeKind, Zone};
///
/// let day = Time::from(date(2024, 1, 31)).resolve(TimeKind::Timestamp, None)?;
/// assert_eq!(Time::from("2024-01-31").resolve(TimeKind::Timestamp, None)?, day);
///
/// let noon = date(2024, 7, 1).at(12, 0, 0, 0);
/// let berlin = Zone::parse("Europe/Berlin").expect("a zone");
/// let instant = Time::from(noon).resolve(TimeKind::Timestamp, Some(&berlin))?;
/// assert_eq!(instant, 1_719_828_000_000_000); // 10:00 UTC
/// # Ok::<(), foretell_calendar::TimeFlaw>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time<'a>(Given<'a>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Given<'a> {
    Number(i64),
    Civil(DateTime),
    Instant(Timestamp),
    Text(&'a str),
}

impl From<i64> for Time<'_> {
    fn from(number: i64) -> Self {
        Self(Given::Number(number))
    }
}

impl From<Date> for Time<'_> {
    fn from(date: Date) -> Self {
        Self(Given::Civil(date.into()))
    }
}

impl From<DateTime> for Time<'_> {
    fn from(time: DateTime) -> Self {
        Self(Given::Civil(time))
    }
}

impl From<Timestamp> for Time<'_> {
    fn from(instant: Timestamp) -> Self {
        Self(Given::Instant(instant))
    }
}

impl<'a> From<&'a str> for Time<'a> {
    fn from(text: &'a str) -> Self {
        Self(Given::Text(text))
    }
}

impl fmt::Display for Time<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Given::Number(number) => number.fmt(f),
            Given::Civil(time) => time.fmt(f),
            Given::Instant(instant) => instant.fmt(f),
            Given::Text(text) => text.fmt(f),
        }
    }
}

impl Time<'_> {
    /// Whether a zone changes what it is.
    pub fn is_civil(self) -> bool {
        matches!(self.0, Given::Civil(_) | Given::Text(_))
    }

    /// The time as panels of this kind and zone keep it.
    ///
    /// # Errors
    /// The flaw of the time, and what to do.
    pub fn resolve(self, kind: TimeKind, zone: Option<&Zone>) -> Result<i64, TimeFlaw> {
        match self.0 {
            Given::Number(number) => Ok(number),
            Given::Text(text) => {
                // A text that is the first of its table may have an offset from UTC.
                let first = kind == TimeKind::Timestamp && text.parse::<i64>().is_err();
                let clock = Clock::new(None, zone.cloned(), None);
                let mut clock = if first { clock } else { clock.of_kind(kind) };
                let time = clock.read(text)?;
                if clock.zone.is_some() && zone.is_none() { Err(NO_ZONE) } else { Ok(time) }
            }
            Given::Civil(_) | Given::Instant(_) if kind == TimeKind::Integer => Err(NO_DATE),
            Given::Civil(time) => {
                let (hour, minute, second) = (time.hour(), time.minute(), time.second());
                let seconds = (i64::from(hour) * 60 + i64::from(minute)) * 60 + i64::from(second);
                let civil =
                    days_to(time.date()) * DAY + seconds * 1_000_000 + micros(time.subsec_nanosecond())?;
                zone.map_or(Some(civil), |zone| zone.instant(civil)).ok_or(RANGE)
            }
            Given::Instant(instant) => {
                micros(instant.subsec_nanosecond())?;
                if zone.is_some() { Ok(instant.as_microsecond()) } else { Err(NO_ZONE) }
            }
        }
    }
}

/// Nanoseconds in microseconds.
fn micros(nanos: i32) -> Result<i64, TimeFlaw> {
    if nanos % 1000 == 0 { Ok(i64::from(nanos) / 1000) } else { Err(FINE) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn every_form_is_the_same_time() {
        let civil = date(2024, 7, 31).at(13, 45, 7, 250_000_000);
        let text = "2024-07-31 13:45:07.25";
        let micros = 1_722_433_507_250_000;
        let resolved = |time: Time<'_>, zone: Option<&Zone>| time.resolve(TimeKind::Timestamp, zone);
        for time in [civil.into(), text.into(), Time::from(micros)] {
            assert_eq!(resolved(time, None), Ok(micros), "{time}");
        }
        let berlin = Zone::parse("Europe/Berlin").unwrap();
        let instant = Timestamp::from_microsecond(micros - 7_200_000_000).unwrap();
        for time in [civil.into(), text.into(), "2024-07-31T11:45:07.25Z".into(), Time::from(instant)] {
            assert_eq!(resolved(time, Some(&berlin)), Ok(instant.as_microsecond()), "{time}");
        }
        assert_eq!(resolved(date(1969, 12, 31).into(), None), Ok(-DAY));
        assert_eq!(Time::from("17").resolve(TimeKind::Integer, None), Ok(17));
    }
}
