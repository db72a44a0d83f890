//! Patterns of strptime: one time, or an interval between two.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::civil::Weekday;
use jiff::fmt::strtime::{self, BrokenDownTime};
use jiff::tz::TimeZone;

use super::days::{CALENDAR, DAY, FRACTION, days_to};
use super::directives::{Directive, directives};
use super::flaw::TimeFlaw;
use super::interval::clock_after;
use super::written::{End, Written};

const PATTERN: TimeFlaw = TimeFlaw::new("is not written as the format of the times says");

/// A pattern as written, and its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub(crate) word: String,
    start: Part,
    /// The pattern of the end, if the times are intervals.
    end: Option<Part>,
}

/// A pattern that says nothing twice.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    /// With the month in place of a quarter.
    pattern: String,
    /// Where the number of the quarter stands.
    quarter: Option<usize>,
    /// Where an hour up to 24 stands.
    hour: Option<usize>,
    /// Whether it has a day; else it is a time of day.
    dated: bool,
}

impl Pattern {
    /// Takes a pattern apart; the error is the reason why it is none.
    pub(crate) fn parse(word: &str) -> Result<Self, String> {
        let found = directives(word);
        let (start, end) = match repeated(&found) {
            None => (word, None),
            Some(i) if is_interval(&found, i) => {
                let (start, end) = word.split_at(found[i].at);
                (start, Some(end))
            }
            Some(i) => {
                let twice = found[i].text;
                return Err(format!(
                    "`{twice}` says again what another directive says, and the two may differ; only an interval says a time \
                     twice, in the same form, as in `%d.%m.%Y %H:%M - %d.%m.%Y %H:%M`"
                ));
            }
        };
        let sample = Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
        let part = |pattern: &str| {
            let part = Part::new(pattern);
            let text = strtime::format(pattern, &sample).map_err(|error| error.to_string())?;
            let read = part.parse(&text).map_err(|error| error.to_string())?;
            Ok::<_, String>((part, read.time))
        };
        let (start, read) = part(start)?;
        if read.year().is_none() && read.iso_week_year().is_none() && read.timestamp().is_none() {
            return Err("it has no year (%Y or %y)".to_owned());
        }
        start.written(read).map_err(|_| "it does not say which day is meant".to_owned())?;
        let end = end.map(|end| Ok::<_, String>(part(end)?.0)).transpose()?;
        Ok(Self { word: word.to_owned(), start, end })
    }

    /// Reads a time; the error is the flaw of the text.
    pub(crate) fn read(&self, text: &str) -> Result<Written<'static>, TimeFlaw> {
        let read = self.start.parse(text).map_err(|_| PATTERN)?;
        let rest = text.get(read.consumed..).ok_or(PATTERN)?;
        let mut start = self.start.written(read.time)?;
        start.civil += read.next_day;
        let Some(part) = &self.end else { return if rest.is_empty() { Ok(start) } else { Err(PATTERN) } };
        let read = part.parse(rest).map_err(|_| PATTERN)?;
        if read.consumed != rest.len() {
            return Err(PATTERN);
        }
        let end = match part.dated {
            true => part.written(read.time)?,
            false => Written { civil: clock(&read.time)?, ..part.offset(&read.time) },
        };
        let civil = match (part.dated, part.hour) {
            // A day is over at its end, whether the next day is named or it.
            (true, None) => end.civil + DAY,
            (true, Some(_)) => end.civil + read.next_day,
            (false, _) => clock_after(start.civil, end.civil + read.next_day),
        };
        Ok(Written { end: Some(End { civil, offset: end.offset.or(start.offset) }), ..start })
    }
}

