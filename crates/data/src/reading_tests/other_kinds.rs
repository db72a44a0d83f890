//! Files that are no text tables, told by how they begin.

use crate::{Panel, ReadOptions};

#[test]
fn files_of_other_kinds_are_called_by_their_names() {
    let read = |bytes: &[u8]| Panel::read_csv(bytes, "t.csv", &ReadOptions::new()).map(|_| ());
    for (bytes, expected) in [
        (&b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0\0"[..], "a workbook of an old Excel"),
        (b"PAR1\x15\x04", "a Parquet file"),
        (b"[{\"unique_id\": \"a\", \"ds\": 1, \"y\": 2}]", "JSON"),
        (b" {\"unique_id\": [\"a\"]}", "JSON"),
        (b"<html><table><tr><td>ds</td></tr></table>", "a page of HTML"),
        (b"unique_id,ds,y\ra,1,2\ra,2,3\r", "lines end in CR alone"),
        (b"un\0ique,ds,y\na,1,2\n", "characters of code 0"),
        (b"\xff\xfe\0\0a\0\0\0,\0\0\0b\0\0\0\n\0\0\0", "characters of code 0"),
    ] {
        let message = read(bytes).unwrap_err().to_string();
        assert!(
            message.starts_with("t.csv: it is no table of text, but ") && message.contains(expected),
            "{message}"
        );
    }
    for text in ["unique_id,ds,y\r\na,1,2\r\n", "ds,[a],{b}\n", "<1,ds\n", "unique_id,ds,y\na,1,2\n"] {
        let error = read(text.as_bytes()).map_or_else(|error| error.to_string(), |()| String::new());
        assert!(!error.contains("it is no table of text"), "{error}");
    }
}
