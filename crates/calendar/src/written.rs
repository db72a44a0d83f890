//! A time as it is written, before anyone says in which zone.

use std::borrow::Cow;

use super::zone::Zone;

/// A time as it is written.
pub(crate) struct Written<'a> {
    /// The time on the clocks, in microseconds since 1970-01-01 00:00.
    pub civil: i64,
    /// Seconds that these clocks are before UTC.
    pub(crate) offset: Option<i32>,
    /// The name of their zone.
    pub(crate) zone: Option<Cow<'a, str>>,
    /// Where it is the start of an interval, the end.
    pub(crate) end: Option<End>,
}

/// The end of an interval, as it is written.
pub(crate) struct End {
    pub(crate) civil: i64,
    pub(crate) offset: Option<i32>,
}

impl Written<'_> {
    /// The time on the clocks, and nothing else.
    pub(crate) fn civil(civil: i64) -> Self {
        Self { civil, offset: None, zone: None, end: None }
    }
}

impl End {
    /// Whether it comes after `start`, an instant where there is a zone.
    pub(crate) fn is_after(&self, start: i64, zone: Option<&Zone>) -> bool {
        let end = match (self.offset, zone) {
            (Some(offset), _) => self.civil.checked_sub(i64::from(offset) * 1_000_000),
            // When clocks are put back, an interval may end at the hour that it started in.
            (None, Some(zone)) => zone.instants(self.civil).map(|shown| shown.later.unwrap_or(shown.first)),
            (None, None) => Some(self.civil),
        };
        end.is_some_and(|end| end > start)
    }
}
