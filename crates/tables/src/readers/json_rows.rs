//! JSON as a table: a row in each line, a list of rows, or lists of cells by the names of their columns.

use std::cell::Cell;
use std::io::{self, BufReader, Cursor, Read};
use std::sync::Arc;

use serde::Deserialize as _;
use serde::de::DeserializeSeed as _;

use super::columns_table::ColumnsTable;
use super::compressed::Text;
use super::table_columns::{Row, RowList, TableColumns};
use crate::error::TableError;
use crate::error::construct::check_wanted;
use crate::error::file::UnreadableTable;
use crate::error::too_large::TooLarge;

/// Bytes by which the form is told.
const HEAD: u64 = 1 << 12;

/// Rows from one look at whether anyone waits for them to the next.
const ROWS: usize = 1 << 12;

/// Reads a file of JSON, which may be compressed, called `name` in messages; its rows are counted from 0.
///
/// # Errors
/// A source that cannot be read, JSON that is damaged or no table, and one that takes more memory than `limit`.
pub(super) fn json_table(
    name: &Arc<str>,
    input: impl Read,
    limit: Option<u64>,
) -> Result<ColumnsTable, TableError> {
    let refused = |reason: String| TableError::from(UnreadableTable::Json { file: name.clone(), reason });
    let unread = |source| TableError::Read { file: name.clone(), source };
    let read_bytes = Cell::new(0);
    let text = Counted { text: Text::of(input).map_err(unread)?, bytes: &read_bytes, limit };
    let mut text = BufReader::new(text);
    let mut head = Vec::new();
    text.by_ref().take(HEAD).read_to_end(&mut head).map_err(unread)?;
    // A mark of the order of bytes.
    if head.starts_with(b"\xef\xbb\xbf") {
        head.drain(..3);
    }
    let mut columns = TableColumns::default();
    let start = head.trim_ascii_start();
    let is_list = start.first() == Some(&b'[');
    let in_lists = is_json_by_columns(start);
    let text = Cursor::new(head.clone()).chain(text);
    let read = || -> Result<TableColumns, serde_json::Error> {
        let mut reader = serde_json::Deserializer::from_reader(text);
        match (is_list, in_lists) {
            (true, _) => RowList(&mut columns).deserialize(&mut reader)?,
            (_, true) => columns = TableColumns::deserialize(&mut reader)?,
            _ => {
                let mut rows = 0_usize;
                while reader.end().is_err() {
                    if rows.is_multiple_of(ROWS) && check_wanted().is_err() {
                        break;
                    }
                    Row(&mut columns).deserialize(&mut reader)?;
                    rows += 1;
                }
                return Ok(columns);
            }
        }
        reader.end()?;
        Ok(columns)
    };
    let columns =
        read().map_err(|error| match limit.filter(|limit| memory_of_text(read_bytes.get()) > *limit) {
            // How much more there is no one has read.
            Some(limit) => TooLarge::Stream { file: name.clone(), needed: None, limit }.into(),
            None => refused(error.to_string()),
        })?;
    check_wanted()?;
    if columns.0.is_empty() {
        return Err(TableError::Empty { file: name.clone() });
    }
    ColumnsTable::new(name, columns.into())
}

/// The memory that JSON of this size, in bytes, takes: of each cell its text, and where that ends.
pub(super) fn memory_of_text(bytes: u64) -> u64 {
    bytes.saturating_mul(3)
}

/// A text of which no more is read than memory may hold.
struct Counted<'a, R> {
    text: R,
    bytes: &'a Cell<u64>,
    limit: Option<u64>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.text.read(out)?;
        self.bytes.set(self.bytes.get() + read as u64);
        match self.limit.is_some_and(|limit| memory_of_text(self.bytes.get()) > limit) {
            true => Err(io::Error::other("it takes more memory than it may")),
            false => Ok(read),
        }
    }
}

/// Whether JSON that begins so has lists of cells by the names of their columns: of lines the first brace opens a row, of columns its first
/// cells are a list.
pub fn is_json_by_columns(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let behind_name = text.iter().position(|byte| *byte == b':').map_or(&[][..], |colon| &text[colon + 1..]);
    text.first() == Some(&b'{') && behind_name.trim_ascii_start().first() == Some(&b'[')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::table::TableReader as _;

    fn rows(text: &str) -> Result<Vec<String>, String> {
        let mut table =
            json_table(&"t.json".into(), text.as_bytes(), None).map_err(|error| error.to_string())?;
        let mut rows = vec![table.header().join(",")];
        while table.advance().map_err(|error| error.to_string())? {
            let cells =
                (0..table.header().len()).map(|column| table.label(column).unwrap_or_default().into_owned());
            rows.push(cells.collect::<Vec<_>>().join(","));
        }
        Ok(rows)
    }

    #[test]
    fn the_three_forms_are_one_table() {
        let expected = ["ds,y,id", "2024-01-01,1.5,a", "2024-01-02,,b"];
        for text in [
            "{\"ds\": \"2024-01-01\", \"y\": 1.5, \"id\": \"a\"}\n{\"id\": \"b\", \"ds\": \"2024-01-02\"}\n",
            "\u{feff}[{\"ds\": \"2024-01-01\", \"y\": 1.5, \"id\": \"a\"},\n {\"ds\": \"2024-01-02\", \"y\": null, \"id\": \"b\"}]",
            "{\"ds\": [\"2024-01-01\", \"2024-01-02\"], \"y\": [1.5, null], \"id\": [\"a\", \"b\"]}",
        ] {
            assert_eq!(rows(text).unwrap(), expected, "{text}");
        }
        assert_eq!(rows("{\"a\": 1}\n{\"b\": 2}\n").unwrap(), ["a,b", "1,", ",2"]);
    }

    #[test]
    fn what_is_no_table_is_refused() {
        for (text, expected) in [
            ("", "is empty"),
            ("[]", "is empty"),
            ("[1, 2]", "expected a row"),
            ("{\"a\": {\"b\": 1}}", "expected a cell"),
            ("{\"a\": 1, \"a\": 2}", "two cells of `a`"),
            ("{\"a\": 1}\n{\"a\": 2", "line 2"),
            ("[{\"a\": 1}] x", "trailing characters"),
            ("{\"a\": [1, 2], \"b\": [1]}", "1 values"),
        ] {
            let error = rows(text).unwrap_err();
            assert!(error.contains("t.json") && error.contains(expected), "{text}: {error}");
        }
    }
}
