//! How the times and the numbers of a table are written, where they are not written as usual.

use std::sync::Arc;

use foretell_calendar::{Locale, TimeFormat};
use foretell_tables::{NumberFormat, ReadNote, is_of_id};

/// How the times and numbers of a table are written that are not written as usual.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Notation {
    /// The only format that reads the times, and the first of them.
    pub times: Option<(TimeFormat, String)>,
    /// The language of the names of months in times, and the first of them.
    pub months: Option<(Locale, String)>,
    /// The only way to read the numbers, and the first that no other reads.
    pub numbers: Option<(NumberFormat, String)>,
    /// Columns whose texts stand in the first row of a series alone.
    pub ids_above: Vec<String>,
    /// How many each of these has in the rows that were looked at,
    pub ids_seen: Vec<usize>,
    /// and how many rows these are.
    pub rows_seen: usize,
}

impl Notation {
    /// What is told of a table whose ids in this column, or in several, stand in the first row of each series alone.
    pub(super) fn note_of_ids(&self, table: Arc<str>, id_col: &str) -> Option<ReadNote> {
        let seen = self.ids_above.iter().cloned().zip(self.ids_seen.iter().copied());
        let (columns, ids): (Vec<String>, Vec<usize>) =
            seen.filter(|(name, _)| is_of_id(id_col, name)).unzip();
        let rows = self.rows_seen;
        (!columns.is_empty()).then_some(ReadNote::IdsAbove { table, columns, ids, rows })
    }

    /// What is told of times with names of months in that language.
    pub(super) fn note_of_months(&self, table: Arc<str>) -> Option<ReadNote> {
        let (locale, first) = self.months.as_ref()?;
        Some(ReadNote::Months { table, locale: locale.to_string(), first: first.clone() })
    }

    /// What is told of times and numbers of a table that are written so.
    pub(super) fn note(&self, table: Arc<str>) -> Option<ReadNote> {
        let times = self.times.as_ref().map(|(format, first)| [format.to_string(), first.clone()]);
        let number = self.numbers.as_ref().map(|(_, first)| first.clone());
        (times.is_some() || number.is_some()).then_some(ReadNote::Written { table, times, number })
    }
}
