//! The forms of ISO 8601 that files are full of: read without a table, a copy or a second look.

use std::borrow::Cow;

use super::cursor::{Cursor, FORMAT};
use super::days::{CALENDAR, DAY, day_number};
use super::flaw::TimeFlaw;
use super::written::Written;
use super::zone;

pub(crate) const ZONE: TimeFlaw = TimeFlaw::new(
    "has a time zone that is unknown; write an offset such as +02:00, or a name of the IANA database such as \
     [Europe/Berlin]",
);

/// Reads `YYYY-MM[-DD]`, then optionally `HH:MM[:SS[.ffffff]]` after a blank or `T`, and a zone behind it.
/// Slashes may stand for dashes: with the year in front nothing is ambiguous.
pub(crate) fn read(text: &str) -> Result<Written<'_>, TimeFlaw> {
    let mut cursor = Cursor(text.as_bytes());
    let year = cursor.number(4, 4).ok_or(FORMAT)?;
    let dash = if cursor.eat(b'/') { b'/' } else { b'-' };
    if dash == b'-' && !cursor.eat(b'-') {
        return Err(FORMAT);
    }
    let month = cursor.number(1, 2).ok_or(FORMAT)?;
    let day = if cursor.eat(dash) { cursor.number(1, 2).ok_or(FORMAT)? } else { 1 };
    let mut time = day_number(year, month, day).ok_or(CALENDAR)? * DAY;
    let clock = cursor.eat(b'T') || cursor.eat(b' ');
    if clock {
        time += cursor.clock()?;
    }
    match cursor.0 {
        [] => Ok(Written::civil(time)),
        rest @ ([b'Z' | b'z' | b'+' | b'-' | b'[', ..] | [b' ', b'U' | b'u' | b'+' | b'-' | b'Z', ..])
            if clock =>
        {
            let (offset, zone) = offset_and_zone(rest)?;
            Ok(Written { offset, zone: zone.map(Cow::Borrowed), ..Written::civil(time) })
        }
        _ => Err(FORMAT),
    }
}

/// Reads `YYYY-MM-DD`, `YYYY-MM-DD HH:MM` or `YYYY-MM-DD HH:MM:SS`, maybe with a `T`, in which each digit has its place;
/// nothing if it is written otherwise, or is no time.
pub(crate) fn read_fixed(text: &[u8]) -> Option<i64> {
    let two = |tens: u8, ones: u8| match (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0')) {
        (tens @ 0..=9, ones @ 0..=9) => Some(i64::from(tens * 10 + ones)),
        _ => None,
    };
    let (&[y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1], clock) = text.split_first_chunk()? else {
        return None;
    };
    let day = day_number(two(y0, y1)? * 100 + two(y2, y3)?, two(m0, m1)?, two(d0, d1)?)?;
    let (hour, minute, second) = match *clock {
        [] => (0, 0, 0),
        [b' ' | b'T', h0, h1, b':', m0, m1] => (two(h0, h1)?, two(m0, m1)?, 0),
        [b' ' | b'T', h0, h1, b':', m0, m1, b':', s0, s1] => (two(h0, h1)?, two(m0, m1)?, two(s0, s1)?),
        _ => return None,
    };
    let in_day = hour < 24 && minute < 60 && second < 60;
    in_day.then_some(day * DAY + ((hour * 60 + minute) * 60 + second) * 1_000_000)
}

/// Reads an offset from UTC, the name of a zone in brackets, or both.
fn offset_and_zone(text: &[u8]) -> Result<(Option<i32>, Option<&str>), TimeFlaw> {
    let text = text.strip_prefix(b" ").unwrap_or(text);
    let (offset, rest) = match zone::offset(text) {
        Some((seconds, rest)) => (Some(seconds), rest),
        None => match text {
            [b'U' | b'u', b'T' | b't', b'C' | b'c', rest @ ..] => (Some(0), rest),
            _ => (None, text),
        },
    };
    match rest {
        [] if offset.is_some() => Ok((offset, None)),
        [b'[', name @ .., b']'] => Ok((offset, Some(str::from_utf8(name).map_err(|_| ZONE)?))),
        _ => Err(ZONE),
    }
}
