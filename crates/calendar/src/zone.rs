//! Time zones: the wall clock of an instant, and the instant of a wall clock.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use serde::{Deserialize, Serialize};

use super::days::{CALENDAR_DAYS, DAY, date_of};
use super::error::CalendarError;
use super::kind::TimeKind;

/// The zone that the times of a panel are in: a fixed offset from UTC, or one by name, whose offset
/// changes over the year.
///
/// Times with a zone are instants: microseconds since 1970-01-01 00:00 UTC. Steps of hours and less
/// are then elapsed time; steps of days and more go by the zone's calendar and clock, as in pandas.
///
/// Serialised as the text that [`Zone::parse`] reads.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Zone {
    zone: TimeZone,
    /// As it was written.
    pub name: String,
    /// Whether the times themselves told it, so that all of them must.
    pub found: bool,
    /// Whether times are written with its name behind the offset, as they were read.
    pub(crate) bracketed: bool,
    /// Days that its calendar left out, since 1970-01-01, when it moved to the other side of the date line.
    missing_days: Arc<[i64]>,
}

impl TryFrom<String> for Zone {
    type Error = CalendarError;

    fn try_from(word: String) -> Result<Self, CalendarError> {
        Self::parse(&word)
    }
}

impl From<Zone> for String {
    fn from(zone: Zone) -> Self {
        zone.name
    }
}

impl PartialEq for Zone {
    fn eq(&self, other: &Self) -> bool {
        self.zone == other.zone
    }
}

impl Zone {
    /// Reads `UTC`, an offset such as `+02:00`, or a name such as `Europe/Berlin`.
    ///
    /// # Errors
    /// [`CalendarError::UnknownZone`].
    pub fn parse(word: &str) -> Result<Self, CalendarError> {
        Self::find(word).ok_or_else(|| CalendarError::UnknownZone { word: word.to_owned() })
    }

    pub(crate) fn find(word: &str) -> Option<Self> {
        let zone = match word {
            "UTC" => Some(TimeZone::UTC),
            _ => match offset(word.as_bytes()) {
                Some((seconds, [])) => return Self::fixed(seconds),
                _ => TimeZone::get(word).ok(),
            },
        };
        zone.map(|zone| Self::new(zone, word))
    }

    /// The zone that is that many seconds before UTC all year.
    pub fn fixed(seconds: i32) -> Option<Self> {
        let offset = Offset::from_seconds(seconds).ok()?;
        let mut name = String::new();
        write_offset(seconds, &mut name).ok()?;
        Some(Self::new(TimeZone::fixed(offset), &name))
    }

    fn new(zone: TimeZone, name: &str) -> Self {
        let missing_days = missing_days(&zone).into();
        Self { zone, name: name.to_owned(), found: false, bracketed: false, missing_days }
    }

    pub(crate) fn missing_days(&self) -> &[i64] {
        &self.missing_days
    }

    /// The zone as one that the times of a table told, with its name in brackets or without.
    pub(crate) fn found_in_times(self, bracketed: bool) -> Self {
        Self { found: true, bracketed, ..self }
    }

    /// Offset from UTC at an instant, in seconds; nothing outside the calendar.
    pub fn offset(&self, instant: i64) -> Option<i32> {
        Some(self.zone.to_offset(Timestamp::from_microsecond(instant).ok()?).seconds())
    }

    /// The time that the clocks of the zone show at an instant, in microseconds since 1970-01-01 00:00 on these clocks.
    pub fn civil(&self, instant: i64) -> Option<i64> {
        instant.checked_add(i64::from(self.offset(instant)?) * 1_000_000)
    }

    /// The instant at which clocks show that: the first of two, and what they are put forward to if
    /// they never do.
    pub fn instant(&self, civil: i64) -> Option<i64> {
        self.instants(civil).map(|instants| instants.first)
    }

    /// The same, with the second of two, and whether clocks never do.
    pub(crate) fn instants(&self, civil: i64) -> Option<Instants> {
        let (day, clock) = (date_of(civil.div_euclid(DAY))?, civil.rem_euclid(DAY));
        let (seconds, micros) = (clock / 1_000_000, clock % 1_000_000);
        let time = DateTime::new(
            day.year(),
            day.month(),
            day.day(),
            (seconds / 3600) as i8,
            (seconds / 60 % 60) as i8,
            (seconds % 60) as i8,
            micros as i32 * 1000,
        );
        let ambiguous = self.zone.to_ambiguous_timestamp(time.ok()?);
        let later = match ambiguous.offset() {
            AmbiguousOffset::Fold { .. } => Some(ambiguous.later().ok()?.as_microsecond()),
            AmbiguousOffset::Gap { .. } | AmbiguousOffset::Unambiguous { .. } => None,
        };
        let skipped = matches!(ambiguous.offset(), AmbiguousOffset::Gap { .. });
        Some(Instants { first: ambiguous.compatible().ok()?.as_microsecond(), later, skipped })
    }
}

