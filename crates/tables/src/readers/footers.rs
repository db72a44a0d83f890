//! Notes below a table: where it is from, what its marks mean, when it was made.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::read_note::ReadNote;
use foretell_calendar::{TimeKind, readings::formats};
use foretell_messages::excerpt;

/// How such lines begin, before a colon: in English, German, French, Spanish, Italian and Portuguese, Dutch and in the Nordic countries.
const WORDS: [&str; 24] = [
    "source", "sources", "note", "notes", "footnote", "footnotes", "remark", "remarks", "copyright",
    "quelle", "quellen", "anmerkung", "anmerkungen", "hinweis", "hinweise", "stand", "remarque", "fuente",
    "fuentes", "nota", "notas", "fonte", "bron", "kilde",
];

/// Marks that they begin with.
const MARKS: [char; 12] = ['*', '#', '†', '‡', '©', '®', '(', '[', '¹', '²', '³', '•'];

/// Words of a line without any of these that is one nevertheless.
const FEW: usize = 3;

/// The notes of all parts of a table.
#[derive(Debug, Default)]
pub(super) struct Footers {
    first: Mutex<Option<Footer>>,
    lines: AtomicU64,
    /// The last line of a row.
    last_row: AtomicU64,
}

/// The line of a note, how many fields it has, and the first of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Footer {
    pub(super) line: u64,
    pub(super) fields: usize,
    pub(super) text: String,
}

impl Footers {
    /// Takes notice of a note.
    pub(super) fn see(&self, line: u64, fields: usize, text: &[u8]) {
        self.lines.fetch_add(1, Ordering::Relaxed);
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        // Another part may have seen an earlier line.
        if first.as_ref().is_none_or(|first| line < first.line) {
            *first = Some(Footer { line, fields, text: excerpt(text.trim_ascii()) });
        }
    }

    /// Takes notice of the last row of a part.
    pub(super) fn see_row(&self, line: u64) {
        self.last_row.fetch_max(line, Ordering::Relaxed);
    }

    /// The first line that seemed to be a note and has rows below it, so that it is none, once all was read.
    pub(super) fn among_rows(&self) -> Option<Footer> {
        let last_row = self.last_row.load(Ordering::Relaxed);
        self.first().filter(|first| first.line < last_row)
    }

    /// What was left out, once all was read.
    pub(super) fn note(&self, file: &Arc<str>) -> Option<ReadNote> {
        let Footer { line, text, .. } = self.first()?;
        let lines = self.lines.load(Ordering::Relaxed);
        Some(ReadNote::Footers { file: file.clone(), line, lines, first: text })
    }

    fn first(&self) -> Option<Footer> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Whether a line is a note by its first cell and the others, of which it `lacks` some or none: it has no value, or lacks cells behind a word
/// such as Source before a colon.
pub(super) fn is_note<'a>(first: &[u8], mut others: impl Iterator<Item = &'a [u8]>, lacks: bool) -> bool {
    let Ok(text) = str::from_utf8(first).map(str::trim) else { return false };
    if text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let before = text.split_once(':').map(|(before, _)| before.trim().to_lowercase());
    let are_empty = others.all(|cell| cell.trim_ascii().is_empty());
    // A whole row is one, whatever its id begins with.
    if (lacks || are_empty) && before.is_some_and(|before| WORDS.contains(&before.as_str())) {
        return true;
    }
    if !are_empty {
        return false;
    }
    let is_rule = text.len() > 2 && text.chars().all(|c| "-_=".contains(c));
    let is_marked = text.starts_with(MARKS) && text.contains(char::is_alphabetic);
    let is_long = lacks && text.split_whitespace().count() >= FEW;
    // No time begins so; other words may be the time of a row whose values are missing, which takes long to tell.
    is_rule || is_marked || is_long && TimeKind::Timestamp.parse(text).is_err() && formats(text).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::TableError;
    use crate::readers::file_options::FileOptions;
    use crate::readers::table::TableReader;
    use crate::readers::text_table::TextTable;

    #[test]
    fn lines_without_values_are_notes_by_how_they_begin() {
        let note = |line: &str, expected: usize| {
            let mut fields = line.split(';').map(str::as_bytes);
            let first = fields.next().unwrap();
            let lacks = line.split(';').count() < expected;
            is_note(first, fields, lacks)
        };
        for line in [
            "Source: Office of statistics", "Quelle: Amt; Wiesbaden", "Notes: ;;", "* provisional;;",
            "(p) provisional", "© Office, 2025", "__________", "Data extracted on 14 January",
        ] {
            assert!(note(line, 3), "{line}");
        }
        for line in [
            "North", "North Total;;", "2024-01-01;;", "Jan 2024;;", "31 January 2024;", "Wed 31 Jan 2024",
            "* a;5;6", "Region: North;2024-01;5", "", "-", "Total of all shops;;", "(12.5)",
        ] {
            assert!(!note(line, 3), "{line}");
        }
    }

    fn read(text: &str) -> Result<(usize, Vec<String>), TableError> {
        let mut table = TextTable::new(text.as_bytes(), "t.csv".into(), &FileOptions::default())?;
        let mut rows = 0;
        while table.advance()? {
            rows += 1;
        }
        table.check_units()?;
        Ok((rows, table.notes().iter().map(ToString::to_string).collect()))
    }

    #[test]
    fn notes_below_a_table_are_left_out_and_told() {
        let (rows, told) = read("ds,y\n1,5\n2,6\n\nSource: Office of statistics\n* provisional,\n").unwrap();
        assert_eq!(rows, 2);
        assert_eq!(
            told,
            [
                "t.csv: lines left out as notes below the table: 2, from line 5 on (`Source: Office of statistics`)"
            ]
        );
    }

    #[test]
    fn what_stands_among_rows_is_no_note() {
        for (text, expected) in [
            ("ds,y\n1,5\nSource: Office\n2,6\n", "t.csv, line 3: 1 fields where the header has 2"),
            (
                "ds,y\n1,5\n* other shops,\n2,6\n",
                "t.csv, line 3: this line has no time, and begins with \"* other",
            ),
        ] {
            let message = read(text).unwrap_err().to_string();
            assert!(
                message.starts_with(expected) && message.contains("`FileOptions::skip_matching"),
                "{message}"
            );
        }
    }
}