/// The first directive that says what one before it says.
fn repeated(found: &[Directive<'_>]) -> Option<usize> {
    let says_again = |i: &usize| {
        found[..*i].iter().any(|before| found[*i].says().chars().any(|c| before.says().contains(c)))
    };
    (0..found.len()).find(says_again)
}

/// Whether the directives from `i` on are those before, all or from the hour on, once more.
fn is_interval(found: &[Directive<'_>], i: usize) -> bool {
    let texts =
        |found: &[Directive<'_>]| found.iter().map(|directive| directive.text.to_owned()).collect::<Vec<_>>();
    let (start, end) = (texts(&found[..i]), texts(&found[i..]));
    // A season, or a year of accounts, is named by two years: 2012/13.
    if (&start[..], &end[..]) == (&["%Y".to_owned()], &["%y".to_owned()]) {
        return true;
    }
    let hour = found[..i].iter().position(|directive| directive.says().starts_with('H'));
    start == end || hour.is_some_and(|hour| start[hour..] == end)
}

struct Read {
    time: BrokenDownTime,
    /// Bytes of the text that it took.
    consumed: usize,
    /// A day, in microseconds, where the hour is 24.
    next_day: i64,
}

impl Part {
    fn new(pattern: &str) -> Self {
        let found = directives(pattern);
        let ends_with = |letters: &'static str| {
            move |directive: &&Directive<'_>| directive.text.ends_with(|c| letters.contains(c))
        };
        let quarter = found.iter().find(ends_with("q"));
        let mut month = pattern.to_owned();
        if let Some(directive) = quarter {
            month.replace_range(directive.at..directive.at + directive.text.len(), "%m");
        }
        Self {
            pattern: month,
            quarter: quarter.map(|directive| directive.at),
            // That of a quarter is never the end of a day.
            hour: found.iter().filter(|_| quarter.is_none()).find(ends_with("HkTR")).map(|found| found.at),
            dated: found.iter().any(|directive| directive.says().contains(['Y', 'G', 's'])),
        }
    }

    fn parse(&self, text: &str) -> Result<Read, jiff::Error> {
        if let Some(quarter) = self.quarter {
            let before = BrokenDownTime::parse_prefix(&self.pattern[..quarter], text)?.1;
            if let Some(number @ b'0'..=b'9') = text.as_bytes().get(before) {
                // A fifth quarter is refused as the month 00 is.
                let month = if (b'1'..=b'4').contains(number) { (number - b'1') * 3 + 1 } else { 0 };
                let monthly = format!("{}{month:02}{}", &text[..before], &text[before + 1..]);
                let (time, consumed) = BrokenDownTime::parse_prefix(&self.pattern, &monthly)?;
                return Ok(Read { time, consumed: consumed - 1, next_day: 0 });
            }
        }
        let read = BrokenDownTime::parse_prefix(&self.pattern, text);
        read.map(|(time, consumed)| Read { time, consumed, next_day: 0 })
            .or_else(|error| self.end_of_day(text).ok_or(error))
    }

    /// Reads the time 24:00, which ends a day.
    fn end_of_day(&self, text: &str) -> Option<Read> {
        let hour = self.hour?;
        let before = BrokenDownTime::parse_prefix(&self.pattern[..hour], text).ok()?.1;
        let after = text.get(before..)?.strip_prefix("24")?;
        let midnight = format!("{}00{after}", &text[..before]);
        let (time, consumed) = BrokenDownTime::parse_prefix(&self.pattern, midnight).ok()?;
        (clock(&time) == Ok(0)).then_some(Read { time, consumed, next_day: DAY })
    }

    /// The time that was read, with the first day or month where the pattern leaves it open.
    fn written(&self, mut read: BrokenDownTime) -> Result<Written<'static>, TimeFlaw> {
        if let Some(instant) = read.timestamp() {
            return Ok(Written { offset: Some(0), ..Written::civil(instant.as_microsecond()) });
        }
        complete(&mut read).map_err(|_| CALENDAR)?;
        let day = read.to_date().map_err(|_| CALENDAR)?;
        Ok(Written { civil: days_to(day) * DAY + clock(&read)?, ..self.offset(&read) })
    }

    /// Only the zone of a time.
    fn offset(&self, read: &BrokenDownTime) -> Written<'static> {
        Written {
            offset: read.offset().map(|offset| offset.seconds()),
            zone: read.iana_time_zone().map(|zone| Cow::Owned(zone.to_owned())),
            ..Written::civil(0)
        }
    }
}