/// The instants at which clocks show a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instants {
    /// The first of them, or that to which clocks are put forward over the time.
    pub(crate) first: i64,
    /// The second, if they show it twice.
    pub(crate) later: Option<i64>,
    /// Whether they never show it.
    pub(crate) skipped: bool,
}

/// The days of which no clock of a zone showed a minute.
fn missing_days(zone: &TimeZone) -> Vec<i64> {
    // Rules for summer time never end; none of them moves a clock by a day.
    const END: Timestamp = Timestamp::constant(4_102_444_800, 0);
    let mut days = Vec::new();
    let mut before = zone.to_offset(Timestamp::MIN).seconds();
    for change in zone.following(Timestamp::MIN).take_while(|change| change.timestamp() < END) {
        let (instant, after) = (change.timestamp().as_second(), change.offset().seconds());
        let skipped = [before, after].map(|offset| instant + i64::from(offset));
        // Whole days within.
        days.extend((skipped[0] + 86_399).div_euclid(86_400)..skipped[1].div_euclid(86_400));
        before = after;
    }
    days
}

/// Whether a time of this kind can be written and computed with, in any zone.
pub fn in_range(kind: TimeKind, zone: Option<&Zone>, time: i64) -> bool {
    let margin = if zone.is_some() { 2 } else { 0 };
    let day = time.div_euclid(DAY);
    kind == TimeKind::Integer
        || (CALENDAR_DAYS.contains(&(day - margin)) && CALENDAR_DAYS.contains(&(day + margin)))
}

/// Reads `Z`, `+02`, `+0200`, `+02:00` or `+02:00:00` off the front; the seconds, and what follows.
pub(crate) fn offset(text: &[u8]) -> Option<(i32, &[u8])> {
    let (sign, mut rest) = match text {
        [b'Z' | b'z', rest @ ..] => return Some((0, rest)),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let mut seconds = 0;
    for (part, unit) in [3600, 60, 1].into_iter().enumerate() {
        if part > 0 {
            let colon = rest.strip_prefix(b":").unwrap_or(rest);
            if !colon.first().is_some_and(u8::is_ascii_digit) {
                break;
            }
            rest = colon;
        }
        let [tens @ b'0'..=b'9', ones @ b'0'..=b'9', after @ ..] = rest else { return None };
        let number = i32::from(tens - b'0') * 10 + i32::from(ones - b'0');
        if number > if part == 0 { 25 } else { 59 } {
            return None;
        }
        seconds += number * unit;
        rest = after;
    }
    Some((sign * seconds, rest))
}

/// Writes an offset as pandas does, `+02:00`.
pub(crate) fn write_offset(seconds: i32, out: &mut impl fmt::Write) -> fmt::Result {
    let (sign, size) = (if seconds < 0 { '-' } else { '+' }, seconds.unsigned_abs());
    write!(out, "{sign}{:02}:{:02}", size / 3600, size / 60 % 60)?;
    match size % 60 {
        0 => Ok(()),
        rest => write!(out, ":{rest:02}"),
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl std::str::FromStr for Zone {
    type Err = CalendarError;

    fn from_str(word: &str) -> Result<Self, CalendarError> {
        Self::parse(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TimeKind;

    fn time(text: &str) -> i64 {
        TimeKind::Timestamp.parse(text).unwrap()
    }

    #[test]
    fn zones_are_read_and_written() {
        for (word, written) in [
            ("UTC", "UTC"),
            ("+02:00", "+02:00"),
            ("-0930", "-09:30"),
            ("+05", "+05:00"),
            ("Europe/Berlin", "Europe/Berlin"),
        ] {
            assert_eq!(Zone::parse(word).unwrap().to_string(), written);
        }
        for word in ["", "Europe/Bern-Berlin", "+2", "+99:00", "+02:61", "02:00"] {
            assert!(Zone::parse(word).unwrap_err().to_string().contains("time zone"), "{word}");
        }
    }

    #[test]
    fn clocks_and_instants_lead_to_each_other() {
        let berlin = Zone::parse("Europe/Berlin").unwrap();
        for (clock, utc) in [
            ("2024-01-15 12:00", "2024-01-15 11:00"),
            ("2024-07-15 12:00", "2024-07-15 10:00"),
            ("2024-03-31 01:59:59.999999", "2024-03-31 00:59:59.999999"),
            ("2024-10-27 02:30", "2024-10-27 00:30"),
        ] {
            assert_eq!(berlin.instant(time(clock)), Some(time(utc)), "{clock}");
            assert_eq!(berlin.civil(time(utc)), Some(time(clock)), "{utc}");
        }
        // Clocks were put forward from 2 to 3, and show half past 2 twice in October.
        assert_eq!(berlin.instant(time("2024-03-31 02:30")), Some(time("2024-03-31 01:30")));
        assert_eq!(berlin.civil(time("2024-10-27 01:30")), Some(time("2024-10-27 02:30")));
        assert_eq!(berlin.civil(i64::MAX), None);
        assert_eq!(berlin.instant(i64::MIN), None);
    }
}
