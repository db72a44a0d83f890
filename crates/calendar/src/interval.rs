//! Intervals between two times: the start is the time of the row, and the end is checked.

use jiff::Span;
use jiff::civil::DateTime;

use super::cursor::{Cursor, FORMAT};
use super::days::{DAY, date_of, days_to};
use super::flaw::TimeFlaw;
use super::written::{End, Written};

/// The separators of two times. Where dates hold slashes or dashes themselves, blanks set them apart.
const BETWEEN: [&str; 8] = [" - ", " \u{2013} ", " \u{2014} ", " to ", " / ", "--", "\u{2013}", "/"];

/// Reads an interval whose times `half` reads; nothing if the text is none. The end may be a time of day, or a duration
/// as in `2024-01-31T13:00/PT1H`.
pub(crate) fn read<'a>(
    text: &'a str,
    half: impl Fn(&'a str) -> Result<Written<'a>, TimeFlaw>,
) -> Option<Result<Written<'a>, TimeFlaw>> {
    let mut halves = BETWEEN.iter().filter_map(|between| text.split_once(between));
    let (start, end) = halves.find_map(|(start, end)| Some((half(start).ok()?, end)))?;
    let read_end = |end: &'a str| {
        if let Some(civil) = clock(end) {
            return Ok(End { civil: clock_after(start.civil, civil), offset: start.offset });
        }
        if end.starts_with('P') {
            let civil = after(start.civil, end).ok_or(FORMAT)?;
            return Ok(End { civil, offset: start.offset });
        }
        let Written { civil, offset, .. } = half(end)?;
        // A day is over at its end, whether the next day is named or it.
        Ok(End { civil: if end.contains(':') { civil } else { civil + DAY }, offset })
    };
    Some(read_end(end).map(|end| Written { end: Some(end), ..start }))
}

/// The first moment after `start` at which clocks show that time of day.
pub(crate) fn clock_after(start: i64, clock: i64) -> i64 {
    let end = start - start.rem_euclid(DAY) + clock;
    if end > start { end } else { end + DAY }
}

/// A time of day and nothing else.
fn clock(text: &str) -> Option<i64> {
    let mut cursor = Cursor(text.as_bytes());
    let clock = cursor.clock().ok()?;
    cursor.0.is_empty().then_some(clock)
}

/// The time that a duration of ISO 8601 leads to.
fn after(start: i64, duration: &str) -> Option<i64> {
    let span: Span = duration.parse().ok()?;
    let midnight = DateTime::from(date_of(start.div_euclid(DAY))?);
    let micros = |time: DateTime| {
        let clock = time.duration_since(DateTime::from(time.date())).as_micros();
        Some(days_to(time.date()) * DAY + i64::try_from(clock).ok()?)
    };
    let start = midnight.checked_add(Span::new().try_microseconds(start.rem_euclid(DAY)).ok()?).ok()?;
    micros(start.checked_add(span).ok()?)
}