/// The time of day, in microseconds.
fn clock(read: &BrokenDownTime) -> Result<i64, TimeFlaw> {
    let clock = read.to_time().map_err(|_| PATTERN)?;
    if clock.subsec_nanosecond() % 1000 != 0 {
        return Err(FRACTION);
    }
    let (h, m, s) = (clock.hour(), clock.minute(), clock.second());
    let seconds = (i64::from(h) * 60 + i64::from(m)) * 60 + i64::from(s);
    Ok(seconds * 1_000_000 + i64::from(clock.subsec_nanosecond() / 1000))
}

/// Sets a day or month that the pattern leaves open to the first.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::TimeKind;

    fn read(pattern: &str, text: &str) -> Result<Vec<String>, TimeFlaw> {
        let written = Pattern::parse(pattern).unwrap().read(text)?;
        let times = [Some(written.civil), written.end.map(|end| end.civil)];
        Ok(times.into_iter().flatten().map(|time| TimeKind::Timestamp.display(time)).collect())
    }

    #[test]
    fn an_interval_is_its_start_and_its_end() {
        for (pattern, text, times) in [
            (
                "%d.%m.%Y %H:%M - %d.%m.%Y %H:%M",
                "31.12.2022 23:00 - 01.01.2023 00:00",
                ["2022-12-31 23:00:00", "2023-01-01"],
            ),
            ("%d.%m.%Y %H:%M - %H:%M", "31.12.2022 23:00 - 00:00", ["2022-12-31 23:00:00", "2023-01-01"]),
            ("%d.%m.%Y %H:%M-%H:%M", "31.12.2022 23:00-24:00", ["2022-12-31 23:00:00", "2023-01-01"]),
            ("%m/%d/%y to %m/%d/%y", "12/26/22 to 01/01/23", ["2022-12-26", "2023-01-02"]),
            ("%F %T/%F %T", "2023-01-01 24:00:00/2023-01-02 01:00:00", ["2023-01-02", "2023-01-02 01:00:00"]),
        ] {
            assert_eq!(read(pattern, text), Ok(times.map(str::to_owned).to_vec()), "{pattern}: {text}");
        }
        for text in ["31.12.2022 23:00", "31.12.2022 23:00 - 01.01.2023 00:00 ?", "31.12.2022 23:00 - noon"] {
            assert_eq!(read("%d.%m.%Y %H:%M - %d.%m.%Y %H:%M", text), Err(PATTERN), "{text}");
        }
    }

    #[test]
    fn what_is_said_twice_and_is_no_interval_is_refused() {
        for pattern in [
            "%d.%m.%Y %d",
            "%Y-%m-%d %y",
            "%F %m",
            "%Y-%m-%d - %d",
            "%d.%m.%Y %H:%M - %d.%m.%Y %I:%M",
            "%H:%M %d.%m.%Y %H",
        ] {
            let reason = Pattern::parse(pattern).unwrap_err();
            assert!(reason.contains("says again what another directive says"), "{pattern}: {reason}");
        }
    }

    #[test]
    fn quarters_and_the_end_of_a_day_are_read() {
        for (pattern, text, time) in [
            ("%Y Q%q", "2024 Q3", "2024-07-01"),
            ("%q/%y", "4/23", "2023-10-01"),
            ("Q%q %Y", "Q1 2024", "2024-01-01"),
            ("%d.%m.%Y %H:%M", "28.02.2023 24:00", "2023-03-01"),
            ("%Y%m%d%H", "2023123124", "2024-01-01"),
        ] {
            assert_eq!(read(pattern, text), Ok(vec![time.to_owned()]), "{pattern}: {text}");
        }
        for text in ["2024 Q0", "2024 Q5", "2024 Q", "2024 Q1 "] {
            assert_eq!(read("%Y Q%q", text), Err(PATTERN), "{text}");
        }
        assert_eq!(read("%d.%m.%Y %H:%M", "28.02.2023 24:01"), Err(PATTERN));
    }
}
