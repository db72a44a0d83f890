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
