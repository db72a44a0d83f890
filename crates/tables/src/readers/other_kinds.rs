//! Files that are no text tables, told by how they begin.

pub(super) const CODES_OF_ZERO: &str = "something with characters of code 0 in its header, as binary files have and text in UTF-32; save it as CSV in UTF-8";

/// Whether a text begins as JSON does.
pub(super) fn is_json(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let follows = |mark: u8, next: &[u8]| {
        text.strip_prefix(&[mark])
            .and_then(|rest| rest.trim_ascii_start().first())
            .is_some_and(|byte| next.contains(byte))
    };
    follows(b'{', b"\"") || follows(b'[', b"{[]")
}

/// What a file is in place of a table of text, and the remedy.
pub(super) fn other_kind(head: &[u8]) -> Option<&'static str> {
    let text = head.trim_ascii_start();
    let is_page = text.strip_prefix(b"<").and_then(|rest| rest.first());
    Some(match () {
        () if head.starts_with(b"\xd0\xcf\x11\xe0") || head.starts_with("ÐÏ\u{11}à".as_bytes()) => {
            "a workbook of an old Excel (.xls); save it as .xlsx or CSV"
        }
        () if head.starts_with(b"PAR1") => "a Parquet file; let its name end in .parquet",
        () if head.starts_with(b"ARROW1") => "a file of Arrow's; let its name end in .arrow or .feather",
        () if is_json(head) => "JSON; let its name end in .json, or write it as CSV, with a line per row",
        () if is_page.is_some_and(|byte| byte.is_ascii_alphabetic() || b"!?".contains(byte)) => {
            "a page of HTML or XML, as some programs export tables; open it in a spreadsheet, and save it as CSV"
        }
        () if memchr::memchr(b'\n', head).is_none() && memchr::memchr_iter(b'\r', head).count() > 1 => {
            "text whose lines end in CR alone, as on old Macs; save it with the ends of lines of today (LF, or CR LF)"
        }
        () => return None,
    })
}
