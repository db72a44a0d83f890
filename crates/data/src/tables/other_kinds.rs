//! Files that are no text tables, told by how they begin.

pub(super) const CODES_OF_ZERO: &str = "something with characters of code 0 in its header, as binary files have and text in UTF-32; save it as CSV in UTF-8";

/// What a file is in place of a table of text, and the remedy.
pub(super) fn other_kind(head: &[u8]) -> Option<&'static str> {
    let text = head.trim_ascii_start();
    let follows = |mark: u8, next: &[u8]| {
        text.strip_prefix(&[mark])
            .and_then(|rest| rest.trim_ascii_start().first())
            .is_some_and(|byte| next.contains(byte))
    };
    let is_page = text.strip_prefix(b"<").and_then(|rest| rest.first());
    Some(match () {
        () if head.starts_with(b"\xd0\xcf\x11\xe0") || head.starts_with("ÐÏ\u{11}à".as_bytes()) => {
            "a workbook of an old Excel (.xls); save it as .xlsx or CSV"
        }
        () if head.starts_with(b"PK\x03\x04") => {
            "a zip archive, as workbooks are; unpack it, or call it .xlsx or .ods if it is one"
        }
        () if head.starts_with(b"PAR1") => "a Parquet file; let its name end in .parquet",
        () if head.starts_with(b"ARROW1") => "a file of Arrow's; let its name end in .arrow or .feather",
        () if follows(b'{', b"\"") || follows(b'[', b"{[]") => "JSON; write it as CSV, with a line per row",
        () if is_page.is_some_and(|byte| byte.is_ascii_alphabetic() || b"!?".contains(byte)) => {
            "a page of HTML or XML, as some programs export tables; open it in a spreadsheet, and save it as CSV"
        }
        () if memchr::memchr(b'\n', head).is_none() && memchr::memchr_iter(b'\r', head).count() > 1 => {
            "text whose lines end in CR alone, as on old Macs; save it with the ends of lines of today (LF, or CR LF)"
        }
        () => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::{Panel, ReadOptions};

    #[test]
    fn files_of_other_kinds_are_called_by_their_names() {
        let read = |bytes: &[u8]| Panel::read_csv(bytes, "t.csv", &ReadOptions::new()).map(|_| ());
        for (bytes, expected) in [
            (&b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0\0"[..], "a workbook of an old Excel"),
            (b"PK\x03\x04\x14\0", "a zip archive"),
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
}
