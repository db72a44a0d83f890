//! Times as mails (RFC 2822) and HTTP write them: `Wed, 31 Jan 2024 13:45:07 +0100`.

use jiff::fmt::rfc2822::DateTimeParser;

use super::days::{DAY, days_to};
use super::written::Written;

static PARSER: DateTimeParser = DateTimeParser::new();

/// Reads such a time; nothing for other texts, also those that name another weekday than the date's.
pub(crate) fn read(text: &str) -> Option<Written<'static>> {
    // Most texts that come here are dates without a clock.
    if !text.contains(':') {
        return None;
    }
    let read = PARSER.parse_zoned(text.trim()).ok()?;
    let seconds = (i64::from(read.hour()) * 60 + i64::from(read.minute())) * 60 + i64::from(read.second());
    let civil = days_to(read.date()) * DAY + seconds * 1_000_000;
    Some(Written { offset: Some(read.offset().seconds()), ..Written::civil(civil) })
}
