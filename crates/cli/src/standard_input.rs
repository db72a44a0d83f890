//! Standard input, which gives its text once: its beginning is kept, to be looked at before all of it is read.

use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::OnceLock;

use foretell::{FileFormat, MemoryTable, is_json_by_columns, unpacked_beginning};

/// What it is called in messages.
pub(crate) const NAME: &str = "standard input";

/// Bytes that are kept: the rows that are looked at, unless they are very long; of compressed ones as many bytes of their text.
const HEAD: u64 = 1 << 18;

/// JSON by columns is kept up to this size, as that of pipes is: how much memory it may take is known when it is read.
const KEPT_JSON: u64 = 1 << 28;

/// Whether a path stands for it.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Its beginning, read at the first call, and whether it is JSON by columns. What cannot be read is an error of the reading.
fn head() -> &'static (Vec<u8>, bool) {
    static KEPT: OnceLock<(Vec<u8>, bool)> = OnceLock::new();
    KEPT.get_or_init(|| {
        let mut head = Vec::new();
        _ = io::stdin().lock().take(HEAD).read_to_end(&mut head);
        // The cells of its first row stand where each column begins.
        let is_by_columns = is_json_by_columns(&unpacked_beginning(&head, HEAD));
        if is_by_columns {
            _ = io::stdin().lock().take(KEPT_JSON - HEAD).read_to_end(&mut head);
        }
        (head, is_by_columns)
    })
}

/// All of it.
pub(crate) fn text() -> impl Read + Send {
    Cursor::new(&head().0[..]).chain(io::stdin())
}

/// The rows that its beginning has as a whole.
pub(crate) fn first_rows() -> MemoryTable {
    let (packed, is_by_columns) = head();
    let most = if *is_by_columns { KEPT_JSON } else { HEAD };
    let head = unpacked_beginning(packed, most);
    let is_cut = [packed.len(), head.len()].contains(&(most as usize));
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head).trim_ascii_start();
    let is_json = text.starts_with(b"[") || text.starts_with(b"{");
    let rows = match is_cut {
        false => head,
        // Its last columns are not there, so that nothing is told of its rows.
        true if *is_by_columns => Vec::new(),
        true if is_json => whole_json_rows(text),
        true => {
            head[..head.iter().rposition(|byte| *byte == b'\n').map_or(head.len(), |end| end + 1)].to_vec()
        }
    };
    MemoryTable::new(NAME, FileFormat::of(if is_json { "rows.json" } else { "rows.csv" }), rows)
}

/// The rows of JSON up to the last whole one, in a list that is closed where they are in one.
fn whole_json_rows(text: &[u8]) -> Vec<u8> {
    let (mut in_text, mut is_escaped, mut end) = (false, false, text.len());
    for (place, byte) in text.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_text,
            b'"' => in_text = !in_text,
            b'}' if !in_text => end = place + 1,
            _ => {}
        }
    }
    let close: &[u8] = if text.starts_with(b"[") { b"]" } else { b"" };
    [&text[..end], close].concat()
}

#[cfg(test)]
mod tests {
    use super::whole_json_rows;

    #[test]
    fn json_is_cut_behind_its_last_whole_row() {
        for (text, rows) in [
            (r#"[{"a": "x}"}, {"a": "}", "b"#, r#"[{"a": "x}"}]"#),
            ("[{\"a\": \"\\\"}\"},\n{\"a\": 2}, {", "[{\"a\": \"\\\"}\"},\n{\"a\": 2}]"),
            ("{\"a\": 1}\n{\"a\": 2}\n{\"a\"", "{\"a\": 1}\n{\"a\": 2}"),
        ] {
            assert_eq!(String::from_utf8(whole_json_rows(text.as_bytes())).unwrap(), rows);
        }
    }
}
