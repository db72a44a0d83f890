//! How the times and the numbers of a table are written, where they are not written as usual.

use std::sync::Arc;

use foretell_calendar::TimeFormat;
use foretell_tables::{NumberFormat, ReadNote};

/// How the times and numbers of a table are written that are not written as usual.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Notation {
    /// The only format that reads the times, and the first of them.
    pub times: Option<(TimeFormat, String)>,
    /// The only way to read the numbers, and the first that no other reads.
    pub numbers: Option<(NumberFormat, String)>,
}

impl Notation {
    /// What is told of a table that is written so.
    pub(super) fn note(&self, table: Arc<str>) -> Option<ReadNote> {
        let times = self.times.as_ref().map(|(format, first)| [format.to_string(), first.clone()]);
        let number = self.numbers.as_ref().map(|(_, first)| first.clone());
        (times.is_some() || number.is_some()).then_some(ReadNote::Written { table, times, number })
    }
}
