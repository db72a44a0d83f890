//! Standard input, which gives its text once: its beginning is kept, to be looked at before all of it is read.

use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::OnceLock;

use foretell::{FileFormat, MemoryTable};

/// What it is called in messages.
pub(crate) const NAME: &str = "standard input";

/// Bytes that are kept: the rows that are looked at, unless they are very long.
const HEAD: u64 = 1 << 18;

/// Whether a path stands for it.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Its beginning, read at the first call. What cannot be read is an error of the reading.
fn head() -> &'static [u8] {
    static KEPT: OnceLock<Vec<u8>> = OnceLock::new();
    KEPT.get_or_init(|| {
        let mut head = Vec::new();
        _ = io::stdin().lock().take(HEAD).read_to_end(&mut head);
        head
    })
}

/// All of it.
pub(crate) fn text() -> impl Read + Send {
    Cursor::new(head()).chain(io::stdin())
}

/// The rows that its beginning has as a whole.
pub(crate) fn first_rows() -> MemoryTable {
    let head = head();
    let end = match head.iter().rposition(|byte| *byte == b'\n') {
        Some(end) if head.len() as u64 == HEAD => end + 1,
        _ => head.len(),
    };
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let is_json = text.trim_ascii_start().starts_with(b"[") || text.trim_ascii_start().starts_with(b"{");
    let format = FileFormat::of(if is_json { "rows.json" } else { "rows.csv" });
    MemoryTable::new(NAME, format, head[..end].to_vec())
}
